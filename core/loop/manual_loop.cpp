#include <deque>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "loop/loop.hpp"
#include "loop/timer_queue.hpp"

namespace tenon::loop {

struct ManualLoop::State {
  explicit State(uint64_t seed) : random(seed) {}

  ManualClock clock;
  std::mt19937_64 random;
  std::mutex mutex;  // guards queue: work is posted by any thread
  std::deque<Work> queue;
  TimerQueue timers;
  std::deque<std::function<void()>> hooks;  // a hook may add hooks
  std::function<void(std::exception_ptr)> error_handler;

  void turn();
  template <class F>
  void guarded(F& work);
  // Empty when the queue is.
  Work take() {
    const std::lock_guard lock(mutex);
    if (queue.empty()) return {};
    Work work = std::move(queue.front());
    queue.pop_front();
    return work;
  }
  size_t queued() {
    const std::lock_guard lock(mutex);
    return queue.size();
  }
  [[nodiscard]] bool has_work() {
    const auto due = timers.next_due();
    return queued() != 0 || (due && *due <= clock.now());
  }
};

template <class F>
void ManualLoop::State::guarded(F& work) {
  if (!error_handler) return work();
  try {
    work();
  } catch (...) {
    error_handler(std::current_exception());
  }
}

// As a turn of ThreadLoop: the work that waits now, the timers that are due, the hooks.
void ManualLoop::State::turn() {
  for (size_t left = queued(); left > 0; --left) {
    Work work = take();
    guarded(work);
  }
  const TimerId before = timers.next_id();
  for (Work work = timers.take_due(clock.now(), before); work;
       work = timers.take_due(clock.now(), before)) {
    guarded(work);
  }
  for (size_t i = 0; i < hooks.size(); ++i) guarded(hooks[i]);
}

ManualLoop::ManualLoop(uint64_t seed) : state_(std::make_unique<State>(seed)) {}

ManualLoop::~ManualLoop() {
  // Destructors of the work may post.
  while (state_->queued() != 0 || !state_->timers.empty()) {
    while (state_->take()) {
    }
    state_->timers.clear();
  }
}

void ManualLoop::run() {
  do {
    state_->turn();
  } while (state_->has_work());
}

void ManualLoop::advance(Duration by) {
  run();
  const Time target = due_time(state_->clock.now(), by);
  while (true) {
    const auto due = state_->timers.next_due();
    if (!due || *due > target) break;
    state_->clock.advance(*due - state_->clock.now());
    run();
  }
  state_->clock.advance(target - state_->clock.now());
}

size_t ManualLoop::queued() const { return state_->queued(); }
size_t ManualLoop::timers() const { return state_->timers.size(); }

void ManualLoop::post(Work work) {
  const std::lock_guard lock(state_->mutex);
  state_->queue.push_back(std::move(work));
}

TimerId ManualLoop::call_after(Duration delay, Work work) {
  return state_->timers.add(due_time(state_->clock.now(), delay), std::move(work));
}

void ManualLoop::cancel(TimerId id) { state_->timers.cancel(id); }
void ManualLoop::at_turn_end(std::function<void()> hook) {
  state_->hooks.push_back(std::move(hook));
}
void ManualLoop::set_error_handler(std::function<void(std::exception_ptr)> handler) {
  state_->error_handler = std::move(handler);
}

const Clock& ManualLoop::clock() const { return state_->clock; }
std::mt19937_64& ManualLoop::random() { return state_->random; }

}  // namespace tenon::loop
