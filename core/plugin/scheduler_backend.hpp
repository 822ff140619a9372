// The driver's half of a plugin, as the TaskScheduler uses it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/app.hpp"
#include "plugin/host_services.hpp"
#include "plugin/loaded_plugin.hpp"
#include "plugin/master_url.hpp"
#include "plugin/scheduler_events.hpp"
#include "task/backend.hpp"

namespace tenon::host {

struct SchedulerBackendSetup {
  LoadedPlugin plugin;
  std::shared_ptr<HostServices> host;  // this instance's own
  MasterUrl master;
  AppDescription app{};
  std::string bootstrap{};  // opaque and secret
  StatusDecoder decoder{};
  std::chrono::nanoseconds stop_timeout{};  // tenon.plugin.stopTimeout
};

// Owns one instance of a plugin's tenon.scheduler-backend/1. All but destroy() and the constructor
// on the loop's thread. What the plugin posts goes to `events` on the plugin's thread; a malformed
// event is logged as misbehaviour and dropped.
class SchedulerBackend final : public task::Backend {
 public:
  // Calls create(). events outlives this. Throws Error: usage when the URL or a setting is wrong,
  // else plugin.
  SchedulerBackend(SchedulerBackendSetup setup, task::BackendEvents& events);
  ~SchedulerBackend() override;  // destroy()

  // registered() or failed() follows. Throws Error.
  void start();
  // After start(); stopped() follows. Logs an error of the plugin. Idempotent.
  void stop(int exit_code);
  // After stopped(), without it when the time for stopping is over, or without start(): ends the
  // instance. False when the plugin was not done within the time (default: the stop timeout); it is
  // left behind, and nothing of it reaches core any more. Idempotent. On a thread that may block,
  // when no other call is under way.
  bool destroy(std::optional<std::chrono::nanoseconds> timeout = std::nullopt);

  void revive_offers() override;
  void launch_tasks(uint64_t offer, std::vector<task::Launch> tasks) override;
  void kill_task(uint64_t task_id, const std::string& executor_id, bool interrupt, bool if_queued,
                 const std::string& reason) override;
  bool kill_executor(const std::string& executor_id, const std::string& reason) override;
  [[nodiscard]] uint64_t max_payload_bytes() const override;

 private:
  struct Instance;
  std::shared_ptr<Instance> instance_;  // shared with the thread that destroys it
  std::vector<tenon_task> launch_;      // kept for its memory
  uint64_t last_request_ = 0;
  bool stopping_ = false;
};

}  // namespace tenon::host
