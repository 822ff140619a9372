// What the events say about jobs, stages and executors, kept for the status tracker and the
// progress bar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/listener.hpp"
#include "tenon/status.hpp"

namespace tenon::events {

inline constexpr const char* kJobGroupKey = "tenon.jobGroup.id";
inline constexpr const char* kJobTagsKey = "tenon.job.tags";  // separated by commas

// Belongs into Group::app_status. One thread writes (the queue's); readers on any thread. Per-task
// records are not kept, only counts, so that memory does not grow with tasks.
class StatusStore final : public Listener {
 public:
  // How many are kept; the oldest that have ended go first, what is active never (C24.6).
  struct Limits {
    size_t jobs = 1000;           // tenon.ui.retainedJobs
    size_t stages = 1000;         // tenon.ui.retainedStages, attempts
    size_t dead_executors = 100;  // tenon.ui.retainedDeadExecutors
  };

  struct Executor {
    ExecutorInfo info;
    int64_t removed_ms = 0;      // 0: alive
    std::string removed_reason;  // empty: alive
  };

  StatusStore() : StatusStore(Limits()) {}
  explicit StatusStore(Limits limits) : limits_(limits) {}

  // Ids rise; [any-thread] all down to the events.
  [[nodiscard]] std::vector<int32_t> active_job_ids() const;
  [[nodiscard]] std::vector<int32_t> active_stage_ids() const;
  // No group: the jobs that have none.
  [[nodiscard]] std::vector<int32_t> job_ids_for_group(std::optional<std::string_view> group) const;
  [[nodiscard]] std::vector<int32_t> job_ids_for_tag(std::string_view tag) const;
  [[nodiscard]] std::vector<JobInfo> jobs() const;
  [[nodiscard]] std::optional<JobInfo> job(int32_t id) const;
  // Of the newest attempt.
  [[nodiscard]] std::optional<StageProgress> stage(int32_t id) const;
  [[nodiscard]] std::shared_ptr<const StageInfo> stage_info(int32_t id) const;
  // Submitted and not completed, in order of their ids.
  [[nodiscard]] std::vector<StageProgress> active_stages() const;
  // Alive, in the order in which they came.
  [[nodiscard]] std::vector<ExecutorInfo> executors() const;
  // In the order in which they went.
  [[nodiscard]] std::vector<Executor> dead_executors() const;
  // Jobs and stage attempts that are kept.
  [[nodiscard]] std::pair<size_t, size_t> kept() const;

  void on_job_start(const event::JobStart& e) override;
  void on_job_end(const event::JobEnd& e) override;
  void on_stage_submitted(const event::StageSubmitted& e) override;
  void on_stage_completed(const event::StageCompleted& e) override;
  void on_task_start(const event::TaskStart& e) override;
  void on_task_end(const event::TaskEnd& e) override;
  void on_executor_added(const event::ExecutorAdded& e) override;
  void on_executor_removed(const event::ExecutorRemoved& e) override;

 private:
  using StageKey = std::pair<int32_t, int32_t>;  // id, attempt
  enum class StageState : uint8_t { pending, active, ended };
  struct Stage {
    std::shared_ptr<const StageInfo> info;
    StageState state = StageState::pending;
    int32_t active = 0, completed = 0, failed = 0;
    int32_t waiting_jobs = 0;  // active jobs that name it, while it is pending
  };

  [[nodiscard]] static StageProgress progress(const StageKey& key, const Stage& stage);
  [[nodiscard]] const std::pair<const StageKey, Stage>* newest(int32_t id) const;
  Stage* find(int32_t id, int32_t attempt);
  void end_stage(const StageKey& key, Stage& stage);
  void forget_old_jobs();
  void forget_old_stages();

  const Limits limits_;

  mutable std::mutex mutex_;  // guards all below
  std::map<int32_t, JobInfo> jobs_;
  std::deque<int32_t> ended_jobs_;
  std::map<StageKey, Stage> stages_;
  std::deque<StageKey> ended_stages_;
  std::pair<StageKey, Stage*> last_found_{{-1, -1}, nullptr};  // task events come in runs
  std::unordered_map<std::string, ExecutorInfo> executors_;
  std::vector<std::string> executor_order_;
  std::deque<Executor> dead_executors_;
};

}  // namespace tenon::events
