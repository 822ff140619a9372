// What fetch failures and lost executors take away, and how it comes back.
#include <algorithm>
#include <utility>

#include "dag/dag_scheduler.hpp"

namespace tenon::dag {

void DagScheduler::fetch_failed(Stage& stage, const CompletionEvent& event,
                                const task::FetchFailed& failure) {
  const int32_t attempt = event.set->stage_attempt;
  if (stage.info().attempt != attempt) {
    log(LogLevel::info, "Ignoring fetch failure of attempt " + std::to_string(attempt) + " of " +
                            stage.describe() + ": it concerns nothing that runs");
    return;
  }
  ShuffleMapStage* map_stage = table_.find_by_shuffle(failure.shuffle_id);
  if (map_stage == nullptr) {
    // The parents of a stage live as long as it does: no stage can make these outputs again.
    abort_stage(stage,
                "a task of " + stage.describe() + " could not fetch shuffle " +
                    std::to_string(failure.shuffle_id) +
                    ", which none of the stages of its job writes: " + failure.message,
                nullptr);
    return;
  }
  const std::string message = failure.message.empty() ? "FetchFailed" : failure.message;
  stage.failed_attempts.insert(attempt);
  if (table_.running.contains(stage.id())) mark_finished(stage, message);
  if (failure.address && failure.map_index >= 0) {
    tracker_.unregister_map_output(failure.shuffle_id, failure.map_index, *failure.address);
  }

  const auto failed = static_cast<int32_t>(stage.failed_attempts.size());
  if (failed >= settings_.max_consecutive_stage_attempts) {
    abort_stage(stage,
                stage.describe() + " (" + stage.info().name +
                    ") has failed the maximum allowable number of times: " +
                    std::to_string(settings_.max_consecutive_stage_attempts) +
                    ". Most recent failure reason:\n" + message,
                nullptr);
  } else {
    table_.failed.insert(stage.id());
    table_.failed.insert(map_stage->id());
    schedule_resubmit();
  }

  if (!failure.address) return;
  std::optional<std::string> host;
  if (settings_.external_shuffle_service && settings_.unregister_output_on_host) {
    host = failure.address->host;
  }
  remove_executor(failure.address->executor_id, true, host, event.set->epoch);
}

void DagScheduler::schedule_resubmit() {
  if (resubmit_timer_ != 0) return;
  resubmit_timer_ = loop_.call_after(settings_.resubmit_delay, [this] {
    resubmit_timer_ = 0;
    post(ResubmitFailedStages{});
  });
}

void DagScheduler::cancel_idle_resubmit() {
  if (resubmit_timer_ == 0 || !table_.failed.empty()) return;
  loop_.cancel(resubmit_timer_);
  resubmit_timer_ = 0;
}

void DagScheduler::handle(const ResubmitFailedStages& /*event*/) {
  cached_.clear();
  std::vector<std::pair<int32_t, int32_t>> stages;  // (first job, stage)
  for (const int32_t id : std::exchange(table_.failed, {})) {
    stages.emplace_back(table_.find(id)->first_job(), id);
  }
  if (!stages.empty()) log(LogLevel::info, "Resubmitting failed stages");
  std::sort(stages.begin(), stages.end());
  for (const auto& [job, id] : stages) submit_stage(id);
}

void DagScheduler::handle(const ExecutorAdded& event) {
  executor_lost_epoch_.erase(event.executor_id);
  files_lost_epoch_.erase(event.executor_id);
}

void DagScheduler::handle(const ExecutorLost& event) {
  std::optional<std::string> host;
  if (event.reason.host_lost && !event.reason.host.empty()) host = event.reason.host;
  const bool files_lost = host.has_value() || !settings_.external_shuffle_service;
  remove_executor(event.executor_id, files_lost, host, tracker_.epoch());
}

void DagScheduler::handle(const WorkerRemoved& event) {
  log(LogLevel::info, "Shuffle files lost for worker " + event.worker_id + " on host " +
                          event.host + ": " + event.message);
  tracker_.remove_outputs_on_host(event.host);
  cached_.clear();
}

// Blocks and shuffle files go once each for an epoch, however often the loss is reported. host: all
// outputs there are gone.
void DagScheduler::remove_executor(const std::string& executor_id, bool files_lost,
                                   const std::optional<std::string>& host, uint64_t epoch) {
  const auto is_new = [&](std::unordered_map<std::string, uint64_t>& handled) {
    const auto [entry, added] = handled.try_emplace(executor_id, epoch);
    if (added) return true;
    if (entry->second >= epoch) return false;
    entry->second = epoch;
    return true;
  };
  if (is_new(executor_lost_epoch_)) {
    log(LogLevel::info, "Executor lost: " + executor_id + " (epoch " + std::to_string(epoch) + ")");
    blocks_.remove_executor(executor_id);
    cached_.clear();
  }
  if (!files_lost || !is_new(files_lost_epoch_)) return;
  if (host) {
    log(LogLevel::info, "Shuffle files lost for host: " + *host);
    tracker_.remove_outputs_on_host(*host);
  } else {
    log(LogLevel::info, "Shuffle files lost for executor: " + executor_id);
    tracker_.remove_outputs_on_executor(executor_id);
  }
}

}  // namespace tenon::dag
