/// @file bytes.hpp
/// Writing and reading of encoded records: bounds-checked, little-endian. Not for programs.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "tenon/export.hpp"

namespace tenon {

/// Appends encoded values to a string.
class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  void raw(const void* data, size_t size) { out_.append(static_cast<const char*>(data), size); }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void fixed(const T& value) {
    raw(&value, sizeof value);
  }
  /// A length or count: 7 bits a byte, low ones first.
  void size(uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    out_.push_back(static_cast<char>(value));
  }
  void text(std::string_view value) {
    size(value.size());
    out_.append(value);
  }
  [[nodiscard]] std::string& out() { return out_; }

 private:
  std::string& out_;
};

/// Reads encoded values. Whatever the bytes, it reads nothing beyond them: too few are a
/// tenon::Error (codec).
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - at_); }

  /// The next bytes, where they lie.
  std::string_view raw(uint64_t size) {
    if (size > left()) throw_short(size);
    const std::string_view bytes(at_, static_cast<size_t>(size));
    at_ += size;
    return bytes;
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  T fixed() {
    T value;
    std::memcpy(&value, raw(sizeof value).data(), sizeof value);
    return value;
  }
  uint64_t size() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(*raw(1).data());
      if (shift == 63 && byte > 1) break;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw_bad_size();
  }
  /// A byte that is 0 or 1.
  bool flag() {
    const auto byte = fixed<uint8_t>();
    if (byte > 1) throw_bad_flag(byte);
    return byte != 0;
  }
  /// A count of elements; one that cannot be true for the bytes that are left is refused before
  /// anything is allocated.
  uint64_t count(size_t least_bytes_each) {
    const uint64_t n = size();
    if (least_bytes_each != 0 && n > left() / least_bytes_each) throw_short(n * least_bytes_each);
    return n;
  }
  std::string_view text() { return raw(size()); }

 private:
  [[noreturn]] TENON_API void throw_short(uint64_t wanted) const;
  [[noreturn]] TENON_API static void throw_bad_size();
  [[noreturn]] TENON_API static void throw_bad_flag(unsigned byte);

  const char* at_;
  const char* end_;
};

}  // namespace tenon
