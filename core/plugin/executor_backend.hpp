// The executor's half of a plugin, as core's Executor uses it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/host_services.hpp"
#include "plugin/in_process.hpp"
#include "plugin/master_url.hpp"
#include "task/backend.hpp"
#include "tenon/plugin/abi.h"
#include "tenon/plugin/buffer.hpp"

namespace tenon::host {

// A task that has reached its executor.
struct LaunchedTask {
  uint64_t id = 0;
  std::string name;
  uint32_t cores = 1, attempt = 0;
  bool queued = false;  // waits for its cores
  std::vector<task::Resource> resources;
  plugin::Buffer payload;  // payload.bytes(); released when the task is destroyed
};

// Orders to the executor. [any-thread]: each posts and returns.
class ExecutorEvents {
 public:
  ExecutorEvents() = default;
  virtual ~ExecutorEvents() = default;
  ExecutorEvents(const ExecutorEvents&) = delete;
  ExecutorEvents& operator=(const ExecutorEvents&) = delete;

  // The driver has accepted: make the Executor, then executor_ready().
  virtual void registered() = 0;
  virtual void launch_tasks(std::vector<LaunchedTask> tasks) = 0;
  // if_queued: only when it has not started; its status is then RETURNED.
  virtual void kill_task(uint64_t task_id, bool interrupt, bool if_queued, std::string reason) = 0;
  // Tasks end, stop() follows; a process of its own ends with exit_code.
  virtual void shutdown(int32_t exit_code, std::string reason) = 0;
  // The executor ends with exit code 1.
  virtual void failed(ErrorKind kind, std::string message) = 0;
  // Last.
  virtual void stopped() = 0;
};

struct ExecutorStatus {
  uint64_t task_id = 0;
  task::TaskState state = task::TaskState::running;
  std::string data;
};

struct ExecutorBackendSetup {
  tenon_executor_backend_api api{};    // complete: LoadedPlugin's, or of an InProcessRequest
  std::shared_ptr<HostServices> host;  // this instance's own
  MasterUrl master;
  std::string bootstrap{};
  ExecutorSpec executor{};
  std::chrono::nanoseconds stop_timeout{};  // tenon.plugin.stopTimeout
};

// Owns one instance of a plugin's tenon.executor-backend/1. On the executor's thread, but for
// status_update and destroy.
class ExecutorBackend {
 public:
  // Calls create(). events outlives this. Throws Error.
  ExecutorBackend(ExecutorBackendSetup setup, ExecutorEvents& events);
  ~ExecutorBackend();  // destroy()
  ExecutorBackend(const ExecutorBackend&) = delete;
  ExecutorBackend& operator=(const ExecutorBackend&) = delete;

  // registered() or failed() follows. Throws Error.
  void start();
  // The driver may offer the executor's cores from now on. Throws Error.
  void executor_ready();
  // Not after stop(). An error of the plugin is logged. [any-thread]
  void status_update(std::vector<ExecutorStatus> statuses);
  // stopped() follows. An error of the plugin is logged, and false is returned: nothing follows
  // then. Idempotent.
  bool stop();
  // The executor ends itself. Returns whether the process is to end: never in an in-process
  // executor. stop() follows.
  bool exit_executor(int32_t exit_code, bool tell_driver, const std::string& reason,
                     bool in_process);
  // As of SchedulerBackend. On a thread that may block, when no other call is under way.
  bool destroy();

 private:
  struct Instance;
  std::shared_ptr<Instance> instance_;  // shared with the thread that destroys it
  bool stopping_ = false;
};

}  // namespace tenon::host
