#include "wire/message.hpp"

#include <bit>
#include <limits>
#include <msgpack.hpp>
#include <utility>

namespace tenon::wire {
namespace {

// Appends to a string, as msgpack::packer wants its stream.
struct Appender {
  std::string& out;
  void write(const char* data, size_t size) { out.append(data, size); }
};

template <class Pack>
void pack_into(std::string& out, Pack pack) {
  Appender appender{out};
  msgpack::packer<Appender> packer(appender);
  pack(packer);
}

uint32_t checked_size(size_t size) {
  if (size > std::numeric_limits<uint32_t>::max()) {
    throw Error(Error::Kind::too_large, "A field of a message has " + std::to_string(size) +
                                            " bytes; 4294967295 is the most");
  }
  return static_cast<uint32_t>(size);
}

}  // namespace

MessageWriter::MessageWriter(uint32_t type, uint32_t version) : type_(type), version_(version) {}

// Every value closes the arrays that it completes.
void MessageWriter::count() {
  if (open_.empty()) {
    ++fields_;
    return;
  }
  --open_.back();
  while (!open_.empty() && open_.back() == 0) open_.pop_back();
}

MessageWriter& MessageWriter::number(uint64_t value) {
  pack_into(body_, [&](auto& packer) { packer.pack_uint64(value); });
  count();
  return *this;
}

MessageWriter& MessageWriter::number(int64_t value) {
  pack_into(body_, [&](auto& packer) { packer.pack_int64(value); });
  count();
  return *this;
}

MessageWriter& MessageWriter::number(double value) {
  pack_into(body_, [&](auto& packer) { packer.pack_double(value); });
  count();
  return *this;
}

MessageWriter& MessageWriter::boolean(bool value) {
  pack_into(body_, [&](auto& packer) { value ? packer.pack_true() : packer.pack_false(); });
  count();
  return *this;
}

MessageWriter& MessageWriter::text(std::string_view value) {
  const uint32_t size = checked_size(value.size());
  pack_into(body_, [&](auto& packer) {
    packer.pack_str(size);
    packer.pack_str_body(value.data(), size);
  });
  count();
  return *this;
}

MessageWriter& MessageWriter::bytes(std::string_view value) {
  const uint32_t size = checked_size(value.size());
  pack_into(body_, [&](auto& packer) {
    packer.pack_bin(size);
    packer.pack_bin_body(value.data(), size);
  });
  count();
  return *this;
}

MessageWriter& MessageWriter::nil() {
  pack_into(body_, [&](auto& packer) { packer.pack_nil(); });
  count();
  return *this;
}

MessageWriter& MessageWriter::array(size_t size) {
  const uint32_t elements = checked_size(size);
  pack_into(body_, [&](auto& packer) { packer.pack_array(elements); });
  count();
  if (elements > 0) open_.push_back(elements);
  return *this;
}

std::string MessageWriter::take() {
  if (!open_.empty()) {
    throw Error(Error::Kind::invalid_call, "An array of a message has not got all of its values");
  }
  std::string message;
  message.reserve(body_.size() + 16);
  pack_into(message, [&](auto& packer) {
    packer.pack_array(fields_ + 2);
    packer.pack_uint32(type_);
    packer.pack_uint32(version_);
  });
  message += body_;
  return message;
}

MessageReader::MessageReader(std::string_view message) : rest_(message), left_(1) {
  begin_field();
  left_ = array_header();
  type_ = u32();
  version_ = u32();
}

void MessageReader::malformed(const char* what) {
  throw Error(Error::Kind::malformed, std::string("Malformed message: ") + what);
}

unsigned char MessageReader::take_byte() { return static_cast<unsigned char>(take(1)[0]); }

std::string_view MessageReader::take(uint64_t size) {
  if (size > rest_.size()) malformed("it is cut short");
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

uint64_t MessageReader::take_number(size_t size) {
  uint64_t value = 0;
  for (const char byte : take(size)) value = (value << 8) | static_cast<unsigned char>(byte);
  return value;
}

void MessageReader::begin_field() {
  if (left_ == 0) malformed("it has too few fields");
  --left_;
}

uint32_t MessageReader::array_header() {
  const unsigned char head = take_byte();
  uint64_t elements = 0;
  if ((head & 0xf0) == 0x90) {
    elements = head & 0x0fU;
  } else if (head == 0xdc || head == 0xdd) {
    elements = take_number(head == 0xdc ? 2 : 4);
  } else {
    malformed("an array was expected");
  }
  if (elements > rest_.size()) malformed("an array promises more than there is");
  return static_cast<uint32_t>(elements);
}

uint64_t MessageReader::u64() {
  begin_field();
  const unsigned char head = take_byte();
  if (head < 0x80) return head;
  if (head >= 0xcc && head <= 0xcf) return take_number(size_t{1} << (head - 0xcc));
  malformed("a number from 0 up was expected");
}

int64_t MessageReader::i64() {
  begin_field();
  const unsigned char head = take_byte();
  if (head < 0x80) return head;
  if (head >= 0xe0) return static_cast<int8_t>(head);
  if (head >= 0xcc && head <= 0xcf) {
    const uint64_t value = take_number(size_t{1} << (head - 0xcc));
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      malformed("a number is out of range");
    }
    return static_cast<int64_t>(value);
  }
  switch (head) {
    case 0xd0:
      return static_cast<int8_t>(take_number(1));
    case 0xd1:
      return static_cast<int16_t>(take_number(2));
    case 0xd2:
      return static_cast<int32_t>(take_number(4));
    case 0xd3:
      return static_cast<int64_t>(take_number(8));
    default:
      malformed("a number was expected");
  }
}

uint32_t MessageReader::u32() {
  const uint64_t value = u64();
  if (value > std::numeric_limits<uint32_t>::max()) malformed("a number is out of range");
  return static_cast<uint32_t>(value);
}

int32_t MessageReader::i32() {
  const int64_t value = i64();
  if (!std::in_range<int32_t>(value)) malformed("a number is out of range");
  return static_cast<int32_t>(value);
}

double MessageReader::f64() {
  begin_field();
  const unsigned char head = take_byte();
  if (head == 0xcb) return std::bit_cast<double>(take_number(8));
  if (head == 0xca) return std::bit_cast<float>(static_cast<uint32_t>(take_number(4)));
  malformed("a floating-point number was expected");
}

bool MessageReader::boolean() {
  begin_field();
  const unsigned char head = take_byte();
  if (head == 0xc2) return false;
  if (head == 0xc3) return true;
  malformed("true or false was expected");
}

std::string_view MessageReader::blob(bool text) {
  begin_field();
  const unsigned char head = take_byte();
  if (text) {
    if ((head & 0xe0) == 0xa0) return take(head & 0x1fU);
    if (head >= 0xd9 && head <= 0xdb) return take(take_number(size_t{1} << (head - 0xd9)));
    malformed("a text was expected");
  }
  if (head >= 0xc4 && head <= 0xc6) return take(take_number(size_t{1} << (head - 0xc4)));
  malformed("bytes were expected");
}

std::string_view MessageReader::text() { return blob(true); }
std::string_view MessageReader::bytes() { return blob(false); }

bool MessageReader::nil() {
  if (left_ == 0) malformed("it has too few fields");
  if (rest_.empty() || static_cast<unsigned char>(rest_[0]) != 0xc0) return false;
  rest_.remove_prefix(1);
  --left_;
  return true;
}

MessageReader MessageReader::array() {
  begin_field();
  const uint32_t elements = array_header();
  const std::string_view start = rest_;
  skip_values(elements);
  return MessageReader(start.substr(0, start.size() - rest_.size()), elements);
}

void MessageReader::skip() {
  begin_field();
  skip_values(1);
}

// Without recursion: nesting costs a sender bytes and us nothing.
void MessageReader::skip_values(uint64_t values) {
  while (values > 0) {
    if (values > rest_.size()) malformed("it is cut short");
    --values;
    const unsigned char head = take_byte();
    if (head < 0x80 || head >= 0xe0 || head == 0xc0 || head == 0xc2 || head == 0xc3) continue;
    if ((head & 0xf0) == 0x80) {
      values += 2 * (head & 0x0fU);
    } else if ((head & 0xf0) == 0x90) {
      values += head & 0x0fU;
    } else if ((head & 0xe0) == 0xa0) {
      take(head & 0x1fU);
    } else if (head >= 0xc4 && head <= 0xc6) {
      take(take_number(size_t{1} << (head - 0xc4)));
    } else if (head >= 0xc7 && head <= 0xc9) {
      take(take_number(size_t{1} << (head - 0xc7)) + 1);
    } else if (head == 0xca) {
      take(4);
    } else if (head == 0xcb) {
      take(8);
    } else if (head >= 0xcc && head <= 0xd3) {
      take(size_t{1} << ((head - 0xcc) % 4));
    } else if (head >= 0xd4 && head <= 0xd8) {
      take((size_t{1} << (head - 0xd4)) + 1);
    } else if (head >= 0xd9 && head <= 0xdb) {
      take(take_number(size_t{1} << (head - 0xd9)));
    } else if (head >= 0xdc && head <= 0xdf) {
      const uint64_t count = take_number((head & 1) == 0 ? 2 : 4);
      values += head >= 0xde ? 2 * count : count;
    } else {
      malformed("a byte that begins no value");
    }
  }
}

}  // namespace tenon::wire
