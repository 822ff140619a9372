// The ELF modules that are loaded in this process.
#pragma once

#include <vector>

#include "rdd/operator_registry.hpp"

namespace tenon::rdd {

// Modules that hold at least one of the addresses, each once, in load order.
[[nodiscard]] std::vector<Module> modules_of(const std::vector<const void*>& addresses);

}  // namespace tenon::rdd
