// What goes wrong with messages.
#pragma once

#include <stdexcept>
#include <string>

namespace tenon::wire {

class Error : public std::runtime_error {
 public:
  enum class Kind {
    malformed,     // bytes that are no message, or not the one that was expected
    too_large,     // over the limit of a message
    timeout,       // no answer in time
    unknown,       // the other side does not know the name or the type of message
    refused,       // the other side's handler failed; the text is its own
    unreachable,   // an address that cannot be bound or connected to
    stopped,       // this side was stopped
    invalid_call,  // a call that is not allowed here
  };

  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

}  // namespace tenon::wire
