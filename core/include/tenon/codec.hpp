/// @file codec.hpp tenon::Codec<T>: how values of T travel: records, bound values, results. Knows
///   the usual types of the standard library; a class of the program's gets one by TENON_FIELDS, or
///   by a specialisation.
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

/// In a class: the members that travel, all of them, in this order. The class must be
/// default-constructible. `struct User { std::string name; int age = 0; TENON_FIELDS(name, age) };`
#define TENON_FIELDS(...)                                     \
  auto tenon_fields() { return std::tie(__VA_ARGS__); }       \
  auto tenon_fields() const { return std::tie(__VA_ARGS__); } \
  static constexpr std::string_view tenon_field_names() { return #__VA_ARGS__; }

namespace tenon {

/// Encodes a T with `static void write(ByteWriter&, const T&)` and decodes it with `static T
/// read(ByteReader&)`, which throws tenon::Error (codec) on bytes that are no T and reads exactly
/// what write wrote. A specialisation for a class of the program's:
/// @code template <> struct tenon::Codec<Money> { static void write(tenon::ByteWriter& out, const
///   Money& m) { out.fixed(m.cents()); } static Money read(tenon::ByteReader& in) { return
///   Money(in.fixed<int64_t>()); } };
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
/// The bytes of a T are those that its Codec writes: not so for a plain class whose Codec is the
/// program's own.
template <class T>
concept PlainCodec = is_plain_v<T> && requires { Codec<T>::kPlain; };

[[noreturn]] TENON_API void throw_left_over(size_t bytes);
[[noreturn]] TENON_API void throw_bad_index(uint64_t index, size_t alternatives);
[[noreturn]] TENON_API void throw_bad_count(uint64_t count);

template <class Fields>
struct AllEncodable;
template <class... Ts>
struct AllEncodable<std::tuple<Ts...>>
    : std::bool_constant<(Encodable<std::remove_cvref_t<Ts>> && ...)> {};

/// Calls read n times. Elements may well be of no bytes at all, but a count that only such could
/// reach is no count.
template <class Read>
void read_elements(ByteReader& in, uint64_t n, const Read& read) {
  constexpr uint64_t kMostWithoutBytes = uint64_t{1} << 28;
  for (uint64_t i = 0; i < n; ++i) {
    const size_t before = in.left();
    read();
    if (in.left() == before && n - i > kMostWithoutBytes) throw_bad_count(n);
  }
}
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

/// Numbers, enums, durations, and aggregates of nothing but these that have no Codec of their own.
template <class T>
struct Codec<T, std::enable_if_t<detail::is_plain_v<T>>> {
  static constexpr bool kPlain = true;
  static void write(ByteWriter& out, const T& value) { out.fixed(value); }
  static T read(ByteReader& in) { return in.fixed<T>(); }
};

/// A small aggregate of numbers in which a class has a Codec of its own.
template <class T>
struct Codec<T, std::enable_if_t<detail::is_memberwise_v<T>>> {
  static void write(ByteWriter& out, const T& value) {
    detail::visit_members(
        value, [&]<class... Ms>(const Ms&... member) { (Codec<Ms>::write(out, member), ...); });
  }
  static T read(ByteReader& in) {
    return read(in, decltype(detail::field_types(std::declval<T&>())){});
  }

 private:
  template <class... Ms>
  static T read(ByteReader& in, std::tuple<Ms...>*) {
    return T{Codec<std::remove_cvref_t<Ms>>::read(in)...};  // braces: left to right
  }
};

template <>
struct Codec<bool> {
  static void write(ByteWriter& out, bool value) { out.fixed(static_cast<uint8_t>(value)); }
  static bool read(ByteReader& in) { return in.flag(); }
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
    if constexpr (check()) {
      std::apply(
          [&](const auto&... field) {
            (Codec<std::remove_cvref_t<decltype(field)>>::write(out, field), ...);
          },
          value.tenon_fields());
    }
  }
  static T read(ByteReader& in) {
    T value{};
    if constexpr (check()) {
      std::apply(
          [&](auto&... field) {
            ((field = Codec<std::remove_cvref_t<decltype(field)>>::read(in)), ...);
          },
          value.tenon_fields());
    }
    return value;
  }

 private:
  static constexpr bool check() {
    constexpr bool all =
        detail::AllEncodable<decltype(std::declval<const T&>().tenon_fields())>::value;
    static_assert(all,
                  "TENON_FIELDS: each member needs a tenon::Codec of its own: no pointers, "
                  "references, string_view or span");
    return all;
  }
};

// ------------------------------------------------------------------------------- products and sums

template <class A, class B>
struct Codec<std::pair<A, B>, std::enable_if_t<Encodable<A> && Encodable<B>>> {
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
struct Codec<std::tuple<Ts...>, std::enable_if_t<(Encodable<Ts> && ...)>> {
  static void write([[maybe_unused]] ByteWriter& out, const std::tuple<Ts...>& value) {
    std::apply([&](const Ts&... element) { (Codec<Ts>::write(out, element), ...); }, value);
  }
  static std::tuple<Ts...> read([[maybe_unused]] ByteReader& in) {
    return std::tuple<Ts...>{Codec<Ts>::read(in)...};  // braces: left to right
  }
};

template <class T, size_t N>
struct Codec<std::array<T, N>,
             std::enable_if_t<!detail::is_plain_v<std::array<T, N>> && Encodable<T>>> {
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
struct Codec<std::optional<T>, std::enable_if_t<Encodable<T>>> {
  static void write(ByteWriter& out, const std::optional<T>& value) {
    out.fixed(static_cast<uint8_t>(value.has_value()));
    if (value) Codec<T>::write(out, *value);
  }
  static std::optional<T> read(ByteReader& in) {
    if (!in.flag()) return std::nullopt;
    return Codec<T>::read(in);
  }
};

template <class T>
struct Codec<std::unique_ptr<T>, std::enable_if_t<Encodable<T>>> {
  static void write(ByteWriter& out, const std::unique_ptr<T>& value) {
    out.fixed(static_cast<uint8_t>(value != nullptr));
    if (value) Codec<T>::write(out, *value);
  }
  static std::unique_ptr<T> read(ByteReader& in) {
    if (!in.flag()) return nullptr;
    return std::make_unique<T>(Codec<T>::read(in));
  }
};

template <class... Ts>
struct Codec<std::variant<Ts...>, std::enable_if_t<(Encodable<Ts> && ...)>> {
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
struct Codec<std::vector<T>, std::enable_if_t<Encodable<T>>> {
  static void write(ByteWriter& out, const std::vector<T>& value) {
    out.size(value.size());
    if constexpr (detail::PlainCodec<T>) {
      out.raw(value.data(), value.size() * sizeof(T));
    } else {
      for (const auto& element : value) Codec<T>::write(out, element);
    }
  }
  static std::vector<T> read(ByteReader& in) {
    std::vector<T> value;
    if constexpr (detail::PlainCodec<T>) {
      const uint64_t n = in.count(sizeof(T));
      value.resize(n);
      if (n != 0) std::memcpy(value.data(), in.raw(n * sizeof(T)).data(), n * sizeof(T));
    } else {
      const uint64_t n = in.size();
      value.reserve(std::min<uint64_t>(n, in.left()));
      detail::read_elements(in, n, [&] { value.push_back(Codec<T>::read(in)); });
    }
    return value;
  }
};

namespace detail {

// Sets and maps: a count, then the elements in the container's order.
template <class Container, class Element>
struct SetCodec {
  static void write(ByteWriter& out, const Container& value) {
    out.size(value.size());
    for (const auto& element : value) Codec<Element>::write(out, element);
  }
  static Container read(ByteReader& in) {
    Container value;
    read_elements(in, in.size(), [&] { value.insert(value.end(), Codec<Element>::read(in)); });
    return value;
  }
};
template <class Container, class K, class V>
struct MapCodec {
  static void write(ByteWriter& out, const Container& value) {
    out.size(value.size());
    for (const auto& [key, mapped] : value) {
      Codec<K>::write(out, key);
      Codec<V>::write(out, mapped);
    }
  }
  static Container read(ByteReader& in) {
    Container value;
    read_elements(in, in.size(), [&] {
      K key = Codec<K>::read(in);
      value.emplace_hint(value.end(), std::move(key), Codec<V>::read(in));
    });
    return value;
  }
};

}  // namespace detail

template <class K, class C, class A>
struct Codec<std::set<K, C, A>, std::enable_if_t<Encodable<K>>>
    : detail::SetCodec<std::set<K, C, A>, K> {};
template <class K, class H, class E, class A>
struct Codec<std::unordered_set<K, H, E, A>, std::enable_if_t<Encodable<K>>>
    : detail::SetCodec<std::unordered_set<K, H, E, A>, K> {};
template <class K, class V, class C, class A>
struct Codec<std::map<K, V, C, A>, std::enable_if_t<Encodable<K> && Encodable<V>>>
    : detail::MapCodec<std::map<K, V, C, A>, K, V> {};
template <class K, class V, class H, class E, class A>
struct Codec<std::unordered_map<K, V, H, E, A>, std::enable_if_t<Encodable<K> && Encodable<V>>>
    : detail::MapCodec<std::unordered_map<K, V, H, E, A>, K, V> {};

}  // namespace tenon
