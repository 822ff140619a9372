// The TaskScheduler's view of a SchedulerBackend: what the plugin's table takes, in core's types.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "task/end_reason.hpp"

namespace tenon::task {

struct Resource {
  std::string name, address;
  uint64_t amount = 0;  // thousandths
};

struct WorkerOffer {
  std::string executor_id, host, address;
  uint32_t free_cores = 0;
  uint32_t queue_slots = 0;  // launch-ahead (C29.12)
  std::vector<Resource> resources;
  std::map<std::string, std::string> attributes;
};

enum class OfferScope : uint8_t { some_executors, all_free, single_executor };

// One task for the backend to launch.
struct Launch {
  uint64_t task_id = 0;
  std::string executor_id;
  std::string name;  // "task 2.0 in stage 3.0 (TID 17)"
  uint32_t cores = 1;
  uint32_t attempt = 0;
  bool queued = false;  // takes a queue slot now, its cores when they come free
  std::vector<Resource> resources;
  std::string payload;
};

class Backend {
 public:
  Backend() = default;
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  virtual void revive_offers() = 0;
  // Answers the offer, once. On an exception nothing was launched.
  virtual void launch_tasks(uint64_t offer, std::vector<Launch> tasks) = 0;
  // Throws tenon::Error when the backend cannot. if_queued: only when it has not started.
  virtual void kill_task(uint64_t task_id, const std::string& executor_id, bool interrupt,
                         bool if_queued, const std::string& reason) = 0;
  // Asks for the end of executors that went silent (C18.12). Unsupported: false.
  virtual bool kill_executor(const std::string& executor_id, const std::string& reason) = 0;
  [[nodiscard]] virtual uint64_t max_payload_bytes() const = 0;  // 0: the setting alone
};

enum class TaskState : uint8_t { running, finished, failed, killed, lost, returned };
[[nodiscard]] constexpr bool is_terminal(TaskState state) { return state != TaskState::running; }

// A status as it comes from the backend, decoded on the thread that brought it. reason is
// meaningless while running and for lost and returned.
struct StatusUpdate {
  uint64_t task_id = 0;
  std::string executor_id;
  TaskState state = TaskState::running;
  EndReason reason = UnknownReason{};
};

struct Executor {
  std::string id, host, address;
  uint32_t incarnation = 0, cores = 0;
  std::map<std::string, std::string> attributes, log_urls;
};

struct Registration {
  bool reset = false;
  std::string app_id, attempt_id;
  uint32_t default_parallelism = 0;  // 0: max(2, total cores)
  uint32_t max_task_failures = 0;    // 0: the setting
  uint64_t max_payload_bytes = 0;
};

// What a backend brings; each is one message to the loop. Implemented by the driver, called on any
// thread.
class BackendEvents {
 public:
  BackendEvents() = default;
  virtual ~BackendEvents() = default;
  BackendEvents(const BackendEvents&) = delete;
  BackendEvents& operator=(const BackendEvents&) = delete;

  virtual void registered(Registration registration) = 0;
  virtual void ready() = 0;
  virtual void pending(std::string reason, std::string message,
                       std::map<std::string, std::string> numbers) = 0;
  virtual void executor_added(Executor executor) = 0;
  virtual void executor_decommissioning(std::string executor_id, int64_t time_left_ms,
                                        std::string message) = 0;
  virtual void executor_loss_pending(std::string executor_id, std::string message) = 0;
  virtual void executor_removed(std::string executor_id, LossReason reason) = 0;
  virtual void worker_removed(std::string worker_id, std::string host, std::string message) = 0;
  virtual void resource_offers(uint64_t offer, OfferScope scope,
                               std::vector<WorkerOffer> offers) = 0;
  virtual void status_update(std::vector<StatusUpdate> statuses) = 0;
  virtual void acknowledged(uint64_t request, bool ok, std::vector<std::string> executor_ids) = 0;
  virtual void stopped() = 0;
  virtual void failed(ErrorKind kind, std::string message) = 0;
};

}  // namespace tenon::task
