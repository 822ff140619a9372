#include "events/listener_queue.hpp"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <typeinfo>
#include <utility>

#include "common/demangle.hpp"

namespace tenon::events {

namespace {

// While events keep coming, the thread looks for them at this interval and nobody has to wake it: a
// wake-up costs the poster more than all else it does here.
constexpr auto kLinger = std::chrono::milliseconds(1);

struct Here {
  const void* bus = nullptr;
  Group group = Group::shared;
};
thread_local Here here;

const char* thread_name(Group group) {
  switch (group) {  // at most 15 characters
    case Group::shared:
      return "tenon-ev-shared";
    case Group::app_status:
      return "tenon-ev-status";
    case Group::executor_management:
      return "tenon-ev-execs";
    case Group::event_log:
      return "tenon-ev-log";
  }
  return "tenon-ev";
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

std::string seconds(loop::Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count()) + " s";
}

}  // namespace

ListenerQueue::ListenerQueue(const void* bus, Group group, size_t capacity, const LogSink& log,
                             const loop::Clock& clock)
    : bus_(bus),
      group_(group),
      capacity_(capacity),
      log_(log),
      listeners_(std::make_shared<const Listeners>()),
      drop_log_(clock),
      current_(listeners_),
      error_log_(clock) {}

ListenerQueue::~ListenerQueue() {
  close();
  join();
}

void ListenerQueue::add(std::shared_ptr<Listener> listener) {
  const std::lock_guard lock(mutex_);
  auto changed = std::make_shared<Listeners>(*listeners_);
  changed->push_back(std::move(listener));
  listeners_ = std::move(changed);
  generation_.fetch_add(1, std::memory_order_release);
  has_listeners_.store(true, std::memory_order_release);
  start_thread_if_needed();
}

void ListenerQueue::remove(const std::shared_ptr<Listener>& listener) {
  const std::lock_guard lock(mutex_);
  auto changed = std::make_shared<Listeners>(*listeners_);
  std::erase(*changed, listener);
  has_listeners_.store(!changed->empty(), std::memory_order_release);
  listeners_ = std::move(changed);
  generation_.fetch_add(1, std::memory_order_release);
}

void ListenerQueue::start() {
  const std::lock_guard lock(mutex_);
  started_ = true;
  start_thread_if_needed();
}

void ListenerQueue::start_thread_if_needed() {
  if (!started_ || closed_ || listeners_->empty() || thread_.joinable()) return;
  thread_ = std::thread([this] { run(); });
}

void ListenerQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  work_.notify_one();
}

void ListenerQueue::join() {
  if (thread_.joinable()) thread_.join();
}

void ListenerQueue::push(const Batch& batch) {
  size_t too_many = 0;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    const size_t used = waiting_.load(std::memory_order_relaxed);
    const size_t count = std::min(batch->size(), capacity_ - std::min(capacity_, used));
    too_many = batch->size() - count;
    if (count > 0) {
      entries_.push_back({batch, count});
      waiting_.fetch_add(count, std::memory_order_relaxed);
      accepted_ += count;
      wake = std::exchange(wants_wake_, false) || is_urgent();
    }
  }
  if (wake) work_.notify_one();
  if (too_many > 0) note_dropped(too_many);
}

bool ListenerQueue::is_urgent() const {
  return waiters_.load() > 0 || waiting_.load(std::memory_order_relaxed) * 2 >= capacity_;
}

void ListenerQueue::run() {
  here = {bus_, group_};
  pthread_setname_np(pthread_self(), thread_name(group_));
  std::vector<Entry> entries;
  while (take(entries)) {
    for (Entry& entry : entries) {
      for (size_t i = 0; i < entry.count; ++i) {
        waiting_.fetch_sub(1, std::memory_order_relaxed);
        deliver((*entry.batch)[i]);
      }
      delivered_.fetch_add(entry.count);
      entry.batch.reset();
      if (waiters_.load() == 0) continue;
      {
        const std::lock_guard lock(mutex_);
      }
      delivered_changed_.notify_all();
    }
    entries.clear();
  }
  here = {};
}

// False: the queue is closed and empty.
bool ListenerQueue::take(std::vector<Entry>& into) {
  std::unique_lock lock(mutex_);
  if (entries_.empty() || !is_urgent()) {
    work_.wait_for(lock, kLinger, [this] { return closed_ || (!entries_.empty() && is_urgent()); });
  }
  while (entries_.empty() && !closed_) {
    wants_wake_ = true;
    work_.wait(lock);
    wants_wake_ = false;
  }
  into.swap(entries_);
  return !into.empty();
}

void ListenerQueue::deliver(const Event& event) {
  if (generation_.load(std::memory_order_acquire) != current_generation_) {
    const std::lock_guard lock(mutex_);
    current_ = listeners_;
    current_generation_ = generation_.load(std::memory_order_relaxed);
  }
  for (const auto& listener : *current_) {
    try {
      listener->on_event(event);
    } catch (...) {
      note_error(*listener, std::current_exception());
    }
  }
}

bool ListenerQueue::wait_until_delivered(ListenerBus::Deadline deadline) {
  std::unique_lock lock(mutex_);
  const uint64_t target = accepted_;
  const auto done = [&] { return delivered_.load() >= target; };
  if (done()) return true;
  ++waiters_;
  work_.notify_one();
  const bool in_time = delivered_changed_.wait_until(lock, deadline, done);
  --waiters_;
  return in_time;
}

void ListenerQueue::note_dropped(size_t count) {
  dropped_.fetch_add(count, std::memory_order_relaxed);
  std::optional<RareLog::Line> line;
  {
    const std::lock_guard lock(mutex_);
    line = drop_log_.note(count);
  }
  if (!line || !log_) return;
  const std::string name(to_string(group_));
  if (line->first) {
    log_(Severity::error,
         "Dropping event from queue " + name +
             ". This likely means one of the listeners is too slow and cannot keep "
             "up with the rate at which tasks are being started by the scheduler");
  } else {
    log_(Severity::warning, "Dropped " + std::to_string(line->count) + " events from queue " +
                                name + " in the last " + seconds(line->since));
  }
}

void ListenerQueue::note_error(const Listener& listener, const std::exception_ptr& error) noexcept {
  errors_.fetch_add(1, std::memory_order_relaxed);
  try {
    const auto line = error_log_.note(1);
    if (!line || !log_) return;
    std::string text =
        "Listener " + demangle(typeid(listener).name()) + " threw an exception: " + text_of(error);
    if (line->count > 1) {
      text += "; " + std::to_string(line->count) + " exceptions in queue " +
              std::string(to_string(group_)) + " in the last " + seconds(line->since);
    }
    log_(Severity::error, text);
  } catch (...) {  // ignored: a log that fails must not hurt the other listeners; it is counted
  }
}

bool ListenerQueue::on_thread_of(const void* bus) { return here.bus == bus; }
bool ListenerQueue::on_thread_of(const void* bus, Group group) {
  return here.bus == bus && here.group == group;
}

}  // namespace tenon::events
