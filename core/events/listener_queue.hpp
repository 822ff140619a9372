// One group's queue of the listener bus, with its thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "events/listener_bus.hpp"
#include "events/rare_log.hpp"

namespace tenon::events {

class ListenerQueue {
 public:
  using Batch = std::shared_ptr<const std::vector<Event>>;

  // bus: only its address is used, to know the bus's threads. All references outlive the queue.
  ListenerQueue(const void* bus, Group group, size_t capacity, const LogSink& log,
                const loop::Clock& clock);
  ~ListenerQueue();
  ListenerQueue(const ListenerQueue&) = delete;
  ListenerQueue& operator=(const ListenerQueue&) = delete;

  void add(std::shared_ptr<Listener> listener);
  void remove(const std::shared_ptr<Listener>& listener);
  // From now on the queue has a thread as soon as it has a listener.
  void start();
  // Lets the thread end once the queue is empty; join() waits for it.
  void close();
  void join();

  [[nodiscard]] bool has_listeners() const {
    return has_listeners_.load(std::memory_order_acquire);
  }
  void push(const Batch& batch);
  bool wait_until_delivered(ListenerBus::Deadline deadline);

  [[nodiscard]] uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] uint64_t errors() const { return errors_.load(std::memory_order_relaxed); }

  // Is this thread one of the bus's, and if so of which group?
  static bool on_thread_of(const void* bus);
  static bool on_thread_of(const void* bus, Group group);

 private:
  using Listeners = std::vector<std::shared_ptr<Listener>>;
  // The first `count` events of a batch: the rest found the queue full.
  struct Entry {
    Batch batch;
    size_t count;
  };

  void start_thread_if_needed();
  void run();
  bool take(std::vector<Entry>& into);
  [[nodiscard]] bool is_urgent() const;
  void deliver(const Event& event);
  void note_dropped(size_t count);
  void note_error(const Listener& listener, const std::exception_ptr& error) noexcept;

  const void* const bus_;
  const Group group_;
  const size_t capacity_;
  const LogSink& log_;

  // Guards everything down to the next blank line.
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable delivered_changed_;
  std::vector<Entry> entries_;
  std::shared_ptr<const Listeners> listeners_;  // replaced, never changed
  bool wants_wake_ = false;                     // the thread sleeps until it is woken
  bool started_ = false;
  bool closed_ = false;
  uint64_t accepted_ = 0;  // events, ever
  RareLog drop_log_;
  std::thread thread_;

  std::atomic<bool> has_listeners_{false};
  std::atomic<size_t> waiting_{0};      // accepted and not yet taken for handling
  std::atomic<size_t> waiters_{0};      // threads in wait_until_delivered
  std::atomic<uint64_t> delivered_{0};  // handled, ever
  std::atomic<uint64_t> dropped_{0};
  std::atomic<uint64_t> errors_{0};
  std::atomic<uint32_t> generation_{0};  // of listeners_

  // Of the thread.
  std::shared_ptr<const Listeners> current_;
  uint32_t current_generation_ = 0;
  RareLog error_log_;
};

}  // namespace tenon::events
