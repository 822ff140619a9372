// Where a StatusTracker reads, and how it waits until what happened before has arrived there.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "events/listener_bus.hpp"
#include "events/status_store.hpp"
#include "loop/loop.hpp"

namespace tenon::events {

class StatusSource {
 public:
  // settle is called before every read, by any thread, also after the context is gone; empty: no
  // wait.
  StatusSource(std::shared_ptr<const StatusStore> store, std::function<void()> settle)
      : store_(std::move(store)), settle_(std::move(settle)) {}

  [[nodiscard]] const StatusStore& settled() const {
    if (settle_) settle_();
    return *store_;
  }

 private:
  std::shared_ptr<const StatusStore> store_;
  std::function<void()> settle_;
};

// Waits until the loop has ended the turn it is in, and the bus has brought all events up to then
// to the status store. False: not within the time. At once on the loop's thread and on the store's
// own (true): the answer is then as of the events so far.
bool wait_for_status(loop::Loop& loop, ListenerBus& bus, std::chrono::milliseconds at_most);

}  // namespace tenon::events
