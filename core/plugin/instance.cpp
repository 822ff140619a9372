#include "plugin/instance.hpp"

#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace tenon::host {

bool run_bounded(std::chrono::nanoseconds timeout, std::function<void()> work) {
  std::promise<void> promise;
  const std::future<void> future = promise.get_future();
  std::thread thread;
  try {
    thread = std::thread([work, promise = std::move(promise)]() mutable {
      work();
      promise.set_value();
    });
  } catch (const std::system_error&) {  // no thread to be had: unbounded, but done
    work();
    return true;
  }
  const bool done = future.wait_for(timeout) == std::future_status::ready;
  done ? thread.join() : thread.detach();
  return done;
}

}  // namespace tenon::host
