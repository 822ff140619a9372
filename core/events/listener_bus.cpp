#include "events/listener_bus.hpp"

#include <utility>

#include "events/listener_queue.hpp"
#include "tenon/error.hpp"

namespace tenon::events {

namespace {

const loop::Clock& system_clock() {
  static const loop::SystemClock clock;
  return clock;
}

}  // namespace

std::string_view to_string(Group group) noexcept {
  switch (group) {
    case Group::shared:
      return "shared";
    case Group::app_status:
      return "appStatus";
    case Group::executor_management:
      return "executorManagement";
    case Group::event_log:
      return "eventLog";
  }
  return "unknown";
}

ListenerBus::ListenerBus(Options options) : options_(std::move(options)) {
  const loop::Clock& clock = options_.clock != nullptr ? *options_.clock : system_clock();
  for (size_t i = 0; i < kGroups; ++i) {
    const size_t own = options_.group_capacity[i];
    queues_[i] = std::make_unique<ListenerQueue>(
        this, static_cast<Group>(i), own != 0 ? own : options_.capacity, options_.log, clock);
  }
}

ListenerBus::~ListenerBus() { stop(); }

ListenerQueue& ListenerBus::queue(Group group) const {
  return *queues_[static_cast<size_t>(group)];
}

void ListenerBus::add(std::shared_ptr<Listener> listener, Group group) {
  queue(group).add(std::move(listener));
}

void ListenerBus::remove(const std::shared_ptr<Listener>& listener) {
  for (const auto& queue : queues_) queue->remove(listener);
}

void ListenerBus::start() {
  const std::lock_guard lock(mutex_);
  if (phase_.load() != Phase::keeping) return;
  for (const auto& queue : queues_) queue->start();
  for (const Batch& batch : std::exchange(kept_, {})) spread(batch);
  phase_.store(Phase::running);
}

void ListenerBus::stop() {
  if (on_listener_thread()) {
    throw Error(
        ErrorKind::invalid_argument,
        "cannot stop the context from a listener: the stop waits for listeners; stop it from "
        "another thread");
  }
  const std::lock_guard stopping(stop_mutex_);
  {
    const std::lock_guard lock(mutex_);
    phase_.store(Phase::stopped);
    kept_.clear();
  }
  for (const auto& queue : queues_) queue->close();
  for (const auto& queue : queues_) queue->join();
}

void ListenerBus::post(Event event) {
  std::vector<Event> events;
  events.push_back(std::move(event));
  post_batch(std::move(events));
}

void ListenerBus::post_batch(std::vector<Event>&& events) {
  if (events.empty()) return;
  if (phase_.load(std::memory_order_acquire) == Phase::keeping) {
    const std::lock_guard lock(mutex_);
    if (phase_.load() == Phase::keeping) {
      kept_.push_back(std::make_shared<const std::vector<Event>>(std::move(events)));
      return;
    }
  }
  bool wanted = false;
  for (const auto& queue : queues_) wanted = wanted || queue->has_listeners();
  if (!wanted || phase_.load(std::memory_order_relaxed) == Phase::stopped) return;
  spread(std::make_shared<const std::vector<Event>>(std::move(events)));
}

void ListenerBus::spread(const Batch& batch) {
  for (const auto& queue : queues_) {
    if (queue->has_listeners()) queue->push(batch);
  }
}

bool ListenerBus::on_listener_thread() const { return ListenerQueue::on_thread_of(this); }
bool ListenerBus::on_listener_thread(Group group) const {
  return ListenerQueue::on_thread_of(this, group);
}

bool ListenerBus::wait_until_empty(Deadline deadline) {
  bool all = true;
  for (size_t i = 0; i < kGroups; ++i) {
    all = wait_until_delivered(static_cast<Group>(i), deadline) && all;
  }
  return all;
}

bool ListenerBus::wait_until_delivered(Group group, Deadline deadline) {
  if (phase_.load() == Phase::keeping || on_listener_thread(group)) return false;
  return queue(group).wait_until_delivered(deadline);
}

uint64_t ListenerBus::dropped(Group group) const { return queue(group).dropped(); }
uint64_t ListenerBus::listener_errors(Group group) const { return queue(group).errors(); }

}  // namespace tenon::events
