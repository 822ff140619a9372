// Waiting for a condition with a deadline, for tests.
#pragma once

#include <chrono>
#include <thread>

namespace tenon::test {

// True as soon as the condition holds; false when it does not within the time.
template <class Condition>
[[nodiscard]] bool wait_until(Condition condition,
                              std::chrono::milliseconds within = std::chrono::seconds(20)) {
  const auto deadline = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

}  // namespace tenon::test
