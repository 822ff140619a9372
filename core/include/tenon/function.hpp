/// @file function.hpp
/// Which functions can travel, and how. See docs/closures.md.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tenon/codec.hpp"
#include "tenon/detail/runtime.hpp"
#include "tenon/export.hpp"

namespace tenon {

/// A named function as a type of its own: `rdd.map(tenon::fn<split>)`. Inlines, and has no state to
/// send.
template <auto Function>
struct Fn {
  template <class... Args>
  constexpr decltype(auto) operator()(Args&&... args) const {
    return std::invoke(Function, std::forward<Args>(args)...);
  }
};
/// The value of type Fn<Function>.
template <auto Function>
inline constexpr Fn<Function> fn{};

namespace detail {

template <class F>
struct IsStdFunction : std::false_type {};
template <class S>
struct IsStdFunction<std::function<S>> : std::true_type {};

template <class F>
concept EmptyFunction =
    std::is_class_v<F> && std::is_empty_v<F> && std::is_default_constructible_v<F>;
template <class F>
concept PointerFunction = std::is_pointer_v<F> && std::is_function_v<std::remove_pointer_t<F>>;
template <class F>
concept EncodedFunction = std::is_class_v<F> && !EmptyFunction<F> && Encodable<F>;

/// A function of this library's that calls one of the program's, F::Inner, and has a FunctionCodec.
template <class F>
concept WrapsFunction = std::is_class_v<F> && requires { typename F::Inner; };

/// A function that can travel: a stateless lambda, a plain function, a class with a Codec; values
/// bound to it go along.
template <class F>
concept Shippable =
    EmptyFunction<F> || PointerFunction<F> || EncodedFunction<F> || WrapsFunction<F>;

/// The state of a function as bytes; its code is found by the id of the operator that it is part
/// of.
template <class F>
struct FunctionCodec {
  static void write(ByteWriter& out, const F& f) {
    if constexpr (PointerFunction<F>) {
      out.text(encode_function_pointer(reinterpret_cast<const void*>(f)));
    } else if constexpr (!EmptyFunction<F>) {
      Codec<F>::write(out, f);
    }
  }
  static F read(ByteReader& in) {
    if constexpr (PointerFunction<F>) {
      return reinterpret_cast<F>(const_cast<void*>(decode_function_pointer(in.text())));
    } else if constexpr (EmptyFunction<F>) {
      return F{};
    } else {
      return Codec<F>::read(in);
    }
  }
};

/// Of a function that has no other state than the one it wraps, as its only member `f`.
template <WrapsFunction W>
struct FunctionCodec<W> {
  static void write(ByteWriter& out, const W& wrapper) {
    FunctionCodec<typename W::Inner>::write(out, wrapper.f);
  }
  static W read(ByteReader& in) { return W{FunctionCodec<typename W::Inner>::read(in)}; }
};

/// fn plus values that follow the elements: fn(element..., values...).
template <class F, class... Values>
struct Bound {
  using Inner = F;
  [[no_unique_address]] F f;
  std::tuple<Values...> values;

  template <class... Args>
  decltype(auto) operator()(Args&&... args) const
    requires std::is_invocable_v<const F&, Args..., const Values&...>
  {
    return std::apply(
        [&](const Values&... value) -> decltype(auto) {
          return std::invoke(f, std::forward<Args>(args)..., value...);
        },
        values);
  }
};
template <class F, class... Values>
struct FunctionCodec<Bound<F, Values...>> {
  static void write(ByteWriter& out, const Bound<F, Values...>& bound) {
    FunctionCodec<F>::write(out, bound.f);
    Codec<std::tuple<Values...>>::write(out, bound.values);
  }
  static Bound<F, Values...> read(ByteReader& in) {
    F f = FunctionCodec<F>::read(in);
    return {std::move(f), Codec<std::tuple<Values...>>::read(in)};
  }
};

template <class T>
concept BindableValue = Encodable<T> && !std::is_pointer_v<T>;

/// The function itself when no values follow, else both together.
template <class F, class... Values>
auto with_values(F f, Values... values) {
  if constexpr (sizeof...(Values) == 0) {
    return f;
  } else {
    static_assert((BindableValue<Values> && ...),
                  "bound value must be owned data with a tenon::Codec (add TENON_FIELDS to its "
                  "class): no pointers, "
                  "references, string_view or span");
    if constexpr ((BindableValue<Values> && ...)) {
      return Bound<F, Values...>{std::move(f), std::tuple<Values...>(std::move(values)...)};
    } else {
      return f;
    }
  }
}

template <class F>
std::string encode_function(const F& f) {
  std::string bytes;
  ByteWriter out(bytes);
  FunctionCodec<F>::write(out, f);
  return bytes;
}

// The program's function, without what is bound to it or around it.
template <class F>
struct InnerFunction {
  using type = F;
};
template <WrapsFunction F>
struct InnerFunction<F> : InnerFunction<typename F::Inner> {};

template <class F>
constexpr bool is_shippable_v = Shippable<F> && Shippable<typename InnerFunction<F>::type>;

}  // namespace detail
}  // namespace tenon

/// Refuses functions that cannot travel, with one line that says what to do. OP: the operation's
/// name, a literal.
#define TENON_CHECK_FUNCTION(F, OP)                                                          \
  using TenonInner = typename ::tenon::detail::InnerFunction<F>::type;                       \
  static_assert(                                                                             \
      !::tenon::detail::IsStdFunction<TenonInner>::value,                                    \
      OP ": std::function hides the type that identifies the code. Pass the lambda itself"); \
  static_assert(!std::is_member_function_pointer_v<TenonInner>,                              \
                OP ": member-function pointers cannot be shipped; wrap it in a lambda");     \
  static_assert(::tenon::detail::Shippable<TenonInner> ||                                    \
                    ::tenon::detail::IsStdFunction<TenonInner>::value ||                     \
                    std::is_member_function_pointer_v<TenonInner>,                           \
                OP                                                                           \
                ": this function has captured state, which would not exist in the executor " \
                "process. Pass the values "                                                  \
                "after the function instead - " OP                                           \
                "(fn, value...) - or use a struct with TENON_FIELDS")
