# How every target of the project is compiled. Plugins built outside the tree use TenonPlugin.cmake alone.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)  # a new libtenon.so does not relink what uses it

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

find_program(TENON_CCACHE ccache)
if(TENON_CCACHE)
  # The base folder and the prefix map make a clone in another folder hit the same entries, its precompiled headers included.
  set(tenon_launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=5G
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${TENON_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${tenon_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${tenon_launcher})
endif()
find_program(TENON_MOLD mold)
if(TENON_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
add_link_options(-Wl,--build-id=sha1)

add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # clang writes absolute paths into a precompiled header, so ccache could not share it, nor what was compiled with it.
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
else()
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()
if(TENON_SANITIZE)
  add_compile_options("-fsanitize=${TENON_SANITIZE}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options("-fsanitize=${TENON_SANITIZE}")
endif()

# Warnings for our own targets; third-party headers come in as SYSTEM.
add_library(tenon_warnings INTERFACE)
target_compile_options(tenon_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<COMPILE_LANGUAGE:CXX>>:-Wno-interference-size;-Wno-restrict;-Wno-stringop-overflow>"  # GCC 105651
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>)  # libstdc++ 12 inside std::stable_sort

# tenon_define_path(NAME value SOURCES...): defines NAME as a string for those sources that use it, and for no other, because a
# path in the flags keeps ccache from sharing an object between two clones. A source that begins to use it needs a new configure.
function(tenon_define_path name value)
  set(used_in_header FALSE)
  foreach(file IN LISTS ARGN)
    file(STRINGS "${file}" uses REGEX "${name}" LIMIT_COUNT 1)
    if(uses AND file MATCHES "[.]hpp$")
      set(used_in_header TRUE)
    elseif(uses)
      set_property(SOURCE "${file}" APPEND PROPERTY COMPILE_DEFINITIONS "${name}=\"${value}\"")
    endif()
  endforeach()
  if(used_in_header)
    list(FILTER ARGN INCLUDE REGEX "[.]cpp$")
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS "${name}=\"${value}\"")
  endif()
endfunction()
