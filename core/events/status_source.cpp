#include "events/status_source.hpp"

#include <future>

namespace tenon::events {

bool wait_for_status(loop::Loop& loop, ListenerBus& bus, std::chrono::milliseconds at_most) {
  if (loop.on_thread() || bus.on_listener_thread(Group::app_status)) return true;
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  // A loop that has stopped drops the work, which breaks the promise and so ends the wait as well.
  // Events reach the bus at the end of a turn: work posted from this turn runs after that.
  std::promise<void> turned;
  const auto turn = turned.get_future();
  loop.post([&loop, promise = std::move(turned)]() mutable {
    loop.post([promise = std::move(promise)]() mutable { promise.set_value(); });
  });
  if (turn.wait_until(deadline) != std::future_status::ready) return false;
  return bus.wait_until_delivered(Group::app_status, deadline);
}

}  // namespace tenon::events
