# Third-party packages; docs/dependencies.md says why each one. Nothing here may appear in an installed header.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS filesystem system)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tomlplusplus REQUIRED)
pkg_check_modules(zmq REQUIRED IMPORTED_TARGET libzmq)
# zmq.h needs none of the include folders that libzmq.pc lists for static linking, and CMake gives them in another order when it
# configures again, which would compile everything again.
set_target_properties(PkgConfig::zmq PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "" INTERFACE_COMPILE_OPTIONS "")
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
find_package(simdjson REQUIRED)
# libcsv comes without a file for pkg-config or CMake.
find_path(TENON_CSV_INCLUDE csv.h REQUIRED)
find_library(TENON_CSV_LIBRARY csv REQUIRED)
add_library(tenon_csv UNKNOWN IMPORTED)
set_target_properties(tenon_csv PROPERTIES IMPORTED_LOCATION "${TENON_CSV_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${TENON_CSV_INCLUDE}")

add_library(tenon_msgpack INTERFACE)
target_compile_definitions(tenon_msgpack INTERFACE MSGPACK_NO_BOOST)
