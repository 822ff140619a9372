# tenon_add_plugin(NAME SOURCES file... SCHEMES scheme...): a shared object that tenon can load, with the flags that make it
# safe beside others (see docs/plugin-guide.md): hidden visibility, one exported symbol, no undefined symbols, never unmapped.
# The file is tenon-<first scheme>.so; a symlink stands for each further scheme. It links neither core nor another plugin.
set(TENON_PLUGIN_VERSION_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/tenon-plugin.map")
if(NOT TARGET tenon_all_plugins)
  add_custom_target(tenon_all_plugins)
endif()

function(tenon_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;SCHEMES")
  if(NOT arg_SOURCES OR NOT arg_SCHEMES)
    message(FATAL_ERROR "tenon_add_plugin(${name} SOURCES file... SCHEMES scheme...): both are needed")
  endif()
  list(POP_FRONT arg_SCHEMES first)
  add_library(${name} MODULE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE tenon::sdk)
  target_compile_features(${name} PRIVATE cxx_std_20)
  set_target_properties(${name} PROPERTIES
    PREFIX "" OUTPUT_NAME "tenon-${first}"
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/tenon/plugins"
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS "${TENON_PLUGIN_VERSION_SCRIPT}")
  target_link_options(${name} PRIVATE "-Wl,--version-script=${TENON_PLUGIN_VERSION_SCRIPT}" -Wl,-z,nodelete)
  if(NOT TENON_SANITIZE)  # a sanitizer's runtime comes from the program
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
  foreach(scheme IN LISTS arg_SCHEMES)
    add_custom_command(TARGET ${name} POST_BUILD COMMAND "${CMAKE_COMMAND}" -E create_symlink
      "tenon-${first}.so" "$<TARGET_FILE_DIR:${name}>/tenon-${scheme}.so" VERBATIM)
  endforeach()
  add_dependencies(tenon_all_plugins ${name})
endfunction()
