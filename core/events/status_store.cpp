#include "events/status_store.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace tenon::events {

namespace {

bool has_tag(const Properties& properties, std::string_view tag) {
  const auto found = properties.find(kJobTagsKey);
  if (found == properties.end() || tag.empty()) return false;
  std::string_view rest = found->second;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == tag) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

bool has_group(const Properties& properties, std::optional<std::string_view> group) {
  const auto found = properties.find(kJobGroupKey);
  if (found == properties.end()) return !group;
  return group && *group == found->second;
}

template <class Predicate>
std::vector<int32_t> ids_where(const std::map<int32_t, JobInfo>& jobs, Predicate predicate) {
  std::vector<int32_t> ids;
  for (const auto& [id, job] : jobs) {
    if (predicate(job)) ids.push_back(id);
  }
  return ids;
}

}  // namespace

std::vector<int32_t> StatusStore::active_job_ids() const {
  const std::lock_guard lock(mutex_);
  return ids_where(jobs_, [](const JobInfo& job) { return job.status == JobStatus::running; });
}

std::vector<int32_t> StatusStore::active_stage_ids() const {
  const std::lock_guard lock(mutex_);
  std::vector<int32_t> ids;
  for (const auto& [key, stage] : stages_) {
    if (stage.state != StageState::active) continue;
    if (ids.empty() || ids.back() != key.first) ids.push_back(key.first);
  }
  return ids;
}

std::vector<int32_t> StatusStore::job_ids_for_group(std::optional<std::string_view> group) const {
  const std::lock_guard lock(mutex_);
  return ids_where(jobs_, [&](const JobInfo& job) { return has_group(job.properties, group); });
}

std::vector<int32_t> StatusStore::job_ids_for_tag(std::string_view tag) const {
  const std::lock_guard lock(mutex_);
  return ids_where(jobs_, [&](const JobInfo& job) { return has_tag(job.properties, tag); });
}

std::vector<JobInfo> StatusStore::jobs() const {
  const std::lock_guard lock(mutex_);
  std::vector<JobInfo> all;
  all.reserve(jobs_.size());
  for (const auto& [id, job] : jobs_) all.push_back(job);
  return all;
}

std::optional<JobInfo> StatusStore::job(int32_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return std::nullopt;
  return found->second;
}

std::optional<StageProgress> StatusStore::stage(int32_t id) const {
  const std::lock_guard lock(mutex_);
  const auto* found = newest(id);
  if (found == nullptr) return std::nullopt;
  return progress(found->first, found->second);
}

std::shared_ptr<const StageInfo> StatusStore::stage_info(int32_t id) const {
  const std::lock_guard lock(mutex_);
  const auto* found = newest(id);
  return found == nullptr ? nullptr : found->second.info;
}

std::vector<StageProgress> StatusStore::active_stages() const {
  const std::lock_guard lock(mutex_);
  std::vector<StageProgress> active;
  for (const auto& [key, stage] : stages_) {
    if (stage.state == StageState::active) active.push_back(progress(key, stage));
  }
  return active;
}

std::vector<ExecutorInfo> StatusStore::executors() const {
  const std::lock_guard lock(mutex_);
  std::vector<ExecutorInfo> alive;
  alive.reserve(executor_order_.size());
  for (const std::string& id : executor_order_) alive.push_back(executors_.at(id));
  return alive;
}

std::vector<StatusStore::Executor> StatusStore::dead_executors() const {
  const std::lock_guard lock(mutex_);
  return {dead_executors_.begin(), dead_executors_.end()};
}

std::pair<size_t, size_t> StatusStore::kept() const {
  const std::lock_guard lock(mutex_);
  return {jobs_.size(), stages_.size()};
}

void StatusStore::on_job_start(const event::JobStart& e) {
  const std::lock_guard lock(mutex_);
  JobInfo job;
  job.id = e.job;
  job.call_site = e.call_site;
  job.properties = e.properties;
  for (const auto& info : e.stages) {
    job.stages.push_back(info->id);
    // A stage that an earlier job ran is as it was; this job will skip it or submit it anew.
    const auto [place, is_new] = stages_.try_emplace(StageKey{info->id, info->attempt});
    Stage& stage = place->second;
    if (is_new) stage.info = info;
    if (stage.state == StageState::ended && stage.info->submitted_ms == 0) {  // was skipped
      std::erase(ended_stages_, place->first);
      stage.state = StageState::pending;
    }
    if (stage.state == StageState::pending) ++stage.waiting_jobs;
  }
  jobs_.insert_or_assign(e.job, std::move(job));
  forget_old_jobs();
  forget_old_stages();
}

void StatusStore::on_job_end(const event::JobEnd& e) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(e.job);
  if (found == jobs_.end() || found->second.status != JobStatus::running) return;
  found->second.status = e.succeeded ? JobStatus::succeeded : JobStatus::failed;
  // Stages that nobody waits for any more were skipped.
  for (const int32_t id :
       std::set<int32_t>(found->second.stages.begin(), found->second.stages.end())) {
    const auto end = stages_.upper_bound({id, std::numeric_limits<int32_t>::max()});
    for (auto place = stages_.lower_bound({id, 0}); place != end; ++place) {
      Stage& stage = place->second;
      if (stage.state == StageState::pending && --stage.waiting_jobs <= 0) {
        end_stage(place->first, stage);
      }
    }
  }
  ended_jobs_.push_back(e.job);
  forget_old_jobs();
  forget_old_stages();
}

void StatusStore::on_stage_submitted(const event::StageSubmitted& e) {
  const std::lock_guard lock(mutex_);
  Stage& stage = stages_[{e.stage->id, e.stage->attempt}];
  if (stage.state == StageState::ended) {
    std::erase(ended_stages_, StageKey{e.stage->id, e.stage->attempt});
  }
  stage = Stage{e.stage, StageState::active, 0, 0, 0, 0};
  forget_old_stages();
}

void StatusStore::on_stage_completed(const event::StageCompleted& e) {
  const std::lock_guard lock(mutex_);
  const StageKey key{e.stage->id, e.stage->attempt};
  Stage& stage = stages_[key];
  stage.info = e.stage;
  if (stage.state != StageState::ended) end_stage(key, stage);
  forget_old_stages();
}

void StatusStore::on_task_start(const event::TaskStart& e) {
  const std::lock_guard lock(mutex_);
  if (Stage* stage = find(e.stage, e.stage_attempt)) ++stage->active;
  const auto executor = executors_.find(e.task.executor_id);
  if (executor != executors_.end()) ++executor->second.running_tasks;
}

void StatusStore::on_task_end(const event::TaskEnd& e) {
  const std::lock_guard lock(mutex_);
  // Not the end of an attempt: its output was lost later.
  if (e.reason == "Resubmitted") return;
  if (Stage* stage = find(e.stage, e.stage_attempt)) {
    stage->active = std::max(0, stage->active - 1);
    if (e.task.status == TaskStatus::succeeded) ++stage->completed;
    if (e.task.status == TaskStatus::failed) ++stage->failed;
  }
  const auto executor = executors_.find(e.task.executor_id);
  if (executor != executors_.end()) {
    executor->second.running_tasks = std::max(0, executor->second.running_tasks - 1);
  }
}

void StatusStore::on_executor_added(const event::ExecutorAdded& e) {
  const std::lock_guard lock(mutex_);
  ExecutorInfo info = e.executor;
  if (info.added_ms == 0) info.added_ms = e.time_ms;
  if (executors_.insert_or_assign(info.id, info).second) executor_order_.push_back(info.id);
}

void StatusStore::on_executor_removed(const event::ExecutorRemoved& e) {
  const std::lock_guard lock(mutex_);
  auto node = executors_.extract(e.id);
  if (node.empty()) return;
  std::erase(executor_order_, e.id);
  dead_executors_.push_back({std::move(node.mapped()), e.time_ms, e.reason});
  dead_executors_.back().info.running_tasks = 0;
  while (dead_executors_.size() > limits_.dead_executors) dead_executors_.pop_front();
}

StageProgress StatusStore::progress(const StageKey& key, const Stage& stage) {
  return {key.first,    key.second,      stage.info->name, stage.info->task_count,
          stage.active, stage.completed, stage.failed,     stage.info->submitted_ms};
}

const std::pair<const StatusStore::StageKey, StatusStore::Stage>* StatusStore::newest(
    int32_t id) const {
  auto place = stages_.upper_bound({id, std::numeric_limits<int32_t>::max()});
  if (place == stages_.begin()) return nullptr;
  --place;
  return place->first.first == id ? &*place : nullptr;
}

StatusStore::Stage* StatusStore::find(int32_t id, int32_t attempt) {
  const StageKey key{id, attempt};
  if (last_found_.second != nullptr && last_found_.first == key) return last_found_.second;
  const auto found = stages_.find(key);
  if (found == stages_.end()) return nullptr;
  last_found_ = {key, &found->second};
  return &found->second;
}

void StatusStore::end_stage(const StageKey& key, Stage& stage) {
  stage.state = StageState::ended;
  ended_stages_.push_back(key);
}

void StatusStore::forget_old_jobs() {
  while (jobs_.size() > limits_.jobs && !ended_jobs_.empty()) {
    jobs_.erase(ended_jobs_.front());
    ended_jobs_.pop_front();
  }
}

void StatusStore::forget_old_stages() {
  while (stages_.size() > limits_.stages && !ended_stages_.empty()) {
    if (last_found_.first == ended_stages_.front()) last_found_.second = nullptr;
    stages_.erase(ended_stages_.front());
    ended_stages_.pop_front();
  }
}

}  // namespace tenon::events
