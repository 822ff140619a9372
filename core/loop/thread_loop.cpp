#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "loop/loop.hpp"
#include "loop/timer_queue.hpp"

namespace tenon::loop {

namespace {

constexpr const char* kThreadName = "tenon-loop";
constexpr size_t kKeptCapacity = size_t{1} << 16;  // of the mailbox after a burst

std::string describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace

struct ThreadLoop::State {
  State(const Clock& the_clock, uint64_t seed) : clock(the_clock), random(seed) {}

  const Clock& clock;
  std::mt19937_64 random;

  // Guards mailbox and sleeping.
  std::mutex mutex;
  std::condition_variable wake;
  std::vector<Work> mailbox;
  bool sleeping = false;
  // Posters between the lock and the end of their wake-up: the work that they posted may have led
  // to a stop, which lets nobody destroy the condition variable before they are done.
  std::atomic<int> wakers{0};
  std::atomic<bool> stopping{false};  // set under mutex

  // Of the loop's thread (before start: of the thread that sets up).
  std::vector<Work> batch;
  TimerQueue timers;
  std::deque<std::function<void()>> hooks;  // a hook may add hooks
  std::function<void(std::exception_ptr)> error_handler;
  std::function<void(std::string_view)> last_resort;
  std::atomic<uint64_t> unexpected_errors{0};

  std::mutex thread_mutex;  // guards thread
  std::thread thread;

  static thread_local const State* current;

  void run();
  bool wait_for_turn();
  void turn();
  template <class F>
  void guarded(F& work) noexcept;
  void report(std::exception_ptr error) noexcept;
  void unexpected(const std::exception_ptr& error) noexcept;
  void discard_all();
};

thread_local const ThreadLoop::State* ThreadLoop::State::current = nullptr;

void ThreadLoop::State::run() {
  current = this;
  pthread_setname_np(pthread_self(), kThreadName);
  while (wait_for_turn()) turn();
  discard_all();
  current = nullptr;
}

// Returns when there is something to do; false: the loop ends.
bool ThreadLoop::State::wait_for_turn() {
  std::unique_lock lock(mutex);
  while (!stopping.load(std::memory_order_relaxed) && mailbox.empty()) {
    const auto due = timers.next_due();
    Duration left = Duration::max();
    if (due) {
      left = *due - clock.now();
      if (left <= Duration::zero()) break;
    }
    sleeping = true;
    if (due) {
      wake.wait_for(lock, std::min<Duration>(left, std::chrono::hours(1)));
    } else {
      wake.wait(lock);
    }
    sleeping = false;
  }
  if (stopping.load(std::memory_order_relaxed)) return false;
  batch.swap(mailbox);
  return true;
}

void ThreadLoop::State::turn() {
  const auto ends = [this] { return stopping.load(std::memory_order_relaxed); };
  for (size_t i = 0; i < batch.size() && !ends(); ++i) {
    guarded(batch[i]);
    batch[i].reset();
  }
  batch.clear();
  if (batch.capacity() > kKeptCapacity) std::vector<Work>().swap(batch);
  if (!timers.empty() && !ends()) {
    const Time now = clock.now();
    const TimerId before = timers.next_id();
    while (!ends()) {
      Work work = timers.take_due(now, before);
      if (!work) break;
      guarded(work);
    }
  }
  // NOLINTNEXTLINE(modernize-loop-convert): a hook may add hooks
  for (size_t i = 0; i < hooks.size(); ++i) guarded(hooks[i]);
}

template <class F>
void ThreadLoop::State::guarded(F& work) noexcept {
  try {
    work();
  } catch (...) {
    report(std::current_exception());
  }
}

void ThreadLoop::State::report(std::exception_ptr error) noexcept {
  if (!error_handler) return unexpected(error);
  try {
    error_handler(std::move(error));
  } catch (...) {
    unexpected(std::current_exception());
  }
}

void ThreadLoop::State::unexpected(const std::exception_ptr& error) noexcept {
  unexpected_errors.fetch_add(1, std::memory_order_relaxed);
  try {
    if (last_resort) {
      last_resort(std::string("Unexpected error in ") + kThreadName + ": " + describe(error));
    }
  } catch (...) {  // ignored: there is nobody left to tell; it is counted
  }
}

// Destructors may post; that is dropped, for the loop is stopping.
void ThreadLoop::State::discard_all() {
  batch.clear();
  timers.clear();
  std::vector<Work> dropped;
  {
    const std::lock_guard lock(mutex);
    dropped.swap(mailbox);
  }
}

ThreadLoop::ThreadLoop(const Clock& clock, uint64_t seed)
    : state_(std::make_shared<State>(clock, seed)) {}

ThreadLoop::~ThreadLoop() {
  stop();
  const std::lock_guard lock(state_->thread_mutex);
  if (state_->thread.joinable()) state_->thread.detach();  // only on the loop's own thread
}

void ThreadLoop::start() {
  const std::lock_guard lock(state_->thread_mutex);
  if (state_->thread.joinable() || state_->stopping.load()) return;
  state_->thread = std::thread([state = state_] { state->run(); });
}

void ThreadLoop::stop() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping.store(true);
  }
  state_->wake.notify_one();
  while (state_->wakers.load(std::memory_order_acquire) > 0) std::this_thread::yield();
  if (on_thread()) return;
  const std::lock_guard lock(state_->thread_mutex);
  if (state_->thread.joinable()) {
    state_->thread.join();
  } else {
    state_->discard_all();  // never started
  }
}

void ThreadLoop::post(Work work) {
  State& state = *state_;
  bool asleep = false;
  {
    const std::lock_guard lock(state.mutex);
    if (state.stopping.load(std::memory_order_relaxed)) return;
    state.mailbox.push_back(std::move(work));
    asleep = std::exchange(state.sleeping, false);
    if (asleep) state.wakers.fetch_add(1, std::memory_order_relaxed);
  }
  if (!asleep) return;
  state.wake.notify_one();
  state.wakers.fetch_sub(1, std::memory_order_release);
}

TimerId ThreadLoop::call_after(Duration delay, Work work) {
  return state_->timers.add(due_time(state_->clock.now(), delay), std::move(work));
}

void ThreadLoop::cancel(TimerId id) { state_->timers.cancel(id); }

void ThreadLoop::at_turn_end(std::function<void()> hook) {
  state_->hooks.push_back(std::move(hook));
}

void ThreadLoop::set_error_handler(std::function<void(std::exception_ptr)> handler) {
  state_->error_handler = std::move(handler);
}

void ThreadLoop::set_last_resort(std::function<void(std::string_view)> last_resort) {
  state_->last_resort = std::move(last_resort);
}

uint64_t ThreadLoop::unexpected_errors() const { return state_->unexpected_errors.load(); }

const Clock& ThreadLoop::clock() const { return state_->clock; }
std::mt19937_64& ThreadLoop::random() { return state_->random; }
bool ThreadLoop::on_thread() const { return State::current == state_.get(); }

}  // namespace tenon::loop
