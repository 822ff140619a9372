/// @file csv.hpp
/// The records of Context::csv_file().
#pragma once

#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/codec.hpp"
#include "tenon/detail/hash.hpp"
#include "tenon/detail/record_file.hpp"
#include "tenon/detail/type_text.hpp"
#include "tenon/export.hpp"

namespace tenon {

/// How Context::csv_file() reads: `{.delimiter = ';', .header = true}`.
struct CsvOptions {
  char delimiter = ',';  ///< between fields
  char quote = '"';      ///< around a field that holds a delimiter, a quote (doubled) or a line end
  bool header = false;   ///< the first row of each file names the fields, and is no record
  bool multi_line = false;  ///< quoted fields may hold line ends; a file is one split then
  bool ragged = false;      ///< rows may have fewer or more fields than the first one of their file
  TENON_FIELDS(delimiter, quote, header, multi_line, ragged)
};

/// A row of a CSV file: its fields as text, found by number or by the name in the file's header.
/// What its functions throw names the file and the line.
class TENON_API CsvRow {
 public:
  CsvRow() = default;
  /// A row of the program's own.
  explicit CsvRow(const std::vector<std::string>& fields, std::vector<std::string> names = {});

  /// How many fields it has.
  [[nodiscard]] size_t size() const { return ends_.size(); }
  [[nodiscard]] bool empty() const { return ends_.empty(); }
  /// The names of its file's header, in order; none without a header.
  [[nodiscard]] std::span<const std::string> names() const;

  /// The text of a field, from 0 up, without its quotes. A view into this row.
  /// @throws Error (invalid_argument) when there is none
  [[nodiscard]] std::string_view operator[](size_t field) const;
  /// The text of a named field. @throws Error (invalid_argument) when the header has no such name,
  ///   or the row has no such field
  [[nodiscard]] std::string_view operator[](std::string_view name) const {
    return (*this)[number_of(name)];
  }
  /// Whether the header has the name and the row the field.
  [[nodiscard]] bool has(std::string_view name) const;

  /// A field as a number, true or false, or text; blanks around a number are no part of it. As an
  /// optional of these it is nothing when the field is empty.
  /// @throws Error (invalid_argument) when there is no such field; (input_output) when it is no T
  template <class T>
  [[nodiscard]] T get(size_t field) const;
  template <class T>
  [[nodiscard]] T get(std::string_view name) const {
    return get<T>(number_of(name));
  }

  /// The same fields.
  friend bool operator==(const CsvRow& a, const CsvRow& b) {
    return a.text_ == b.text_ && a.ends_ == b.ends_;
  }

  /// For core: a row that is filled field by field.
  explicit CsvRow(detail::RecordPlace place) : place_(std::move(place)) {}
  void add_field(std::string_view text);
  void set_file(std::shared_ptr<const detail::RecordFile> file) { place_.file = std::move(file); }
  [[nodiscard]] const detail::RecordPlace& place() const { return place_; }
  [[nodiscard]] uint64_t heap_bytes() const {
    return text_.capacity() + ends_.capacity() * sizeof(uint32_t);
  }

 private:
  friend struct Codec<CsvRow>;
  friend struct Hash<CsvRow>;
  [[nodiscard]] size_t number_of(std::string_view name) const;
  [[noreturn]] void throw_bad_field(size_t field, const std::string& wanted) const;

  std::string text_;            // of all fields
  std::vector<uint32_t> ends_;  // of each field in it
  detail::RecordPlace place_;
};

template <>
struct TENON_API Codec<CsvRow> {
  static void write(ByteWriter& out, const CsvRow& row);
  static CsvRow read(ByteReader& in);
};

template <>
struct Hash<CsvRow> {
  static uint64_t of(const CsvRow& row) {
    return detail::combine(hash_bytes(row.text_), Hash<std::vector<uint32_t>>::of(row.ends_));
  }
};

namespace detail {
/// The value that the whole text is, blanks around it aside. False: it is none.
template <class T>
bool parse_text(std::string_view text, T& value) {
  constexpr std::string_view kBlanks = " \t";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return false;
  text = text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  if constexpr (std::is_same_v<T, bool>) {
    value = text == "true";
    return value || text == "false";
  } else {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  }
}
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
}  // namespace detail

template <class T>
T CsvRow::get(size_t field) const {
  const std::string_view text = (*this)[field];
  if constexpr (detail::IsOptional<T>::value) {
    if (text.empty()) return std::nullopt;
    return get<typename T::value_type>(field);
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
    return T(text);
  } else {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, char>,
                  "CsvRow::get: T must be a number, bool, std::string, std::string_view, or a "
                  "std::optional of these");
    T value{};
    if (!detail::parse_text(text, value)) throw_bad_field(field, detail::type_text<T>());
    return value;
  }
}

}  // namespace tenon
