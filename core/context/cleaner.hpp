// Hears of Rdds and shuffles that the program holds no more, so that what executors keep for them
// can go (contract C15.12).
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace tenon::context {

// [any-thread]
class Cleaner {
 public:
  struct Ended {
    std::vector<int32_t> rdds, shuffles;
  };

  // wake: there is something to take; called under the lock, once until take().
  explicit Cleaner(std::function<void()> wake) : wake_(std::move(wake)) {}
  Cleaner(const Cleaner&) = delete;
  Cleaner& operator=(const Cleaner&) = delete;

  // The last reference is gone. An id that cannot be noted, for want of memory, is never cleaned.
  void rdd_ended(int32_t id) noexcept { add(&Ended::rdds, id); }
  void shuffle_ended(int32_t id) noexcept { add(&Ended::shuffles, id); }

  [[nodiscard]] Ended take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(ended_, {});
  }
  // wake is not called any more.
  void close() {
    const std::lock_guard lock(mutex_);
    wake_ = nullptr;
  }

 private:
  void add(std::vector<int32_t> Ended::* list, int32_t id) noexcept;

  std::mutex mutex_;  // guards the two below
  std::function<void()> wake_;
  Ended ended_;
};

}  // namespace tenon::context
