// What stands before each message on the way: what it is, and which ask it belongs to. Private to
// sdk/wire.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/error.hpp"

namespace tenon::wire {

struct Envelope {
  enum class Kind : uint32_t { send = 1, ask = 2, reply = 3, error = 4 };
  Kind kind = Kind::send;
  uint64_t ask = 0;                          // number that the asker gave; 0: one-way
  std::string_view name;                     // of the endpoint; of send and ask
  Error::Kind error = Error::Kind::refused;  // of error; its text is the message
};

constexpr size_t kMaxEnvelope = 1024;

[[nodiscard]] std::string encode(const Envelope& envelope);
// Views into the bytes. Throws Error (malformed).
[[nodiscard]] Envelope decode_envelope(std::string_view bytes);

}  // namespace tenon::wire
