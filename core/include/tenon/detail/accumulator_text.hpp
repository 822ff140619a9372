/// @file accumulator_text.hpp
/// An accumulator's value for people. Not for programs.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>

namespace tenon::detail {

/// Numbers, text, what may be absent, and the first elements of a container; empty for what has no
/// text.
template <class T>
std::string accumulator_text(const T& value) {
  constexpr size_t kMostElements = 10;
  if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_convertible_v<const T&, std::string>) {
    return value;
  } else if constexpr (requires {
                         value.has_value();
                         *value;
                       }) {
    return value.has_value() ? accumulator_text(*value) : std::string();
  } else if constexpr (requires {
                         value.begin();
                         { value.size() } -> std::convertible_to<size_t>;
                       }) {
    std::string text = "[";
    size_t shown = 0;
    for (const auto& element : value) {
      if (shown == kMostElements) break;
      if (shown++ != 0) text += ", ";
      text += accumulator_text(element);
    }
    if (value.size() > shown) text += ", ... " + std::to_string(value.size()) + " in all";
    return text + "]";
  } else {
    return {};
  }
}

}  // namespace tenon::detail
