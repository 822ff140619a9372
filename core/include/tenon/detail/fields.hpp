/// @file fields.hpp What can be seen of a type's members: TENON_FIELDS, and aggregates of plain
///   numbers. Not for programs.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tenon {
template <class T, class>
struct Codec;
}

namespace tenon::detail {

template <class T>
concept HasFields = requires(T& value, const T& constant) {
  value.tenon_fields();
  constant.tenon_fields();
  { T::tenon_field_names() } -> std::same_as<std::string_view>;
};

template <class T>
constexpr bool is_number_v =
    (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_enum_v<T>;

// Converts to any plain member, to count how many an aggregate takes.
struct AnyNumber {
  template <class T>
    requires(!std::is_pointer_v<T> && !std::is_reference_v<T>)
  constexpr operator T() const noexcept;  // NOLINT: implicit by design, never defined
};

template <class T, class... Args>
constexpr size_t count_fields() {
  if constexpr (sizeof...(Args) < 12 && requires { T{Args{}..., AnyNumber{}}; }) {
    return count_fields<T, Args..., AnyNumber>();
  } else {
    return sizeof...(Args);
  }
}

// What is asked of the members: whether they are numbers and aggregates of such, or also whether
// their bytes are what their Codecs write, which a Codec of the program's own does not say.
enum class Plain { in_form, by_codec };

template <class T, Plain kAs>
constexpr bool plain();

template <class T, Plain kAs>
constexpr bool plain_member() {
  if constexpr (kAs == Plain::in_form) {
    return plain<T, kAs>();
  } else {
    return requires { Codec<T, void>::kPlain; };
  }
}

template <Plain kAs, class... Ts>
constexpr bool all_plain(std::tuple<Ts...>*) {
  return (plain_member<std::remove_cvref_t<Ts>, kAs>() && ...);
}

// Types of the members of an aggregate, as a tuple; void when there are too many to see.
template <class T>
auto field_types(T& value) {
  constexpr size_t n = count_fields<std::remove_cv_t<T>>();
  if constexpr (n == 1) {
    auto& [a] = value;
    return static_cast<std::tuple<decltype(a)>*>(nullptr);
  } else if constexpr (n == 2) {
    auto& [a, b] = value;
    return static_cast<std::tuple<decltype(a), decltype(b)>*>(nullptr);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = value;
    return static_cast<std::tuple<decltype(a), decltype(b), decltype(c)>*>(nullptr);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = value;
    return static_cast<std::tuple<decltype(a), decltype(b), decltype(c), decltype(d)>*>(nullptr);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = value;
    return static_cast<
        std::tuple<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e)>*>(nullptr);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, f] = value;
    return static_cast<
        std::tuple<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e), decltype(f)>*>(
        nullptr);
  } else {
    return static_cast<void*>(nullptr);
  }
}

template <class T>
struct ArrayElement {
  using Type = void;
};
template <class T, size_t N>
struct ArrayElement<std::array<T, N>> {
  using Type = T;
};
template <class T>
constexpr bool is_array_v = !std::is_void_v<typename ArrayElement<T>::Type>;

template <class T>
struct IsDuration : std::false_type {};
template <class R, class P>
struct IsDuration<std::chrono::duration<R, P>> : std::true_type {};

// Converts to a base class of T only.
template <class T>
struct AnyBase {
  template <class U>
    requires(std::is_base_of_v<U, T> && !std::is_same_v<U, T>)
  constexpr operator U() const noexcept;  // NOLINT: implicit by design, never defined
};
template <class T>
constexpr bool has_base() {
  return requires { T{AnyBase<T>{}}; };
}

template <size_t>
using AnyNumberAt = AnyNumber;
// Two values in braces in the place of one member, and the others after them.
template <class T, size_t... Before, size_t... After>
constexpr bool takes_pair(std::index_sequence<Before...>, std::index_sequence<After...>) {
  return requires {
    T{AnyNumberAt<Before>{}..., {AnyNumber{}, AnyNumber{}}, AnyNumberAt<After>{}...};
  };
}
// An array member takes several of the values that count_fields() counts, so that in its place
// there is no room for the others.
template <class T, size_t At = 0>
constexpr bool has_array() {
  constexpr size_t n = count_fields<T>();
  if constexpr (At == n) {
    return false;
  } else {
    constexpr auto before = std::make_index_sequence<At>{};
    return (takes_pair<T>(before, std::index_sequence<>{}) &&
            !takes_pair<T>(before, std::make_index_sequence<n - At - 1>{})) ||
           has_array<T, At + 1>();
  }
}

// What a structured binding takes apart into as many members as were counted.
template <class T>
concept SmallAggregate =
    std::is_aggregate_v<T> && std::is_trivially_copyable_v<T> && std::is_class_v<T> &&
    !std::is_empty_v<T> && !HasFields<T> && (count_fields<T>() >= 1) && (count_fields<T>() <= 6) &&
    !has_base<T>() && !has_array<T>();

template <class T, Plain kAs>
constexpr bool plain() {
  if constexpr (is_number_v<T> || IsDuration<T>::value) {
    return true;
  } else if constexpr (is_array_v<T>) {
    return plain_member<typename ArrayElement<T>::Type, kAs>();
  } else if constexpr (SmallAggregate<T>) {
    using Types = decltype(field_types(std::declval<T&>()));
    if constexpr (std::is_same_v<Types, void*>) {
      return false;
    } else {
      return all_plain<kAs>(static_cast<Types>(nullptr));
    }
  } else {
    return false;
  }
}

/// Goes by memcpy: numbers, enums, durations, arrays and small aggregates (six members) of nothing
/// but these. What holds a pointer or a bool (which has values that are no bool) never does, nor
/// what holds a class with a Codec of its own.
template <class T>
constexpr bool is_plain_v = plain<T, Plain::by_codec>();

/// An aggregate that would go by memcpy but for a member that has a Codec of its own: it goes
/// member by member.
template <class T>
constexpr bool is_memberwise_v =
    !is_array_v<T> && SmallAggregate<T> && plain<T, Plain::in_form>() && !is_plain_v<T>;

/// Calls f with the members of a small aggregate.
template <class T, class F>
void visit_members(const T& value, const F& f) {
  constexpr size_t n = count_fields<T>();
  if constexpr (n == 1) {
    const auto& [a] = value;
    f(a);
  } else if constexpr (n == 2) {
    const auto& [a, b] = value;
    f(a, b);
  } else if constexpr (n == 3) {
    const auto& [a, b, c] = value;
    f(a, b, c);
  } else if constexpr (n == 4) {
    const auto& [a, b, c, d] = value;
    f(a, b, c, d);
  } else if constexpr (n == 5) {
    const auto& [a, b, c, d, e] = value;
    f(a, b, c, d, e);
  } else if constexpr (n == 6) {
    const auto& [a, b, c, d, e, f6] = value;
    f(a, b, c, d, e, f6);
  }
}

/// std::pair has no plain form of its own, but two plain members are written one after the other
/// anyway.
template <class A, class B>
constexpr bool is_plain_v<std::pair<A, B>> = false;

}  // namespace tenon::detail
