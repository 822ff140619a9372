// Tables of functions that may be shorter than this header knows them.
#pragma once

#include <cstddef>

#include "tenon/plugin/abi.h"

namespace tenon::plugin {

// The table is large enough for the function, and the function is set: has<&tenon_host::log>(host).
template <auto kFunction, class Table>
[[nodiscard]] bool has(const Table* table) noexcept {
  const auto* const field = reinterpret_cast<const char*>(&(table->*kFunction));
  const auto end = field - reinterpret_cast<const char*>(table) + ptrdiff_t{sizeof(void*)};
  return end <= static_cast<ptrdiff_t>(table->struct_size) && table->*kFunction != nullptr;
}

}  // namespace tenon::plugin
