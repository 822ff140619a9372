// Cuts jobs into stages at shuffles, submits the stages that miss outputs, and recovers what
// executors take with them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dag/accumulators.hpp"
#include "dag/events.hpp"
#include "dag/map_output_tracker.hpp"
#include "dag/preferred_locations.hpp"
#include "dag/stage_table.hpp"
#include "events/event_sink.hpp"
#include "loop/loop.hpp"
#include "rdd/stage_graph.hpp"
#include "storage/block_locations.hpp"
#include "task/task_submitter.hpp"

namespace tenon::dag {

struct Settings {
  int32_t max_consecutive_stage_attempts = 4;  // tenon.stage.maxConsecutiveAttempts
  int32_t max_stage_attempts = std::numeric_limits<int32_t>::max();  // tenon.stage.maxAttempts
  loop::Duration resubmit_delay = std::chrono::milliseconds(200);
  bool unregister_output_on_host = false;  // tenon.files.fetchFailure.unRegisterOutputOnHost
  bool external_shuffle_service = false;   // tenon.shuffle.service.enabled
  bool reduce_locality = true;             // tenon.shuffle.reduceLocality.enabled
  size_t large_binary_bytes = 1000 * 1024;
};

enum class LogLevel : uint8_t { debug, info, warning, error };

// What the scheduler asks of its surroundings. Each may be empty.
struct Hooks {
  std::function<void(LogLevel, const std::string&)> log;
  // A handler threw: all jobs have been cancelled. Must stop the context, from another thread
  // (C1.3).
  std::function<void(const std::string& reason)> on_fatal;
  rdd::OperatorKnown operator_known;
};

// Sizes of the bookkeeping; all 0 when no job is active (C1.5).
struct Sizes {
  size_t jobs = 0, job_stages = 0, stages = 0, shuffle_stages = 0;
  size_t waiting = 0, running = 0, failed = 0, timers = 0;
  friend bool operator==(const Sizes&, const Sizes&) = default;
};

// Lives on the loop's thread [scheduler-thread] except where a function says [any-thread].
// Everything enters as an event and is handled in post order, one at a time: post() puts it into an
// inbox and posts one drain() a batch to the loop, so nothing is handled on the caller's stack. All
// that it is made from outlives it. Barrier stages do not exist. Indeterminate stages are not
// supported: every stage is taken to give the same records whenever it runs (C4.11).
class DagScheduler final : public task::DagEvents {
 public:
  DagScheduler(loop::Loop& loop, task::TaskSubmitter& submitter, MapOutputTracker& tracker,
               storage::BlockLocations& blocks, events::EventSink& sink, Settings settings = {},
               Hooks hooks = {});
  ~DagScheduler() override;

  // Checks the partitions (C2.3), computes those of all ancestors on the caller's thread (C2.5) and
  // posts the job. An empty list of partitions gives the job's start and end events, and
  // job_succeeded, and nothing else (C2.4). Throws tenon::Error (invalid_argument), and what
  // computing partitions throws; then there is no job. [any-thread]
  void submit_job(JobRequest request);
  // The same for one shuffle; a parent without partitions is an error (C2.18). [any-thread]
  void submit_map_stage(MapStageRequest request);
  // Posts any event, in the order of the calls of one thread. [any-thread]
  void post_from_any_thread(DagEvent event);

  // Appends to the inbox.
  void post(DagEvent event);
  // Handles all that is in the inbox; the loop calls it after post(). Nothing when it runs already.
  void drain();
  // Fails all jobs; what is queued or comes later is dropped, and jobs among it fail too (C1.4).
  // Starts and ends of attempts among what is queued still reach the listeners. Idempotent.
  void stop();

  // Ids that tasks carry; known once the backend has registered.
  void set_application(std::string app_id, std::string attempt_id);
  [[nodiscard]] Accumulators& accumulators() { return accumulators_; }
  [[nodiscard]] Sizes sizes() const;
  [[nodiscard]] std::vector<int32_t> active_jobs() const;
  // Running ones.
  [[nodiscard]] std::vector<int32_t> active_stages() const;
  [[nodiscard]] std::vector<task::Location> preferred_locations(const rdd::NodePtr& node,
                                                                int32_t partition);

  void task_started(const task::TaskSetPtr& set, const task::TaskSpec& task,
                    const TaskInfo& info) override;
  void task_getting_result(const task::TaskSetPtr& set, const TaskInfo& info) override;
  void task_ended(const task::TaskSetPtr& set, const task::TaskSpec& task, const TaskInfo& info,
                  task::EndReason reason) override;
  void task_set_failed(const task::TaskSetPtr& set, const std::string& reason,
                       std::shared_ptr<const Error> cause) override;
  void executor_added(const std::string& executor_id, const std::string& host) override;
  void executor_lost(const std::string& executor_id, const task::LossReason& reason) override;
  void worker_removed(const std::string& worker_id, const std::string& host,
                      const std::string& message) override;

 private:
  struct ActiveJob {
    int32_t id = 0;
    CallSite call_site;
    std::shared_ptr<const Properties> properties;
    std::shared_ptr<JobListener> listener;
    std::function<void(MapOutputStatistics)> on_statistics;  // map-stage jobs
    int32_t final_stage = 0;
    int32_t unhandled = 0;          // positions whose result is not handled yet
    bool computing = true;          // stages are still needed
    std::vector<bool> handing_out;  // positions that a result handler has; empty until it is needed
  };

  // How a job that fails deals with a backend that cannot kill tasks (C2.12).
  enum class Unkillable : uint8_t { job_goes_on, job_fails };

  // jobs.cpp
  void handle(JobSubmitted& event);
  void handle(MapStageSubmitted& event);
  void handle(const ResultHandled& event);
  void handle(const ResultHandlerFailed& event);
  template <class Request>
  ActiveJob& start_job(const Request& request, const Stage& final_stage);
  void reject_job(int32_t job, JobListener& listener);
  void deliver(ActiveJob& job, ResultStage& stage, int32_t position, std::string value);
  void finish_positions(ActiveJob& job, ResultStage& stage);
  void finish_map_stage_jobs(ShuffleMapStage& stage);
  bool fail_job(ActiveJob& job, std::shared_ptr<const Error> error, Unkillable unkillable);
  void end_job(int32_t id, std::shared_ptr<const Error> error);
  void post_job_end(int32_t job, const std::string& failure);

  // cancellation.cpp
  void handle(const StageCancelled& event);
  void handle(const JobCancelled& event);
  void handle(const JobGroupCancelled& event);
  void handle(const JobTagCancelled& event);
  void handle(const AllJobsCancelled& event);
  void handle(const TaskSetFailed& event);
  void handle(const StageFailed& event);
  void cancel_job(int32_t id, const std::string& reason);
  template <class Match>
  void cancel_jobs_where(const std::string& reason, Match match);
  bool cancel_independent_stages(const ActiveJob& job, const std::string& reason,
                                 Unkillable unkillable);
  void abort_stage(Stage& stage, const std::string& reason, std::shared_ptr<const Error> cause);

  // submission.cpp
  void submit_stage(int32_t id);
  void submit_waiting_children(int32_t parent);
  [[nodiscard]] std::vector<int32_t> missing_parents(Stage& stage, int32_t job);
  [[nodiscard]] bool fully_cached(const rdd::Node& node);
  const CachedLocations* cached_locations(const rdd::Node& node);
  void submit_missing_tasks(Stage& stage, const ActiveJob& job);
  void begin_attempt(Stage& stage, const ActiveJob& job, size_t missing,
                     const std::vector<task::TaskSpec>& tasks);
  void finish_empty_attempt(Stage& stage);
  [[nodiscard]] std::vector<task::TaskSpec> make_tasks(const Stage& stage,
                                                       const std::vector<int32_t>& missing);
  [[nodiscard]] std::shared_ptr<const task::StageBinary> encode(const Stage& stage,
                                                                const ActiveJob& job) const;
  void mark_finished(Stage& stage, const std::optional<std::string>& failure);

  // completion.cpp
  void handle(BeginEvent& event);
  void handle(GettingResultEvent& event);
  void handle(CompletionEvent& event);
  void merge_accumulators(Stage& stage, const CompletionEvent& event);
  void post_task_end(CompletionEvent& event);
  void resubmitted(ShuffleMapStage& stage, const CompletionEvent& event,
                   const std::string& lost_executor);
  void task_succeeded(Stage& stage, CompletionEvent& event);
  void map_task_succeeded(ShuffleMapStage& stage, const CompletionEvent& event);
  void map_stage_done(ShuffleMapStage& stage);

  // failures.cpp
  void fetch_failed(Stage& stage, const CompletionEvent& event, const task::FetchFailed& failure);
  void handle(const ResubmitFailedStages& event);
  void handle(const ExecutorAdded& event);
  void handle(const ExecutorLost& event);
  void handle(const WorkerRemoved& event);
  void remove_executor(const std::string& executor_id, bool files_lost,
                       const std::optional<std::string>& host, uint64_t epoch);
  void schedule_resubmit();
  void cancel_idle_resubmit();

  // dag_scheduler.cpp
  void handle_guarded(DagEvent& event);
  void on_handler_error(const std::string& what);
  void stop_now();
  void announce_task(DagEvent& event);
  void fail_everything(ErrorKind kind, const std::string& reason);
  void log(LogLevel level, const std::string& text) const;
  [[nodiscard]] int64_t now_ms() const { return loop_.clock().wall_ms(); }
  [[nodiscard]] ActiveJob* find_job(int32_t id);

  loop::Loop& loop_;
  task::TaskSubmitter& submitter_;
  MapOutputTracker& tracker_;
  storage::BlockLocations& blocks_;
  events::EventSink& sink_;
  const Settings settings_;
  const Hooks hooks_;

  std::vector<DagEvent> inbox_;
  bool drain_posted_ = false, draining_ = false, stop_wanted_ = false, stopped_ = false;
  std::shared_ptr<DagScheduler*> self_;  // held weakly by what is posted to the loop

  std::string app_id_, app_attempt_id_;
  std::map<int32_t, ActiveJob> jobs_;
  StageTable table_;
  Accumulators accumulators_;
  std::unordered_map<int32_t, CachedLocations> cached_;  // by Rdd; asked once between clearings
  loop::TimerId resubmit_timer_ = 0;
  // The highest epoch of the tracker for which the loss of an executor, or of its shuffle files,
  // was handled (C5.2).
  std::unordered_map<std::string, uint64_t> executor_lost_epoch_, files_lost_epoch_;
};

}  // namespace tenon::dag
