tenon_prelude(unit_api tenon/tenon.hpp)

add_library(test_plugin_several MODULE "${CMAKE_CURRENT_SOURCE_DIR}/support/plugins/several_plugin.cpp")
target_link_libraries(test_plugin_several PRIVATE tenon_sdk tenon_warnings)
set_target_properties(test_plugin_several PROPERTIES PREFIX "" OUTPUT_NAME "tenon-several"
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/plugins/several")
add_dependencies(unit_api test_plugin_several)
tenon_define_path(TENON_TEST_SEVERAL_PLUGIN "${CMAKE_BINARY_DIR}/tests/plugins/several/tenon-several.so" ${sources})
