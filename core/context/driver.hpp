// The inside of a Context: owns the schedulers, the loop that they live on, the plugin's backend
// and everything around them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "context/checkpoints.hpp"
#include "context/cleaner.hpp"
#include "context/job_waiter.hpp"
#include "context/scheduling.hpp"
#include "context/startup.hpp"
#include "events/listener_bus.hpp"
#include "events/progress_bar.hpp"
#include "events/status_source.hpp"
#include "tenon/conf.hpp"
#include "tenon/context.hpp"
#include "tenon/detail/driver.hpp"
#include "tenon/status_tracker.hpp"

namespace tenon::context {
class ActiveContext;
}

namespace tenon::detail {

// Made and started by start(); [any-thread] afterwards. An Rdd keeps it alive, stopped or not.
class Driver final : public std::enable_shared_from_this<Driver> {
 public:
  // Throws what Context's constructor documents; then nothing of it is left.
  static DriverPtr start(const Conf& conf, const Defaults& defaults, const CallSite& made_at);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Idempotent. Throws Error (invalid_argument) from a listener, a task, or a result handler of an
  // asynchronous job.
  void stop(int exit_code = 0);
  [[nodiscard]] bool stopped() const { return stopping_.load(std::memory_order_acquire); }
  // Throws when the context was stopped, or within a task.
  void check_usable() const;

  [[nodiscard]] int32_t next_rdd_id() { return next_rdd_.fetch_add(1); }
  [[nodiscard]] int32_t next_shuffle_id() { return next_shuffle_.fetch_add(1); }
  [[nodiscard]] uint64_t next_object_id() { return next_object_.fetch_add(1); }

  [[nodiscard]] const conf::Settings& settings() const { return startup_.settings; }
  [[nodiscard]] const CallSite& made_at() const { return made_at_; }
  [[nodiscard]] std::string application_id() const;
  [[nodiscard]] std::string attempt_id() const;
  [[nodiscard]] int32_t default_parallelism() const;
  [[nodiscard]] context::Scheduling& scheduling() { return *scheduling_; }
  [[nodiscard]] events::ListenerBus& bus() { return *bus_; }
  [[nodiscard]] StatusTracker status() const;

  // And, when it has succeeded, makes the checkpoints that are marked in its lineage.
  void run_job(JobSpec spec, const ResultHandler& handler);
  std::shared_ptr<JobHandle> submit_job(JobSpec spec, ResultHandler handler);
  std::shared_ptr<JobHandle> submit_map_stage(rdd::ShufflePtr shuffle, CallSite site,
                                              std::function<void(std::vector<uint64_t>)> on_bytes);
  // Any event for the DagScheduler; nothing after stop().
  void post(dag::DagEvent event);
  void cancel_all(const std::string& reason);
  // Runs on the loop's thread and waits for it; at once on that thread. Nothing when the loop has
  // stopped.
  void on_loop(const std::function<void()>& work);

  // Told by Rdds and shuffles of their end, which may come after the driver's.
  [[nodiscard]] const std::shared_ptr<context::Cleaner>& cleaner() const { return cleaner_; }
  void unpersist(const rdd::NodePtr& node);
  [[nodiscard]] context::Checkpoints& checkpoints() { return checkpoints_; }
  uint64_t add_broadcast(std::string bytes);
  // Executors drop their copies; destroyed: nobody can fetch it any more, for that reason.
  void remove_broadcast(uint64_t id, std::optional<std::string> destroyed);

  // Of the calling thread.
  [[nodiscard]] Properties& local_properties() const;
  // Calls of run_job() that wait now.
  [[nodiscard]] int waiting_jobs() const { return waiting_jobs_.load(); }

 private:
  Driver(context::Startup startup, CallSite made_at);
  void begin();
  void clean();
  void run_one_job(JobSpec spec, const ResultHandler& handler);
  void make_checkpoints(const rdd::NodePtr& node, const CallSite& site);
  template <class MakeWaiter>
  auto submit(JobSpec spec, MakeWaiter make_waiter);
  [[nodiscard]] dag::JobRequest request(JobSpec spec, int32_t id,
                                        std::shared_ptr<dag::JobListener> listener) const;
  [[nodiscard]] context::ReportHandled report_handled();
  // What an asynchronous job's handle calls.
  [[nodiscard]] std::function<void(const std::string& reason)> canceller(int32_t id);
  [[nodiscard]] Properties redacted_settings() const;

  const context::Startup startup_;
  const CallSite made_at_;
  const uint64_t serial_;  // of the driver in this process: key of the threads' local properties
  loop::SystemClock clock_;
  std::shared_ptr<context::ActiveContext> active_;
  std::shared_ptr<events::ListenerBus> bus_;
  std::shared_ptr<events::StatusStore> store_;
  std::shared_ptr<events::ProgressBar> bar_;
  std::shared_ptr<context::ResultPool> pool_;
  std::unique_ptr<context::Scheduling> scheduling_;
  const std::shared_ptr<context::Cleaner> cleaner_;
  context::Checkpoints checkpoints_;

  std::atomic<int32_t> next_rdd_{0}, next_shuffle_{0};
  std::atomic<uint64_t> next_object_{1};  // 0: none
  std::mutex submit_mutex_;               // held while a job gets its number and is posted
  int32_t next_job_ = 0;                  // guarded by submit_mutex_
  std::atomic<bool> stopping_{false};
  std::mutex stop_mutex_;  // held by the thread that stops
  bool stop_done_ = false;
  std::atomic<int> waiting_jobs_{0};
};

}  // namespace tenon::detail
