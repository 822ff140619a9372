#include "tenon/status_tracker.hpp"

#include <utility>

#include "events/status_source.hpp"

namespace tenon {

StatusTracker::StatusTracker(std::shared_ptr<const events::StatusSource> source)
    : source_(std::move(source)) {}
StatusTracker::~StatusTracker() = default;
StatusTracker::StatusTracker(const StatusTracker&) = default;
StatusTracker& StatusTracker::operator=(const StatusTracker&) = default;
StatusTracker::StatusTracker(StatusTracker&&) noexcept = default;
StatusTracker& StatusTracker::operator=(StatusTracker&&) noexcept = default;

std::vector<int32_t> StatusTracker::active_job_ids() const {
  return source_->settled().active_job_ids();
}
std::vector<int32_t> StatusTracker::active_stage_ids() const {
  return source_->settled().active_stage_ids();
}
std::vector<int32_t> StatusTracker::job_ids_for_group(std::optional<std::string_view> group) const {
  return source_->settled().job_ids_for_group(group);
}
std::vector<int32_t> StatusTracker::job_ids_for_tag(std::string_view tag) const {
  return source_->settled().job_ids_for_tag(tag);
}
std::optional<JobInfo> StatusTracker::job_info(int32_t job) const {
  return source_->settled().job(job);
}
std::optional<StageProgress> StatusTracker::stage_info(int32_t stage) const {
  return source_->settled().stage(stage);
}
std::vector<ExecutorInfo> StatusTracker::executor_infos() const {
  return source_->settled().executors();
}

}  // namespace tenon
