#include "wire/envelope.hpp"

#include "wire/message.hpp"

namespace tenon::wire {
namespace {

constexpr uint32_t kVersion = 1;

}  // namespace

std::string encode(const Envelope& envelope) {
  return MessageWriter(static_cast<uint32_t>(envelope.kind), kVersion)
      .number(envelope.ask)
      .text(envelope.name)
      .number(static_cast<uint32_t>(envelope.error))
      .take();
}

Envelope decode_envelope(std::string_view bytes) {
  if (bytes.size() > kMaxEnvelope) throw Error(Error::Kind::malformed, "an envelope is too large");
  MessageReader reader(bytes);
  if (reader.type() < 1 || reader.type() > 4 || reader.version() < kVersion) {
    throw Error(Error::Kind::malformed, "an envelope is of an unknown kind");
  }
  Envelope envelope;
  envelope.kind = static_cast<Envelope::Kind>(reader.type());
  envelope.ask = reader.u64();
  envelope.name = reader.text();
  const uint32_t error = reader.u32();
  const bool asks = envelope.kind != Envelope::Kind::send;
  if (asks && envelope.ask == 0) throw Error(Error::Kind::malformed, "an ask has no number");
  // A kind that only a newer sender knows is refused to its asker all the same.
  envelope.error = error <= static_cast<uint32_t>(Error::Kind::invalid_call)
                       ? static_cast<Error::Kind>(error)
                       : Error::Kind::refused;
  return envelope;
}

}  // namespace tenon::wire
