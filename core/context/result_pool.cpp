#include "context/result_pool.hpp"

#include <algorithm>
#include <utility>

namespace tenon::context {

void ResultPool::post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  queue_.push_back(std::move(work));
  if (idle_ < queue_.size() && threads_.size() < limit_) {
    threads_.emplace_back([this] { run(); });
  }
  changed_.notify_one();
}

void ResultPool::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) return;
    const auto work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

void ResultPool::stop() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    changed_.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
}

bool ResultPool::on_thread() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(threads_.begin(), threads_.end(), [](const std::thread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
}

}  // namespace tenon::context
