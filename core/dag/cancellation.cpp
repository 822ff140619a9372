// What ends jobs before their time: cancellations and stages that cannot go on.
#include <utility>

#include "dag/dag_scheduler.hpp"
#include "dag/errors.hpp"
#include "dag/properties.hpp"

namespace tenon::dag {

void DagScheduler::handle(const StageCancelled& event) {
  const Stage* stage = table_.find(event.stage);
  if (stage == nullptr) {
    log(LogLevel::info, "No active jobs to kill for stage " + std::to_string(event.stage));
    return;
  }
  const std::string reason =
      event.reason ? "because " + *event.reason
                   : "because Stage " + std::to_string(event.stage) + " was cancelled";
  const std::set<int32_t> jobs = stage->jobs;
  for (const int32_t job : jobs) cancel_job(job, reason);
}

void DagScheduler::handle(const JobCancelled& event) {
  cancel_job(event.job, event.reason.value_or(std::string()));
}

void DagScheduler::handle(const JobGroupCancelled& event) {
  cancel_jobs_where("part of cancelled job group " + event.group, [&](const ActiveJob& job) {
    const auto group = job.properties->find(kJobGroup);
    return group != job.properties->end() && group->second == event.group;
  });
}

void DagScheduler::handle(const JobTagCancelled& event) {
  cancel_jobs_where("part of cancelled job tag " + event.tag, [&](const ActiveJob& job) {
    return tags_of(*job.properties).contains(event.tag);
  });
}

void DagScheduler::handle(const AllJobsCancelled& /*event*/) {
  cancel_jobs_where("as part of cancellation of all jobs", [](const ActiveJob&) { return true; });
}

template <class Match>
void DagScheduler::cancel_jobs_where(const std::string& reason, Match match) {
  for (const int32_t id : active_jobs()) {
    const ActiveJob* job = find_job(id);
    if (job != nullptr && match(*job)) cancel_job(id, reason);
  }
}

void DagScheduler::cancel_job(int32_t id, const std::string& reason) {
  ActiveJob* job = find_job(id);
  if (job == nullptr) {
    log(LogLevel::debug, "Trying to cancel job " + std::to_string(id) + ", which is not active");
    return;
  }
  std::string text = "Job " + std::to_string(id) + " cancelled";
  if (!reason.empty()) text += " " + reason;
  fail_job(*job, std::make_shared<const Error>(ErrorKind::cancelled, text),
           Unkillable::job_goes_on);
}

// Ends the running stages that only this job needs. False: the backend cannot kill tasks, and the
// job goes on as if nobody had asked.
bool DagScheduler::cancel_independent_stages(const ActiveJob& job, const std::string& reason,
                                             Unkillable unkillable) {
  bool begun = false;
  for (const int32_t id : table_.stages_of(job.id)) {
    Stage& stage = *table_.find(id);
    if (stage.jobs.size() != 1 || !table_.running.contains(id)) continue;
    try {
      submitter_.cancel_tasks(id, reason);
    } catch (const Error& error) {
      log(LogLevel::warning,
          "Could not cancel tasks for stage " + std::to_string(id) + ": " + error.what());
      if (unkillable == Unkillable::job_goes_on && !begun) return false;
    }
    begun = true;
    mark_finished(stage, reason);
  }
  return true;
}

void DagScheduler::handle(const TaskSetFailed& event) {
  if (Stage* stage = table_.find(event.set->stage_id)) {
    abort_stage(*stage, event.reason, event.cause);
  }
}

void DagScheduler::handle(const StageFailed& event) {
  if (Stage* stage = table_.find(event.stage)) abort_stage(*stage, event.reason, event.cause);
}

// Fails all jobs that need the stage; it is gone afterwards.
void DagScheduler::abort_stage(Stage& stage, const std::string& reason,
                               std::shared_ptr<const Error> cause) {
  const std::set<int32_t> jobs = stage.jobs;
  for (const int32_t id : jobs) {
    ActiveJob* job = find_job(id);
    if (job == nullptr) continue;
    std::string text = "Job aborted due to stage failure: " + reason;
    if (const std::string site = job->call_site.text(); !site.empty()) {
      text += "\n  in job " + std::to_string(id) + ": " + site;
    }
    fail_job(*job,
             std::make_shared<const Error>(job_error_kind(cause.get()), std::move(text), cause),
             Unkillable::job_fails);
  }
}

}  // namespace tenon::dag
