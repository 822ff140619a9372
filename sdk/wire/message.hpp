// A message: the MessagePack array [type, version, fields...]. A reader takes the fields that it
// knows, in their order; those that a newer sender has appended stay unread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"

namespace tenon::wire {

// Puts a message together. Throws Error (too_large) for a text of 4 GiB or more.
class MessageWriter {
 public:
  MessageWriter(uint32_t type, uint32_t version);

  MessageWriter& number(uint64_t value);
  MessageWriter& number(uint32_t value) { return number(uint64_t{value}); }
  MessageWriter& number(int64_t value);
  MessageWriter& number(int32_t value) { return number(int64_t{value}); }
  MessageWriter& number(double value);
  MessageWriter& boolean(bool value);
  MessageWriter& text(std::string_view value);
  MessageWriter& bytes(std::string_view value);
  MessageWriter& nil();
  // One field that is an array of the next `size` values.
  MessageWriter& array(size_t size);

  // The message; the writer is used up. Throws Error (invalid_call) when an array has not got all
  // of its values.
  [[nodiscard]] std::string take();

 private:
  void count();

  uint32_t type_, version_;
  uint32_t fields_ = 0;
  std::vector<uint64_t> open_;  // values that open arrays still wait for, outermost first
  std::string body_;
};

// Reads a message, or an array within one. Never touches memory beyond the bytes and allocates
// nothing: what a header promises has to be there. Throws Error (malformed) for whatever is not as
// asked for. Texts are views into the message.
class MessageReader {
 public:
  // Reads type and version.
  explicit MessageReader(std::string_view message);

  [[nodiscard]] uint32_t type() const { return type_; }
  [[nodiscard]] uint32_t version() const { return version_; }

  // Fields that are left.
  [[nodiscard]] uint32_t left() const { return left_; }
  // Any whole number that fits.
  uint64_t u64();
  int64_t i64();
  uint32_t u32();
  int32_t i32();
  double f64();
  bool boolean();
  std::string_view text();
  std::string_view bytes();
  // True, and it is read, when the next field is nil.
  bool nil();
  // The next field, which is an array, as a reader of its own.
  MessageReader array();
  void skip();

 private:
  MessageReader(std::string_view bytes, uint32_t elements) : rest_(bytes), left_(elements) {}

  [[noreturn]] static void malformed(const char* what);
  unsigned char take_byte();
  uint64_t take_number(size_t size);
  std::string_view take(uint64_t size);
  void begin_field();
  uint32_t array_header();
  std::string_view blob(bool text);
  void skip_values(uint64_t values);

  std::string_view rest_;
  uint32_t left_ = 0;
  uint32_t type_ = 0, version_ = 0;
};

}  // namespace tenon::wire
