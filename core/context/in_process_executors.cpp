#include "context/in_process_executors.hpp"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tenon/error.hpp"

namespace tenon::context {
namespace {

// A C++ thread cannot be ended from outside: the executor whose task's code runs on must outlive
// it. Kept for the rest of the process, and never destroyed, since that code may still run at its
// end.
void leave_behind(std::unique_ptr<executor::ExecutorHost> host) {
  static std::mutex mutex;
  static auto* const left_behind = new std::vector<std::unique_ptr<executor::ExecutorHost>>;
  const std::lock_guard lock(mutex);
  left_behind->push_back(std::move(host));
}

}  // namespace

void InProcessExecutors::start(host::InProcessRequest request) {
  auto executor = std::make_unique<executor::ExecutorHost>(make_(std::move(request)));
  const std::lock_guard lock(mutex_);
  if (ended_) throw Error(ErrorKind::stopped, "the context is being stopped");
  executor->start();
  hosts_.push_back(std::move(executor));
}

bool InProcessExecutors::end(std::chrono::steady_clock::time_point deadline) {
  std::vector<std::unique_ptr<executor::ExecutorHost>> hosts;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    hosts.swap(hosts_);
  }
  bool well = true;
  for (auto& host : hosts) {
    if (host->end(deadline)) continue;
    well = false;
    leave_behind(std::move(host));
  }
  return well;
}

}  // namespace tenon::context
