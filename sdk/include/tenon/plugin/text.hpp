// Text of the ABI as std::string_view and back, and the arguments of a master URL.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tenon/plugin/abi.h"

namespace tenon::plugin {

[[nodiscard]] constexpr std::string_view view(tenon_str text) noexcept {
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
}

// Borrows: the characters stay the caller's.
[[nodiscard]] constexpr tenon_str str(std::string_view text) noexcept {
  return {text.data(), text.size()};
}

[[nodiscard]] inline std::span<const std::byte> view(tenon_bytes bytes) noexcept {
  if (bytes.data == nullptr) return {};
  return {static_cast<const std::byte*>(bytes.data), bytes.size};
}

// A struct of the ABI, all zero but its size.
template <class T>
[[nodiscard]] constexpr T make() noexcept {
  T value{};
  value.struct_size = sizeof(T);
  return value;
}

// Without blanks and tabs at both ends.
[[nodiscard]] constexpr std::string_view trim(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The parts of a comma list, trimmed; an empty text has none, "a,," has three.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (trim(text).empty()) return parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(trim(text.substr(begin, end - begin)));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}
[[nodiscard]] inline std::vector<std::string_view> arguments(tenon_str args) {
  return split(view(args), ',');
}

// A whole number in decimal digits and nothing else; none also when it does not fit.
[[nodiscard]] inline std::optional<uint32_t> whole_number(std::string_view text) noexcept {
  uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace tenon::plugin
