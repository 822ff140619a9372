// What task attempts report while they run and when they end.
#include <utility>

#include "dag/dag_scheduler.hpp"
#include "dag/errors.hpp"

namespace tenon::dag {

void DagScheduler::handle(BeginEvent& event) {
  sink_.post(
      event::TaskStart{event.set->stage_id, event.set->stage_attempt, std::move(event.info)});
}

void DagScheduler::handle(GettingResultEvent& event) {
  sink_.post(event::TaskGettingResult{event.set->stage_id, event.set->stage_attempt,
                                      std::move(event.info)});
}

void DagScheduler::handle(CompletionEvent& event) {
  Stage* stage = table_.find(event.set->stage_id);
  if (stage != nullptr) merge_accumulators(*stage, event);
  std::string lost_executor;
  if (std::holds_alternative<task::Resubmitted>(event.reason)) {
    lost_executor = event.info.executor_id;
  }
  post_task_end(event);
  if (stage == nullptr) return;
  if (std::holds_alternative<task::Success>(event.reason)) {
    task_succeeded(*stage, event);
  } else if (const auto* failure = std::get_if<task::FetchFailed>(&event.reason)) {
    fetch_failed(*stage, event, *failure);
  } else if (std::holds_alternative<task::Resubmitted>(event.reason) &&
             stage->kind() == task::TaskKind::shuffle_map) {
    resubmitted(static_cast<ShuffleMapStage&>(*stage), event, lost_executor);
  }  // the TaskScheduler has seen to all others
}

// The task set runs a task again whose output was lost with an executor. The partition is not
// waited for when an earlier attempt has brought its output meanwhile: the set may have been told,
// and not run it again. Nor on the word of an older attempt, as the newer one may not have the
// task; what is missing in the end gets an attempt of its own.
void DagScheduler::resubmitted(ShuffleMapStage& stage, const CompletionEvent& event,
                               const std::string& lost_executor) {
  if (event.set->stage_attempt != stage.info().attempt) return;
  const std::string* holder = tracker_.executor_of(stage.shuffle().shuffle_id, event.partition);
  if (holder == nullptr || *holder == lost_executor) stage.add_pending(event.partition);
}

void DagScheduler::merge_accumulators(Stage& stage, const CompletionEvent& event) {
  const std::vector<task::AccumulatorUpdate>* updates = nullptr;
  if (const auto* success = std::get_if<task::Success>(&event.reason)) {
    const bool counted = stage.kind() == task::TaskKind::result &&
                         static_cast<const ResultStage&>(stage).finished(event.output);
    if (!counted) updates = &success->result->accumulators;
  } else if (const auto* failure = std::get_if<task::ExceptionFailure>(&event.reason)) {
    updates = &failure->accumulators;
  } else if (const auto* killed = std::get_if<task::TaskKilled>(&event.reason)) {
    updates = &killed->accumulators;
  }
  if (updates != nullptr && !updates->empty()) accumulators_.merge(*updates, stage.accumulators);
}

void DagScheduler::post_task_end(CompletionEvent& event) {
  event::TaskEnd end;
  end.stage = event.set->stage_id;
  end.stage_attempt = event.set->stage_attempt;
  end.task = std::move(event.info);
  end.reason = task::kind_name(event.reason);
  if (const auto* success = std::get_if<task::Success>(&event.reason)) {
    end.metrics = success->result->metrics;
  } else {
    end.detail = task::describe(event.reason);
  }
  sink_.post(std::move(end));
}

void DagScheduler::task_succeeded(Stage& stage, CompletionEvent& event) {
  if (stage.kind() == task::TaskKind::shuffle_map) {
    if (event.set->stage_attempt < stage.info().attempt) {
      submitter_.partition_completed(stage.id(), event.partition);
    }
    map_task_succeeded(static_cast<ShuffleMapStage&>(stage), event);
    return;
  }
  auto& result = static_cast<ResultStage&>(stage);
  // With a partition in the list twice the live set would not know which of its tasks is meant.
  if (event.set->stage_attempt < stage.info().attempt && !result.repeats()) {
    submitter_.partition_completed(stage.id(), event.partition);
  }
  if (result.finished(event.output)) return;
  ActiveJob& job = jobs_.at(*stage.jobs.begin());
  deliver(job, result, event.output,
          std::move(std::get<task::Success>(event.reason).result->value));
}

void DagScheduler::map_task_succeeded(ShuffleMapStage& stage, const CompletionEvent& event) {
  const std::optional<task::MapStatus>& status =
      std::get<task::Success>(event.reason).result->map_status;
  if (!status) {
    abort_stage(
        stage,
        "a map task of " + stage.describe() + " succeeded without saying where its output lies",
        nullptr);
    return;
  }
  const auto lost = executor_lost_epoch_.find(status->location.executor_id);
  if (lost != executor_lost_epoch_.end() && event.set->epoch <= lost->second) {
    log(LogLevel::info, "Ignoring possibly bogus completion of partition " +
                            std::to_string(event.partition) + " of " + stage.describe() +
                            " from executor " + status->location.executor_id);
  } else {
    try {
      tracker_.register_map_output(stage.shuffle().shuffle_id, event.partition, *status);
    } catch (const Error& error) {
      abort_stage(stage, error.message(), std::make_shared<const Error>(error));
      return;
    }
  }
  stage.remove_pending(event.partition);
  if (stage.pending() == 0 && table_.running.contains(stage.id())) map_stage_done(stage);
}

void DagScheduler::map_stage_done(ShuffleMapStage& stage) {
  const int32_t id = stage.id();
  mark_finished(stage, std::nullopt);
  // An executor may have asked for the locations while outputs were missing; it must ask again.
  tracker_.increment_epoch();
  cached_.clear();
  if (!stage.available()) {
    log(LogLevel::info,
        "Resubmitting " + stage.describe() + " because some of its tasks had failed");
    submit_stage(id);
    return;
  }
  finish_map_stage_jobs(stage);
  submit_waiting_children(id);
}

}  // namespace tenon::dag
