// Runs core's Executor under a plugin's executor backend: registration first, tasks after it
// (contract C17.1).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "executor/executor.hpp"
#include "loop/loop.hpp"
#include "plugin/executor_backend.hpp"
#include "plugin/gate.hpp"

namespace tenon::executor {

struct ExecutorParts {
  task::BlockManagerId location;           // with the endpoint of the executor's own service
  std::shared_ptr<TaskServices> services;  // and all that it refers to
};

// Orders come on any thread and go to the executor's own loop, launches and kills straight to the
// Executor. Exit cases: contract S003-059..063.
class ExecutorHost final : public host::ExecutorEvents, public StatusSink {
 public:
  struct Setup {
    host::ExecutorBackendSetup backend;
    ExecutorOptions options;
    // Makes what the tasks use and introduces the executor to the driver's service; called on the
    // executor's own thread before the backend starts. Throws when it cannot.
    std::function<ExecutorParts()> parts;
    std::function<void(const std::string&)> log;  // [any-thread]
    bool in_process = true;
    std::chrono::nanoseconds stop_timeout;  // tenon.plugin.stopTimeout
  };

  explicit ExecutorHost(Setup setup);
  ~ExecutorHost() override;  // end()

  // Begins: create() and start() of the backend follow on the executor's thread.
  void start();
  // Orders the end when nobody has, waits for it until the deadline (default: the stop timeout from
  // now), and takes everything apart. False when the code of a task runs on: nothing of it reaches
  // the backend any more, but its thread uses this object, which must not be destroyed then.
  // Idempotent; on a thread that may block.
  bool end() { return end(std::chrono::steady_clock::now() + setup_.stop_timeout); }
  bool end(std::chrono::steady_clock::time_point deadline);

  void registered() override;
  void launch_tasks(std::vector<host::LaunchedTask> tasks) override;
  void kill_task(uint64_t task_id, bool interrupt, bool if_queued, std::string reason) override;
  void shutdown(int32_t exit_code, std::string reason) override;
  void failed(ErrorKind kind, std::string message) override;
  void stopped() override;

  void status_update(std::vector<Status> statuses) override;

 private:
  // The executor goes before what its tasks use.
  struct Running {
    ExecutorParts parts;
    std::unique_ptr<Executor> executor;
  };

  void create();
  void make_executor();
  void begin_shutdown(const std::string& reason);
  void exit(int exit_code, bool tell_driver, const std::string& reason);
  void finish();

  Setup setup_;
  loop::SystemClock clock_;
  loop::ThreadLoop loop_;
  std::unique_ptr<host::ExecutorBackend> backend_;
  ExecutorParts parts_;                       // the loop's thread, but for end()
  std::shared_ptr<Running> running_;          // likewise
  std::atomic<Executor*> executor_{nullptr};  // once it takes orders
  host::Gate sink_;                           // statuses reach the backend
  bool shutting_down_ = false;                // the loop's thread
  std::thread joiner_;                        // waits for the executor's threads

  std::mutex mutex_;  // guards the two below
  std::condition_variable changed_;
  bool finished_ = false;
  bool ended_ = false;
};

}  // namespace tenon::executor
