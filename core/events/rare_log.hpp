// Keeps a repeated message from flooding the log: the first at once, then at most one a minute with
// what came since.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "loop/clock.hpp"

namespace tenon::events {

// Not safe for use by two threads at once.
class RareLog {
 public:
  static constexpr loop::Duration kInterval = std::chrono::minutes(1);

  // clock outlives this.
  explicit RareLog(const loop::Clock& clock) : clock_(clock) {}

  struct Line {
    bool first = false;
    uint64_t count = 0;      // occurrences since the last line
    loop::Duration since{};  // time since the last line; 0 for the first
  };

  // Counts `count` occurrences; a line when it is time to write one.
  std::optional<Line> note(uint64_t count) {
    pending_ += count;
    const loop::Time now = clock_.now();
    if (last_ && now - *last_ < kInterval) return std::nullopt;
    const Line line{!last_, pending_, last_ ? now - *last_ : loop::Duration{}};
    last_ = now;
    pending_ = 0;
    return line;
  }

 private:
  const loop::Clock& clock_;
  std::optional<loop::Time> last_;
  uint64_t pending_ = 0;
};

}  // namespace tenon::events
