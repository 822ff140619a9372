// Where the scheduler's time comes from. Nothing of the driver's scheduling state reads another
// clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace tenon::loop {

using Duration = std::chrono::nanoseconds;

// Time since the clock's own start; never goes back.
using Time = std::chrono::nanoseconds;

class Clock {
 public:
  Clock() = default;
  virtual ~Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  // [any-thread]
  [[nodiscard]] virtual Time now() const = 0;
  // Milliseconds since 1970, for what people and logs read. [any-thread]
  [[nodiscard]] virtual int64_t wall_ms() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Time now() const override;
  [[nodiscard]] int64_t wall_ms() const override;
};

// Moves only when told; for tests and simulations. One thread.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] Time now() const override { return now_; }
  [[nodiscard]] int64_t wall_ms() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now_).count();
  }
  void advance(Duration by) { now_ += by; }

 private:
  Time now_{0};
};

}  // namespace tenon::loop
