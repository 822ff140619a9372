/// @file json.hpp
/// The records of Context::json_lines().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/codec.hpp"
#include "tenon/detail/hash.hpp"
#include "tenon/detail/record_file.hpp"
#include "tenon/detail/type_text.hpp"
#include "tenon/export.hpp"

namespace tenon {

/// A JSON value: its text, which is read when something is asked of it. Where a value lies is said
/// by the key of a member of the value's object, as "user", or by a JSON pointer (RFC 6901), as
/// "/user/tags/0"; "" is the whole. Of members with the same key the first one counts. What its
/// functions throw names the file, the line and the key.
class TENON_API JsonRecord {
 public:
  /// null.
  JsonRecord() : text_("null") {}
  /// A value of the program's own. @throws Error (invalid_argument) when the text is no JSON value
  explicit JsonRecord(std::string text);

  /// Its JSON text.
  [[nodiscard]] const std::string& text() const { return text_; }

  /// The value there: a number, bool or std::string.
  /// @throws Error (input_output) when there is none, it is null or no T, or out of T's range
  template <class T>
  [[nodiscard]] T get(std::string_view where) const {
    auto value = find<T>(where);
    if (!value) throw_absent(where, detail::type_text<T>());
    return std::move(*value);
  }
  /// The same, and nothing when there is none or it is null.
  /// @throws Error (input_output) when it is no T, or out of T's range
  template <class T>
  [[nodiscard]] std::optional<T> find(std::string_view where) const;
  /// Whether there is a value, be it null.
  [[nodiscard]] bool has(std::string_view where) const;

  /// The value there, of any kind; numbers in it may be written in another way.
  /// @throws Error (input_output) when there is none
  [[nodiscard]] JsonRecord at(std::string_view where) const;
  /// The elements of the array there. @throws Error (input_output) when there is none
  [[nodiscard]] std::vector<JsonRecord> elements(std::string_view where) const;
  /// The keys of the object there, in order. @throws Error (input_output) when there is none
  [[nodiscard]] std::vector<std::string> keys(std::string_view where = {}) const;

  /// The same text.
  friend bool operator==(const JsonRecord& a, const JsonRecord& b) { return a.text_ == b.text_; }

  /// For core: a text that is known to be a value.
  JsonRecord(std::string text, detail::RecordPlace place)
      : text_(std::move(text)), place_(std::move(place)) {}
  [[nodiscard]] const detail::RecordPlace& place() const { return place_; }
  [[nodiscard]] uint64_t heap_bytes() const { return text_.capacity(); }

 private:
  using TypeName = std::string (*)();
  template <class As, class T>
  bool read_as(std::string_view where, T& value, TypeName wanted) const;
  // False: there is none, or null. Throws when it is of another kind than wanted.
  bool read(std::string_view where, bool& value, TypeName wanted) const;
  bool read(std::string_view where, int64_t& value, TypeName wanted) const;
  bool read(std::string_view where, uint64_t& value, TypeName wanted) const;
  bool read(std::string_view where, double& value, TypeName wanted) const;
  bool read(std::string_view where, std::string& value, TypeName wanted) const;
  [[noreturn]] void throw_absent(std::string_view where, const std::string& wanted) const;
  [[noreturn]] void throw_other(std::string_view where, const std::string& wanted) const;

  std::string text_;
  detail::RecordPlace place_;
};

template <>
struct Codec<JsonRecord> {
  static void write(ByteWriter& out, const JsonRecord& record) {
    detail::write_place(out, record.place());
    out.text(record.text());
  }
  static JsonRecord read(ByteReader& in) {
    detail::RecordPlace place = detail::read_place(in);
    return {std::string(in.text()), std::move(place)};
  }
};

template <>
struct Hash<JsonRecord> {
  static uint64_t of(const JsonRecord& record) { return hash_bytes(record.text()); }
};

template <class T>
std::optional<T> JsonRecord::find(std::string_view where) const {
  static_assert(
      (std::is_arithmetic_v<T> && !std::is_same_v<T, char>) || std::is_same_v<T, std::string>,
      "JsonRecord: T must be a number, bool or std::string; see also at(), elements() and "
      "keys()");
  constexpr TypeName kWanted = &detail::type_text<T>;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t> value{};
    if (!read(where, value, kWanted)) return std::nullopt;
    if (!std::in_range<T>(value)) throw_other(where, kWanted());
    return static_cast<T>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    double value{};
    if (!read(where, value, kWanted)) return std::nullopt;
    return static_cast<T>(value);
  } else {
    T value{};
    if (!read(where, value, kWanted)) return std::nullopt;
    return value;
  }
}

}  // namespace tenon
