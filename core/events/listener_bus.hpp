// Brings events to listeners: one queue and one thread for each group of listeners (C24.3).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "loop/clock.hpp"
#include "tenon/listener.hpp"

namespace tenon::events {

// A slow group holds up no other.
enum class Group : uint8_t { shared, app_status, executor_management, event_log };
inline constexpr size_t kGroups = 4;

// "shared", "appStatus", "executorManagement", "eventLog"
[[nodiscard]] std::string_view to_string(Group group) noexcept;

enum class Severity : uint8_t { warning, error };
// A line for people, without a period at the end. [any-thread]
using LogSink = std::function<void(Severity, std::string_view)>;

class ListenerQueue;

// Life: events posted before start() are kept and delivered; stop() delivers everything and ends. A
// queue without listeners costs nothing. When a queue is full, the newest event is dropped and
// counted.
class ListenerBus {
 public:
  struct Options {
    size_t capacity = 10000;  // tenon.scheduler.listenerbus.eventqueue.capacity, events a queue
    LogSink log{};            // empty: no log
    const loop::Clock* clock = nullptr;  // for the lines a minute; outlives the bus; null: system's
    // tenon.scheduler.listenerbus.eventqueue.<group>.capacity, by Group; 0: `capacity`. A queue of
    // core's own quick listeners may take a burst that only waits for its thread to run.
    std::array<size_t, kGroups> group_capacity{};
  };

  using Deadline = std::chrono::steady_clock::time_point;

  // A capacity of 0 drops everything.
  explicit ListenerBus(Options options);
  ~ListenerBus();  // stop(); not on a listener thread
  ListenerBus(const ListenerBus&) = delete;
  ListenerBus& operator=(const ListenerBus&) = delete;

  // A listener sees what is posted after this call, and what is still kept or queued for its group.
  // [any-thread]
  void add(std::shared_ptr<Listener> listener, Group group);
  // A call that is under way may still end after this one. Unknown: nothing. [any-thread]
  void remove(const std::shared_ptr<Listener>& listener);

  // Idempotent; after stop() nothing. [any-thread]
  void start();
  // Delivers everything that was posted and joins the threads; waits for a slow listener. Later
  // posts are dropped. Idempotent. On a listener's thread: throws Error (invalid_argument), for it
  // would wait for itself. [any-thread]
  void stop();

  // Never waits for a listener. [any-thread]
  void post(Event event);
  // The events stay together and are shared by all queues. [any-thread]
  void post_batch(std::vector<Event>&& events);

  // Is the caller inside a listener of this bus?
  [[nodiscard]] bool on_listener_thread() const;
  [[nodiscard]] bool on_listener_thread(Group group) const;

  // Waits until everything that was posted before the call has been handled. False: not by the
  // deadline, or not started. Not on a listener's own thread (false).
  bool wait_until_empty(Deadline deadline);
  // The same for one group.
  bool wait_until_delivered(Group group, Deadline deadline);

  // Events dropped because the group's queue was full. [any-thread]
  [[nodiscard]] uint64_t dropped(Group group) const;
  // Exceptions that came out of the group's listeners. [any-thread]
  [[nodiscard]] uint64_t listener_errors(Group group) const;

 private:
  enum class Phase : uint8_t { keeping, running, stopped };
  using Batch = std::shared_ptr<const std::vector<Event>>;

  [[nodiscard]] ListenerQueue& queue(Group group) const;
  void spread(const Batch& batch);

  const Options options_;
  std::atomic<Phase> phase_{Phase::keeping};
  std::mutex mutex_;  // guards kept_ and changes of phase_
  std::vector<Batch> kept_;
  std::mutex stop_mutex_;  // held by the thread that stops the bus
  std::array<std::unique_ptr<ListenerQueue>, kGroups> queues_;
};

}  // namespace tenon::events
