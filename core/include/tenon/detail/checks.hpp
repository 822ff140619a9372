/// @file checks.hpp
/// What operations ask of the types they are given, a line for each that will not do. Not for
/// programs.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "tenon/codec.hpp"
#include "tenon/detail/hash.hpp"
#include "tenon/function.hpp"

namespace tenon::detail {

// Checks of the types at a shuffle, one line each.
template <class K>
constexpr bool check_key_travels() {
  static_assert(Encodable<K>,
                "the key type needs a tenon::Codec: add TENON_FIELDS(members...) to the class, or "
                "specialise tenon::Codec; views other "
                "than std::string_view cannot cross a shuffle");
  return Encodable<K>;
}
template <class K>
constexpr bool check_key() {
  static_assert(Hashable<K> || !Encodable<K>,
                "the key type needs a tenon::Hash: add TENON_FIELDS(members...) to the class, or "
                "specialise tenon::Hash");
  static_assert(std::equality_comparable<K> || !Encodable<K>, "the key type needs operator==");
  return check_key_travels<K>() && Hashable<K> && std::equality_comparable<K>;
}
template <class V>
constexpr bool check_value() {
  static_assert(Encodable<V>,
                "the value type needs a tenon::Codec: add TENON_FIELDS(members...) to the class, "
                "or specialise tenon::Codec; views other "
                "than std::string_view cannot cross a shuffle");
  return Encodable<V>;
}

/// Each of the functions can travel.
template <class... Fs>
constexpr bool all_travel() {
  return (is_shippable_v<Fs> && ...);
}

template <class K>
concept Ordered = requires(const K& a, const K& b) {
  { a < b } -> std::convertible_to<bool>;
};

template <class T>
constexpr bool check_result() {
  static_assert(Encodable<T>,
                "the type that goes to the driver needs a tenon::Codec: add "
                "TENON_FIELDS(members...) to the class, or specialise "
                "tenon::Codec; views other than std::string_view cannot leave their stage");
  return Encodable<T>;
}

}  // namespace tenon::detail
