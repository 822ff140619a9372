add_dependencies(unit_plugin tenon_bad_plugins)
target_compile_definitions(unit_plugin PRIVATE TENON_BAD_PLUGINS="${CMAKE_BINARY_DIR}/tests/plugins")
