// The thread of an executor that ticks its task table and sends heartbeats.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "common/file_descriptor.hpp"

namespace tenon::executor {

class Reporter {
 public:
  struct Work {
    std::function<void()> tick;
    std::function<void()> beat;
    std::chrono::milliseconds first_beat, beat_interval;
  };

  Reporter();
  ~Reporter();  // stop()
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  void start(Work work);
  // One tick in a millisecond. Cheap; wakes nobody now. [any-thread]
  void arm() noexcept;
  // Joins. Idempotent.
  void stop();

 private:
  void run();

  FileDescriptor timer_, stopped_;
  Work work_;
  std::thread thread_;
};

}  // namespace tenon::executor
