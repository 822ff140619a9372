add_dependencies(unit_plugin tenon_bad_plugins)
tenon_define_path(TENON_BAD_PLUGINS "${CMAKE_BINARY_DIR}/tests/plugins" ${sources})
