/// @file hash.hpp The hash of keys: the same in every process of a program, which std::hash does
///   not promise. Not for programs.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/detail/fields.hpp"
#include "tenon/export.hpp"

namespace tenon {

/// XXH3 (64 bits, seed 0) of the bytes.
TENON_API uint64_t hash_bytes(std::string_view bytes) noexcept;

/// The hash of a key, for shuffles. Specialise it for a key class of your own: `template <> struct
/// tenon::Hash<Point> { static uint64_t of(const Point& p); };`. A class with TENON_FIELDS whose
/// members have a hash has one by itself. Equal keys must have equal hashes, in every process.
template <class T, class = void>
struct Hash;

namespace detail {

// Thomas Wang / Murmur3's finaliser: each input bit reaches each output bit.
constexpr uint64_t mix(uint64_t x) noexcept {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33;
  return x;
}
constexpr uint64_t combine(uint64_t seed, uint64_t hash) noexcept {
  return mix(seed * 0x9e3779b97f4a7c15ULL + hash);
}

}  // namespace detail

/// T can be a key as far as hashing goes.
template <class T>
concept Hashable = requires(const T& value) {
  { Hash<T>::of(value) } -> std::same_as<uint64_t>;
};

namespace detail {
/// tenon::Hash for the containers of the standard library.
template <class K>
struct KeyHash {
  size_t operator()(const K& key) const { return Hash<K>::of(key); }
};
}  // namespace detail

template <class T>
struct Hash<T, std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>>> {
  static uint64_t of(T value) noexcept { return detail::mix(static_cast<uint64_t>(value)); }
};
template <class T>
struct Hash<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static uint64_t of(T value) noexcept {
    if (value == T{0}) value = T{0};  // -0.0 == 0.0
    return hash_bytes(
        {reinterpret_cast<const char*>(&value), sizeof(double) < sizeof(T) ? 10 : sizeof(T)});
  }
};
template <>
struct Hash<std::string_view> {
  static uint64_t of(std::string_view value) noexcept { return hash_bytes(value); }
};
template <>
struct Hash<std::string> {
  static uint64_t of(std::string_view value) noexcept { return hash_bytes(value); }
};
template <class A, class B>
struct Hash<std::pair<A, B>, std::enable_if_t<Hashable<A> && Hashable<B>>> {
  static uint64_t of(const std::pair<A, B>& value) {
    return detail::combine(Hash<A>::of(value.first), Hash<B>::of(value.second));
  }
};
template <class... Ts>
struct Hash<std::tuple<Ts...>, std::enable_if_t<(Hashable<Ts> && ...)>> {
  static uint64_t of(const std::tuple<Ts...>& value) {
    uint64_t hash = sizeof...(Ts);
    std::apply(
        [&](const Ts&... part) { ((hash = detail::combine(hash, Hash<Ts>::of(part))), ...); },
        value);
    return hash;
  }
};
template <class T>
struct Hash<std::vector<T>, std::enable_if_t<Hashable<T>>> {
  static uint64_t of(const std::vector<T>& value) {
    uint64_t hash = value.size();
    for (const auto& part : value) hash = detail::combine(hash, Hash<T>::of(part));
    return hash;
  }
};
template <class T, size_t N>
struct Hash<std::array<T, N>, std::enable_if_t<Hashable<T>>> {
  static uint64_t of(const std::array<T, N>& value) {
    uint64_t hash = N;
    for (const auto& part : value) hash = detail::combine(hash, Hash<T>::of(part));
    return hash;
  }
};
template <class T>
struct Hash<std::optional<T>, std::enable_if_t<Hashable<T>>> {
  static uint64_t of(const std::optional<T>& value) {
    return value ? detail::combine(1, Hash<T>::of(*value)) : 0;
  }
};
namespace detail {
template <class Fields>
struct AllHashable;
template <class... Ts>
struct AllHashable<std::tuple<Ts...>>
    : std::bool_constant<(Hashable<std::remove_cvref_t<Ts>> && ...)> {};
}  // namespace detail

template <class T>
struct Hash<T, std::enable_if_t<detail::HasFields<T>>> {
  static uint64_t of(const T& value) {
    constexpr bool all = detail::AllHashable<decltype(value.tenon_fields())>::value;
    static_assert(
        all,
        "the key type needs a tenon::Hash for each member in TENON_FIELDS: specialise tenon::Hash");
    uint64_t hash = 1;
    if constexpr (all) {
      std::apply(
          [&](const auto&... field) {
            ((hash = detail::combine(hash, Hash<std::remove_cvref_t<decltype(field)>>::of(field))),
             ...);
          },
          value.tenon_fields());
    }
    return hash;
  }
};

}  // namespace tenon
