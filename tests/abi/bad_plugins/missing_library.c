/* A library that a plugin was linked with. */
#include "tenon/plugin/abi.h"

TENON_EXPORT int tenon_test_function_of_missing_library(void);
int tenon_test_function_of_missing_library(void) { return 0; }
