// How jobs begin, get their results and end.
#include <utility>

#include "dag/dag_scheduler.hpp"
#include "dag/errors.hpp"
#include "dag/properties.hpp"

namespace tenon::dag {

namespace {

void check_partitions(const JobRequest& request) {
  const int32_t total = request.node->partition_count();
  for (const int32_t partition : request.partitions) {
    if (partition >= 0 && partition < total) continue;
    throw Error(ErrorKind::invalid_argument,
                "Attempting to access a non-existent partition: " + std::to_string(partition) +
                    ". Total number of partitions: " + std::to_string(total));
  }
}

// True when the property had neither "true" nor "false" and now has the default.
bool repair_interrupt_flag(Properties& properties) {
  const auto flag = properties.find(kInterruptOnCancel);
  if (flag == properties.end() || flag->second == "true" || flag->second == "false") return false;
  flag->second = "false";
  return true;
}

std::string job_name(int32_t id, const CallSite& site) {
  const std::string text = site.text();
  return "job " + std::to_string(id) + (text.empty() ? std::string() : " (" + text + ")");
}

}  // namespace

void DagScheduler::submit_job(JobRequest request) {
  rdd::compute_partitions(request.node);
  check_partitions(request);
  if (!request.partitions.empty()) {
    post_from_any_thread(JobSubmitted{Pending(std::move(request))});
    return;
  }
  const std::weak_ptr<DagScheduler*> weak = self_;
  loop_.post([weak, pending = Pending(std::move(request))]() mutable {
    const auto self = weak.lock();
    if (!self || (*self)->stopped_) return;  // pending fails the job
    const auto job = pending.take();
    const int64_t now = (*self)->now_ms();
    (*self)->sink_.post(event::JobStart{job->id, now, {}, job->properties, job->call_site});
    (*self)->sink_.post(event::JobEnd{job->id, now, true, {}});
    job->listener->job_succeeded();
  });
}

void DagScheduler::submit_map_stage(MapStageRequest request) {
  rdd::compute_partitions(request.shuffle->parent);
  if (request.shuffle->parent->partition_count() == 0) {
    throw Error(ErrorKind::invalid_argument,
                "Can't run submitMapStage on an Rdd with 0 partitions: shuffle " +
                    std::to_string(request.shuffle->shuffle_id));
  }
  post_from_any_thread(MapStageSubmitted{Pending(std::move(request))});
}

void DagScheduler::handle(JobSubmitted& event) {
  const std::shared_ptr<const JobRequest> request = event.request.take();
  ResultStage* stage = nullptr;
  try {
    stage = &table_.create_result_stage(request);
  } catch (...) {
    reject_job(request->id, *request->listener);
    return;
  }
  ActiveJob& job = start_job(*request, *stage);
  job.unhandled = stage->positions();
  submit_stage(stage->id());
}

void DagScheduler::handle(MapStageSubmitted& event) {
  const std::shared_ptr<const MapStageRequest> request = event.request.take();
  ShuffleMapStage* stage = nullptr;
  try {
    stage = &table_.map_stage_for(request->shuffle, request->id);
  } catch (...) {
    reject_job(request->id, *request->listener);
    return;
  }
  ActiveJob& job = start_job(*request, *stage);
  job.on_statistics = request->on_statistics;
  stage->map_stage_jobs.insert(request->id);
  if (stage->available()) {
    finish_map_stage_jobs(*stage);
  } else {
    submit_stage(stage->id());
  }
}

void DagScheduler::reject_job(int32_t job, JobListener& listener) {
  const std::shared_ptr<const Error> error = current_error();
  table_.release_job(job);
  log(LogLevel::warning,
      "Creating the stages of job " + std::to_string(job) + " failed: " + error->what());
  listener.job_failed(error);
}

template <class Request>
DagScheduler::ActiveJob& DagScheduler::start_job(const Request& request, const Stage& final_stage) {
  cached_.clear();
  ActiveJob& job = jobs_[request.id];
  job.id = request.id;
  job.call_site = request.call_site;
  job.listener = request.listener;
  job.final_stage = final_stage.id();
  auto properties = std::make_shared<Properties>(request.properties);
  if (repair_interrupt_flag(*properties)) {
    log(LogLevel::warning, "Job " + std::to_string(job.id) + ": " + kInterruptOnCancel +
                               " is neither true nor false, so it counts as false");
  }
  job.properties = std::move(properties);

  event::JobStart start{job.id, now_ms(), {}, *job.properties, job.call_site};
  for (const int32_t id : table_.stages_of(job.id)) {
    start.stages.push_back(table_.find(id)->snapshot());
  }
  log(LogLevel::info, "Got " + job_name(job.id, job.call_site) + " with " +
                          std::to_string(final_stage.info().task_count) + " output partitions, " +
                          std::to_string(start.stages.size()) + " stages, final stage " +
                          final_stage.describe());
  sink_.post(std::move(start));
  return job;
}

// The first result of a position; the stage is gone when it was the last one.
void DagScheduler::deliver(ActiveJob& job, ResultStage& stage, int32_t position,
                           std::string value) {
  stage.set_finished(position);
  bool handled = false;
  try {
    handled = job.listener->task_succeeded(position, std::move(value));
  } catch (...) {
    handle(ResultHandlerFailed{job.id, position, current_error()});
    return;
  }
  if (handled) {
    --job.unhandled;
  } else {
    job.handing_out.resize(static_cast<size_t>(stage.positions()));
    job.handing_out[static_cast<size_t>(position)] = true;
  }
  if (stage.all_finished()) finish_positions(job, stage);
  if (job.unhandled == 0) end_job(job.id, nullptr);
}

// The job needs no more tasks; results may still be with the user's handler.
void DagScheduler::finish_positions(ActiveJob& job, ResultStage& stage) {
  const int32_t id = stage.id();
  mark_finished(stage, std::nullopt);
  cancel_independent_stages(job, "Job " + std::to_string(job.id) + " is finished",
                            Unkillable::job_fails);
  table_.release_job(job.id);
  try {
    submitter_.kill_all_task_attempts(id, "Stage finished");
  } catch (const Error& error) {
    log(LogLevel::warning,
        "Other attempts of stage " + std::to_string(id) + " cannot be killed: " + error.what());
  }
}

void DagScheduler::handle(const ResultHandled& event) {
  ActiveJob* job = find_job(event.job);
  const auto at = static_cast<size_t>(event.position);
  if (job == nullptr || at >= job->handing_out.size() || !job->handing_out[at]) return;
  job->handing_out[at] = false;
  if (--job->unhandled == 0) end_job(job->id, nullptr);
}

void DagScheduler::handle(const ResultHandlerFailed& event) {
  ActiveJob* job = find_job(event.job);
  if (job == nullptr) return;
  fail_job(
      *job,
      std::make_shared<const Error>(ErrorKind::job_failed,
                                    "driver execution error: the result handler of " +
                                        job_name(job->id, job->call_site) + " failed at position " +
                                        std::to_string(event.position),
                                    event.error),
      Unkillable::job_fails);
}

void DagScheduler::finish_map_stage_jobs(ShuffleMapStage& stage) {
  if (!stage.available() || stage.map_stage_jobs.empty()) return;
  const MapOutputStatistics statistics = tracker_.statistics(stage.shuffle().shuffle_id);
  const std::set<int32_t> ids = std::exchange(stage.map_stage_jobs, {});
  for (const int32_t id : ids) {
    ActiveJob* job = find_job(id);
    if (job == nullptr) continue;
    cancel_independent_stages(*job, "Job " + std::to_string(id) + " is finished",
                              Unkillable::job_fails);
    if (job->on_statistics) job->on_statistics(statistics);
    end_job(id, nullptr);
  }
}

bool DagScheduler::fail_job(ActiveJob& job, std::shared_ptr<const Error> error,
                            Unkillable unkillable) {
  if (!cancel_independent_stages(job, error->message(), unkillable)) return false;
  end_job(job.id, std::move(error));
  return true;
}

void DagScheduler::end_job(int32_t id, std::shared_ptr<const Error> error) {
  if (ShuffleMapStage* stage =
          dynamic_cast<ShuffleMapStage*>(table_.find(jobs_.at(id).final_stage))) {
    stage->map_stage_jobs.erase(id);
  }
  table_.release_job(id);
  const ActiveJob job = std::move(jobs_.extract(id).mapped());
  cancel_idle_resubmit();
  post_job_end(id, error ? error->message() : std::string());
  if (error) {
    log(LogLevel::info, "Failed " + job_name(id, job.call_site) + ": " + error->what());
    job.listener->job_failed(std::move(error));
  } else {
    log(LogLevel::debug, "Finished " + job_name(id, job.call_site));
    job.listener->job_succeeded();
  }
}

void DagScheduler::post_job_end(int32_t job, const std::string& failure) {
  sink_.post(event::JobEnd{job, now_ms(), failure.empty(), failure});
}

}  // namespace tenon::dag
