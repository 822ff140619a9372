// Names of types as people write them.
#pragma once

#include <string>

namespace tenon {

// "std::runtime_error" of the name that type_info gives; that name itself where there is no other.
std::string demangle(const char* mangled);

}  // namespace tenon
