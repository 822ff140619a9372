/// @file status_tracker.hpp
/// How jobs and stages of a running application stand: low-level, for monitoring from within the
/// program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/status.hpp"

namespace tenon {

namespace events {
class StatusSource;
}

/// Answers from what the application's events said. A call first waits until the events of
/// everything that happened before it have arrived (microseconds as a rule, two seconds at most),
/// so that a job is known as soon as its submit has returned, and ended once its action has. Ended
/// jobs and stages are kept up to `tenon.ui.retainedJobs` and `tenon.ui.retainedStages`. A cheap
/// value; may be used by any thread, and after the Context was stopped.
class TENON_API StatusTracker {
 public:
  /// Made by Context::status_tracker().
  explicit StatusTracker(std::shared_ptr<const events::StatusSource> source);
  ~StatusTracker();
  StatusTracker(const StatusTracker&);
  StatusTracker& operator=(const StatusTracker&);
  StatusTracker(StatusTracker&&) noexcept;
  StatusTracker& operator=(StatusTracker&&) noexcept;

  /// Jobs that run, in order of their ids.
  [[nodiscard]] std::vector<int32_t> active_job_ids() const;
  /// Stages that were submitted and have not completed, in order of their ids.
  [[nodiscard]] std::vector<int32_t> active_stage_ids() const;
  /// Known jobs of a group, ended ones included; without a group: the jobs that have none.
  [[nodiscard]] std::vector<int32_t> job_ids_for_group(std::optional<std::string_view> group) const;
  /// Known jobs with a tag, ended ones included.
  [[nodiscard]] std::vector<int32_t> job_ids_for_tag(std::string_view tag) const;
  /// A job; nothing when it is unknown or no longer kept.
  [[nodiscard]] std::optional<JobInfo> job_info(int32_t job) const;
  /// The newest attempt of a stage; nothing when it is unknown or no longer kept.
  [[nodiscard]] std::optional<StageProgress> stage_info(int32_t stage) const;
  /// Executors that are alive, with their running tasks.
  [[nodiscard]] std::vector<ExecutorInfo> executor_infos() const;

 private:
  std::shared_ptr<const events::StatusSource> source_;
};

}  // namespace tenon
