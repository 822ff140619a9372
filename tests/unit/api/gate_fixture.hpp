// Tasks that wait until a test lets them go.
#pragma once

#include <thread>

#include "api/api_fixture.hpp"

namespace tenon::test {

// What tasks and tests tell each other; tasks run in this process.
inline std::atomic<int> started{0};
inline std::atomic<bool> open_gate{false};

// Stays until the gate is open or the attempt is killed.
inline int wait_at_gate(int n) {
  ++started;
  while (!open_gate) {
    TaskContext::current()->throw_if_killed();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return n;
}

class GateTest : public CountingTest {
 protected:
  GateTest() {
    started = 0;
    open_gate = false;
  }
  Rdd<int> gated(int partitions = 2) {
    return context().range(0, partitions, 1, partitions).map(fn<wait_at_gate>);
  }
  static bool wait_for_started(int n) {
    return wait_until([n] { return started >= n; });
  }
};

}  // namespace tenon::test
