// Executors that a plugin starts in the driver's process.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "executor/executor_host.hpp"
#include "plugin/in_process.hpp"

namespace tenon::context {

// [any-thread]
class InProcessExecutors {
 public:
  using MakeSetup = std::function<executor::ExecutorHost::Setup(host::InProcessRequest)>;

  // make: what a host needs beyond the request.
  explicit InProcessExecutors(MakeSetup make) : make_(std::move(make)) {}
  ~InProcessExecutors() { end(std::chrono::steady_clock::now()); }
  InProcessExecutors(const InProcessExecutors&) = delete;
  InProcessExecutors& operator=(const InProcessExecutors&) = delete;

  // The plugin's call: starts one and returns. Throws Error after end().
  void start(host::InProcessRequest request);
  // Ends all of them. False when the code of a task runs on in one at the deadline; that one is
  // left behind. Idempotent.
  bool end(std::chrono::steady_clock::time_point deadline);

 private:
  const MakeSetup make_;
  std::mutex mutex_;  // guards the two below
  std::vector<std::unique_ptr<executor::ExecutorHost>> hosts_;
  bool ended_ = false;
};

}  // namespace tenon::context
