// Threads for the result handlers of jobs that nobody waits for (tenon.resultGetter.threads).
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tenon::context {

// Threads start with the first work and end with stop(). [any-thread]
class ResultPool {
 public:
  explicit ResultPool(size_t threads) : limit_(threads) {}
  ~ResultPool() { stop(); }
  ResultPool(const ResultPool&) = delete;
  ResultPool& operator=(const ResultPool&) = delete;

  // Dropped after stop(). Work throws nothing.
  void post(std::function<void()> work);
  // Runs what is queued, then joins. Idempotent; not on a thread of the pool.
  void stop();
  // Is the caller a thread of the pool?
  [[nodiscard]] bool on_thread() const;

 private:
  void run();

  const size_t limit_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace tenon::context
