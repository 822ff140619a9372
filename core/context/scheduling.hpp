// Both schedulers, the loop that they live on and the plugin's backend: put together, started,
// taken apart.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "context/backend_relay.hpp"
#include "context/in_process_executors.hpp"
#include "context/job_waiter.hpp"
#include "context/late_submitter.hpp"
#include "context/services.hpp"
#include "context/startup.hpp"
#include "dag/dag_scheduler.hpp"
#include "events/listener_bus.hpp"
#include "events/turn_sink.hpp"
#include "loop/invariants.hpp"
#include "loop/loop.hpp"
#include "plugin/scheduler_backend.hpp"
#include "storage/block_locations_table.hpp"
#include "task/heartbeat_receiver.hpp"
#include "task/task_scheduler.hpp"

namespace tenon::context {

class Scheduling final : public task::BackendEvents {
 public:
  // bus outlives this. Throws Error: usage (settings, URL), plugin.
  Scheduling(const Startup& startup, events::ListenerBus& bus);
  ~Scheduling() override;  // stop(0)

  // Starts loop and backend and waits until the manager has accepted the application. Throws Error
  // when it has not, and (usage) when no executor that it will ever have could run a task.
  void start();
  // Waits for what C7.13 asks before the first job.
  void wait_until_ready();
  // Fails all jobs, ends executors and backend within tenon.plugin.stopTimeout in all, then the
  // loop. Idempotent. On a thread that may block, and not the loop's.
  void stop(int exit_code);

  [[nodiscard]] loop::Loop& loop() { return loop_; }
  // [any-thread]
  [[nodiscard]] dag::DagScheduler& dag() { return *dag_; }
  void post(dag::DagEvent event) { dag_->post_from_any_thread(std::move(event)); }
  // What the manager said when it accepted. [any-thread]
  [[nodiscard]] task::Registration registration() const;
  // [any-thread]
  [[nodiscard]] int32_t default_parallelism() const;
  [[nodiscard]] Services& services() { return *services_; }
  [[nodiscard]] ResultTurn& result_turn() { return result_turn_; }

  // On the loop's thread.
  [[nodiscard]] const task::TaskScheduler& tasks() const { return *tasks_; }
  void add_accumulator(dag::Accumulator accumulator) {
    dag_->accumulators().add(std::move(accumulator));
  }
  bool kill_task_attempt(uint64_t task_id, const std::string& reason);
  // Here and on all executors. No job uses it.
  void remove_shuffle(int32_t shuffle_id);
  // Here only.
  void remove_rdd(int32_t rdd_id);
  [[nodiscard]] const dag::MapOutputTracker& map_outputs() const { return tracker_; }

 private:
  // task::BackendEvents, on the loop's thread.
  void registered(task::Registration registration) override;
  void ready() override;
  void pending(std::string reason, std::string message,
               std::map<std::string, std::string> numbers) override;
  void executor_added(task::Executor executor) override;
  void executor_decommissioning(std::string executor_id, int64_t time_left_ms,
                                std::string message) override;
  void executor_loss_pending(std::string executor_id, std::string message) override;
  void executor_removed(std::string executor_id, task::LossReason reason) override;
  void worker_removed(std::string worker_id, std::string host, std::string message) override;
  void resource_offers(uint64_t offer, task::OfferScope scope,
                       std::vector<task::WorkerOffer> offers) override;
  void status_update(std::vector<task::StatusUpdate> statuses) override;
  void acknowledged(uint64_t request, bool ok, std::vector<std::string> executor_ids) override;
  void stopped() override;
  void failed(ErrorKind kind, std::string message) override;

  void check_task_fits();
  void make_backend();
  void make_schedulers();
  void make_heartbeats();
  void add_checks();
  bool take_heartbeat(const std::string& executor_id);
  bool fetch_large_value(task::StatusUpdate& status);
  void make_services();
  void on_fatal(const std::string& reason);
  [[nodiscard]] host::HostCallbacks host_callbacks();
  [[nodiscard]] executor::ExecutorHost::Setup executor_setup(host::InProcessRequest request);
  [[nodiscard]] task::Settings task_settings() const;
  [[nodiscard]] dag::Settings dag_settings() const;
  [[nodiscard]] host::AppDescription app_description() const;

  const Startup& startup_;
  const std::chrono::nanoseconds stop_timeout_;
  loop::SystemClock clock_;
  loop::ThreadLoop loop_;
  events::TurnSink sink_;
  ResultTurn result_turn_;
  dag::MapOutputTracker tracker_;
  storage::BlockLocationsTable blocks_;
  BackendRelay relay_;
  LateSubmitter submitter_;
  std::unique_ptr<dag::DagScheduler> dag_;
  std::unique_ptr<Services> services_;
  std::shared_ptr<host::HostServices> host_;
  std::unique_ptr<InProcessExecutors> executors_;
  std::unique_ptr<host::SchedulerBackend> backend_;
  std::unique_ptr<task::TaskScheduler> tasks_;
  std::unique_ptr<task::HeartbeatReceiver> heartbeats_;
  std::map<std::string, std::string> hosts_;  // of the executors that are there
  loop::Invariants invariants_;

  std::mutex stop_mutex_;  // held by the thread that stops
  bool stop_done_ = false;
  std::thread stopper_;  // stops after a fatal error; the loop's thread, then the destructor
  std::atomic<bool> loop_started_{false};

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::optional<task::Registration> registration_;
  std::shared_ptr<const Error> failure_;
  bool ready_ = false, backend_stopped_ = false;
  uint32_t total_cores_ = 0;
};

}  // namespace tenon::context
