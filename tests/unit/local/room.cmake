target_sources(unit_local PRIVATE "${PROJECT_SOURCE_DIR}/plugins/local/cpu_limit.cpp")
target_include_directories(unit_local PRIVATE "${PROJECT_SOURCE_DIR}/plugins/local")
