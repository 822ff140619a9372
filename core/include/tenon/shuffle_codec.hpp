/// @file shuffle_codec.hpp
/// How records travel over one shuffle.
#pragma once

#include <concepts>
#include <type_traits>

#include "tenon/codec.hpp"
#include "tenon/detail/checks.hpp"

namespace tenon {

/// How the keys and values of a shuffle are written where the program says nothing: each by the
/// tenon::Codec of its type. A program's own is a class with the same two static functions, for the
/// types that it is used with: `partition_by(8, Compact{})`. It has no state, and reads what it
/// wrote, in every process.
/// @code struct Compact { static void write(tenon::ByteWriter& out, int value) { out.size(...); }
///   template <class T> static T read(tenon::ByteReader& in) { return T(in.size()); } };
/// @endcode
struct TypeCodec {
  template <class T>
  static void write(ByteWriter& out, const T& value) {
    Codec<T>::write(out, value);
  }
  template <class T>
  static T read(ByteReader& in) {
    return Codec<T>::read(in);
  }
};

/// C can write and read a T.
template <class C, class T>
concept ShuffleCodecOf = requires(ByteWriter& out, ByteReader& in, const T& value) {
  C::write(out, value);
  { C::template read<T>(in) } -> std::convertible_to<T>;
};

namespace detail {

/// Keys of K and values of V can cross a shuffle by the codec C.
template <class C, class K, class V>
constexpr bool check_crosses() {
  if constexpr (std::is_same_v<C, TypeCodec>) {
    return check_value<V>();
  } else {
    constexpr bool codes = ShuffleCodecOf<C, K> && ShuffleCodecOf<C, V>;
    static_assert(codes,
                  "a shuffle's codec needs static void write(ByteWriter&, const T&) and template "
                  "<class T> static T read(ByteReader&), for the key type and for the type of what "
                  "crosses the shuffle with it");
    return codes;
  }
}

}  // namespace detail
}  // namespace tenon
