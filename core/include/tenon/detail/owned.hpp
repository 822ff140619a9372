/// @file owned.hpp Views within a stage, owned data beyond it: std::string_view, alone or inside a
///   pair or tuple, becomes std::string at a shuffle, a collect or a cache. Not for programs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tenon::detail {

template <class T>
struct Owned {
  using type = T;
};
template <>
struct Owned<std::string_view> {
  using type = std::string;
};
template <class A, class B>
struct Owned<std::pair<A, B>> {
  using type = std::pair<typename Owned<A>::type, typename Owned<B>::type>;
};
template <class... Ts>
struct Owned<std::tuple<Ts...>> {
  using type = std::tuple<typename Owned<Ts>::type...>;
};
/// T, with std::string where T has a std::string_view.
template <class T>
using owned_t = typename Owned<std::remove_cvref_t<T>>::type;

template <class T>
constexpr bool is_owned_v = std::is_same_v<owned_t<T>, std::remove_cvref_t<T>>;

/// Copies what is a view, moves what can be moved.
template <class T>
owned_t<T> to_owned(T&& value) {
  using U = std::remove_cvref_t<T>;
  if constexpr (is_owned_v<U>) {
    return std::forward<T>(value);
  } else if constexpr (std::is_same_v<U, std::string_view>) {
    return std::string(value);
  } else {
    return std::apply(
        [](auto&&... part) { return owned_t<U>(to_owned(std::forward<decltype(part)>(part))...); },
        std::forward<T>(value));
  }
}

template <class T, size_t... I>
T view_parts(const owned_t<T>& value, std::index_sequence<I...>);

/// A T that looks into the owned value: views into its strings, copies of the rest.
template <class T>
T view_of(const owned_t<T>& value) {
  if constexpr (is_owned_v<T>) {
    return value;
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return value;
  } else {
    return view_parts<T>(value, std::make_index_sequence<std::tuple_size_v<T>>{});
  }
}
template <class T, size_t... I>
T view_parts(const owned_t<T>& value, std::index_sequence<I...>) {
  return T(view_of<std::tuple_element_t<I, T>>(std::get<I>(value))...);
}

}  // namespace tenon::detail
