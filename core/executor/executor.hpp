// Runs the tasks that a backend brings, on threads of its own. Does not know under which manager
// (contract C17).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/task_services.hpp"
#include "executor/task_table.hpp"

namespace tenon::executor {

// Functions are [any-thread] unless they say otherwise.
class Executor {
 public:
  // heartbeat_failed: the driver has not answered tenon.executor.heartbeat.maxFailures heartbeats
  // in a row; called once, on the thread that brought the last answer; it may not destroy the
  // executor (the executor's process then ends with exit code 56). services and sink outlive the
  // executor.
  Executor(ExecutorOptions options, TaskServices& services, StatusSink& sink,
           std::function<void()> heartbeat_failed = nullptr);
  ~Executor();  // shutdown() and join()
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  void launch_tasks(std::vector<LaunchedTask> tasks);
  // A running task is asked to end, whatever `interrupt` says: a C++ thread cannot be interrupted,
  // and TaskContext::killed() tells its code. Its attempt ends as killed also when the code takes
  // no notice and returns (C17.4). if_queued: a task that has not started goes back, one that runs
  // runs on.
  void kill_task(uint64_t task_id, bool interrupt, bool if_queued, const std::string& reason);

  // Ends all tasks as killed; returns at once. Idempotent.
  void shutdown(const std::string& reason);
  // Waits for the end of the threads after shutdown(): for the code of running tasks. All statuses
  // have been sent then. Idempotent; not on a thread of the executor.
  void join();

  [[nodiscard]] std::vector<std::pair<uint64_t, TaskMetrics>> running() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenon::executor
