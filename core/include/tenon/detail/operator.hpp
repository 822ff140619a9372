/// @file operator.hpp
/// The code of one step of a pipeline, as it travels: an id and the bytes bound to it.
#pragma once

#include <cstdint>
#include <string>

namespace tenon::detail {

/// Names an operator class that every process of the program registered before main(), and the
/// state it is made from.
struct Operator {
  uint64_t id = 0;
  std::string bytes;
  friend bool operator==(const Operator&, const Operator&) = default;
};

}  // namespace tenon::detail
