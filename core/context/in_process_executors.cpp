#include "context/in_process_executors.hpp"

#include <utility>

#include "tenon/error.hpp"

namespace tenon::context {

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
    static_cast<void>(host.release());  // a C++ thread cannot be ended from outside
  }
  return well;
}

}  // namespace tenon::context
