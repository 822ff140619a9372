/// @file codec.hpp
/// tenon::Codec<T>: how values of T travel: records, bound values, results. Knows the usual types of the standard library;
/// a class of the program's gets one by TENON_FIELDS, or by a specialisation.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/detail/bytes.hpp"
#include "tenon/detail/fields.hpp"

/// In a class: the members that travel, all of them, in this order. The class must be default-constructible.
/// `struct User { std::string name; int age = 0; TENON_FIELDS(name, age) };`
#define TENON_FIELDS(...)                                                     \
  auto tenon_fields() { return std::tie(__VA_ARGS__); }                       \
  auto tenon_fields() const { return std::tie(__VA_ARGS__); }                 \
  static constexpr std::string_view tenon_field_names() { return #__VA_ARGS__; }

namespace tenon {

/// Encodes a T with `static void write(ByteWriter&, const T&)` and decodes it with `static T read(ByteReader&)`, which throws
/// tenon::Error (codec) on bytes that are no T and reads exactly what write wrote. A specialisation for a class of the program's:
/// @code
/// template <> struct tenon::Codec<Money> {
///   static void write(tenon::ByteWriter& out, const Money& m) { out.fixed(m.cents()); }
///   static Money read(tenon::ByteReader& in) { return Money(in.fixed<int64_t>()); }
/// };
/// @endcode
template <class T, class = void>
struct Codec;

/// T can travel.
template <class T>
concept Encodable = requires(ByteWriter& out, ByteReader& in, const T& value) {
  Codec<T>::write(out, value);
  { Codec<T>::read(in) } -> std::convertible_to<T>;
};

/// The bytes of one value.
template <Encodable T>
std::string encode(const T& value) {
  std::string bytes;
  ByteWriter out(bytes);
  Codec<T>::write(out, value);
  return bytes;
}

namespace detail {
[[noreturn]] TENON_API void throw_left_over(size_t bytes);
[[noreturn]] TENON_API void throw_bad_index(uint64_t index, size_t alternatives);
}  // namespace detail

/// The value of bytes that encode() made; bytes left over are an error (codec).
template <Encodable T>
T decode(std::string_view bytes) {
  ByteReader in(bytes);
  T value = Codec<T>::read(in);
  if (!in.at_end()) detail::throw_left_over(in.left());
  return value;
}

// ------------------------------------------------------------------------------- by memcpy

/// Numbers, enums, durations, and aggregates of nothing but these.
template <class T>
struct Codec<T, std::enable_if_t<detail::is_plain_v<T>>> {
  static void write(ByteWriter& out, const T& value) { out.fixed(value); }
  static T read(ByteReader& in) { return in.fixed<T>(); }
};

template <>
struct Codec<bool> {
  static void write(ByteWriter& out, bool value) { out.fixed(static_cast<uint8_t>(value)); }
  static bool read(ByteReader& in) { return in.fixed<uint8_t>() != 0; }
};

template <>
struct Codec<std::monostate> {
  static void write(ByteWriter&, std::monostate) {}
  static std::monostate read(ByteReader&) { return {}; }
};

// ------------------------------------------------------------------------------- text

template <>
struct Codec<std::string> {
  static void write(ByteWriter& out, std::string_view value) { out.text(value); }
  static std::string read(ByteReader& in) { return std::string(in.text()); }
};

// ------------------------------------------------------------------------------- TENON_FIELDS

template <class T>
struct Codec<T, std::enable_if_t<detail::HasFields<T>>> {
  static void write(ByteWriter& out, const T& value) {
    std::apply(
        [&](const auto&... field) {
          (Codec<std::remove_cvref_t<decltype(field)>>::write(out, field), ...);
        },
        value.tenon_fields());
  }
  static T read(ByteReader& in) {
    T value{};
    std::apply(
        [&](auto&... field) {
          ((field = Codec<std::remove_cvref_t<decltype(field)>>::read(in)), ...);
        },
        value.tenon_fields());
    return value;
  }
};

// ------------------------------------------------------------------------------- products and sums

template <class A, class B>
struct Codec<std::pair<A, B>, std::enable_if_t<!detail::is_plain_v<std::pair<A, B>>>> {
  static void write(ByteWriter& out, const std::pair<A, B>& value) {
    Codec<A>::write(out, value.first);
    Codec<B>::write(out, value.second);
  }
  static std::pair<A, B> read(ByteReader& in) {
    A first = Codec<A>::read(in);
    return {std::move(first), Codec<B>::read(in)};
  }
};

template <class... Ts>
struct Codec<std::tuple<Ts...>> {
  static void write(ByteWriter& out, const std::tuple<Ts...>& value) {
    std::apply([&](const Ts&... element) { (Codec<Ts>::write(out, element), ...); }, value);
  }
  static std::tuple<Ts...> read(ByteReader& in) {
    return std::tuple<Ts...>{Codec<Ts>::read(in)...};  // braces: left to right
  }
};

template <class T, size_t N>
struct Codec<std::array<T, N>, std::enable_if_t<!detail::is_plain_v<std::array<T, N>>>> {
  static void write(ByteWriter& out, const std::array<T, N>& value) {
    for (const T& element : value) Codec<T>::write(out, element);
  }
  static std::array<T, N> read(ByteReader& in) {
    std::array<T, N> value;
    for (T& element : value) element = Codec<T>::read(in);
    return value;
  }
};

template <class T>
struct Codec<std::optional<T>> {
  static void write(ByteWriter& out, const std::optional<T>& value) {
    out.fixed(static_cast<uint8_t>(value.has_value()));
    if (value) Codec<T>::write(out, *value);
  }
  static std::optional<T> read(ByteReader& in) {
    if (in.fixed<uint8_t>() == 0) return std::nullopt;
    return Codec<T>::read(in);
  }
};

template <class T>
struct Codec<std::unique_ptr<T>> {
  static void write(ByteWriter& out, const std::unique_ptr<T>& value) {
    out.fixed(static_cast<uint8_t>(value != nullptr));
    if (value) Codec<T>::write(out, *value);
  }
  static std::unique_ptr<T> read(ByteReader& in) {
    if (in.fixed<uint8_t>() == 0) return nullptr;
    return std::make_unique<T>(Codec<T>::read(in));
  }
};

template <class... Ts>
struct Codec<std::variant<Ts...>> {
  static void write(ByteWriter& out, const std::variant<Ts...>& value) {
    out.size(value.index());
    std::visit([&]<class T>(const T& held) { Codec<T>::write(out, held); }, value);
  }
  static std::variant<Ts...> read(ByteReader& in) {
    const uint64_t index = in.size();
    if (index >= sizeof...(Ts)) detail::throw_bad_index(index, sizeof...(Ts));
    return read_at<0>(in, index);
  }

 private:
  template <size_t I>
  static std::variant<Ts...> read_at(ByteReader& in, uint64_t index) {
    if constexpr (I + 1 < sizeof...(Ts)) {
      if (index != I) return read_at<I + 1>(in, index);
    }
    using T = std::variant_alternative_t<I, std::variant<Ts...>>;
    return std::variant<Ts...>(std::in_place_index<I>, Codec<T>::read(in));
  }
};

// ------------------------------------------------------------------------------- containers

template <class T>
struct Codec<std::vector<T>> {
  static void write(ByteWriter& out, const std::vector<T>& value) {
    out.size(value.size());
    if constexpr (detail::is_plain_v<T>) {
      out.raw(value.data(), value.size() * sizeof(T));
    } else {
      for (const auto& element : value) Codec<T>::write(out, element);
    }
  }
  static std::vector<T> read(ByteReader& in) {
    std::vector<T> value;
    if constexpr (detail::is_plain_v<T>) {
      const uint64_t n = in.count(sizeof(T));
      value.resize(n);
      if (n != 0) std::memcpy(value.data(), in.raw(n * sizeof(T)).data(), n * sizeof(T));
    } else {
      const uint64_t n = in.size();
      value.reserve(std::min<uint64_t>(n, in.left()));
      for (uint64_t i = 0; i < n; ++i) value.push_back(Codec<T>::read(in));
    }
    return value;
  }
};

namespace detail {

// Sets and maps: a count, then the elements in the container's order.
template <class Container, class Element>
struct ContainerCodec {
  static void write(ByteWriter& out, const Container& value) {
    out.size(value.size());
    for (const auto& element : value) Codec<Element>::write(out, element);
  }
  static Container read(ByteReader& in) {
    Container value;
    const uint64_t n = in.size();
    for (uint64_t i = 0; i < n; ++i) value.insert(value.end(), Codec<Element>::read(in));
    return value;
  }
};

}  // namespace detail

template <class K, class C, class A>
struct Codec<std::set<K, C, A>> : detail::ContainerCodec<std::set<K, C, A>, K> {};
template <class K, class H, class E, class A>
struct Codec<std::unordered_set<K, H, E, A>>
    : detail::ContainerCodec<std::unordered_set<K, H, E, A>, K> {};
template <class K, class V, class C, class A>
struct Codec<std::map<K, V, C, A>>
    : detail::ContainerCodec<std::map<K, V, C, A>, std::pair<K, V>> {};
template <class K, class V, class H, class E, class A>
struct Codec<std::unordered_map<K, V, H, E, A>>
    : detail::ContainerCodec<std::unordered_map<K, V, H, E, A>, std::pair<K, V>> {};

}  // namespace tenon
