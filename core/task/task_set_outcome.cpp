// The ends of attempts: success, failure, retry and abort of a task set.
#include <algorithm>

#include "task/task_set_manager.hpp"
#include "tenon/error.hpp"

namespace tenon::task {
namespace {

// Texts of failures that are remembered to keep the log short.
constexpr size_t kMaxRecentFailures = 1000;

}  // namespace

TaskInfo TaskSetManager::end(Attempt& attempt, TaskStatus status) {
  Task& known = task(attempt.info.index);
  if (known.running == &attempt) {
    known.running = attempt.next_of_task;
  } else {
    Attempt* before = known.running;
    while (before->next_of_task != &attempt) before = before->next_of_task;
    before->next_of_task = attempt.next_of_task;
  }
  if (known.running == nullptr && !known.successful) ++pending_count_;
  attempts_.erase(attempt);
  state_.cluster.state(attempt.executor).attempts.erase(attempt);
  state_.leave_queue(attempt);
  add_running(-1);
  TaskInfo info = std::move(attempt.info);
  attempt.info.id = info.id;
  state_.attempts.remove(attempt);
  info.status = status;
  info.finish_ms = state_.now_ms;
  return info;
}

void TaskSetManager::set_successful(int32_t index) {
  Task& known = task(index);
  if (known.successful) return;
  known.successful = true;
  if (known.running == nullptr) --pending_count_;
  if (++successful_count_ == tasks_.size()) zombie_ = true;
}

void TaskSetManager::wait_again(int32_t index) {
  if (is_pending(index)) waiting_.add(index);
}

void TaskSetManager::getting_result(Attempt& attempt) {
  attempt.started = true;
  state_.leave_queue(attempt);
  attempt.info.status = TaskStatus::getting_result;
  attempt.info.getting_result_ms = state_.now_ms;
  state_.dag.task_getting_result(set_, attempt.info);
}

void TaskSetManager::succeeded(Attempt& attempt, std::shared_ptr<TaskResult> result) {
  const int32_t index = attempt.info.index;
  if (task(index).successful && attempt.other_succeeded) {
    return failed(attempt,
                  TaskKilled{"Finish but did not commit due to another attempt succeeded",
                             std::move(result->accumulators)},
                  TaskStatus::killed);
  }
  run_time_ += std::chrono::nanoseconds(result->metrics.run_ns);
  ++run_count_;
  const TaskInfo info = end(attempt, TaskStatus::succeeded);
  kill_other_attempts(index, info);
  if (task(index).successful) {
    state_.log.info("Ignoring task-finished event for " + name_of(info) +
                    " because it has already completed successfully");
  }
  set_successful(index);
  task(index).failures = 0;
  state_.log.write(LogLevel::debug, [&] {
    return "Finished " + name_of(info) + " on " + info.host + " (executor " + info.executor_id +
           ") (" + std::to_string(successful_count_) + "/" + std::to_string(tasks_.size()) + ")";
  });
  state_.dag.task_ended(set_, spec(index), info, Success{std::move(result)});
}

void TaskSetManager::kill_other_attempts(int32_t index, const TaskInfo& winner) {
  for (Attempt* other = task(index).running; other != nullptr; other = other->next_of_task) {
    state_.log.info("Killing attempt " + std::to_string(other->info.attempt) + " for " +
                    name_of(other->info) + " on " + other->info.host + " as the attempt " +
                    std::to_string(winner.attempt) + " succeeded on " + winner.host);
    other->other_succeeded = true;
    try {
      state_.backend.kill_task(other->info.id, other->info.executor_id, /*interrupt=*/true,
                               /*if_queued=*/false, "another attempt succeeded");
    } catch (const std::exception& error) {
      state_.log.warn("Cannot kill " + name_of(other->info) + ": " + error.what());
    }
  }
}

std::string TaskSetManager::lost_text(const TaskInfo& info, const EndReason& reason) const {
  return "Lost " + name_of(info) + " (" + info.host + " executor " + info.executor_id +
         "): " + describe(reason);
}

void TaskSetManager::failed(Attempt& attempt, EndReason reason, TaskStatus status) {
  const bool counts = counts_toward_failures(reason, attempt.started);
  const TaskInfo info = end(attempt, status);
  const int32_t index = info.index;
  log_failure(info, reason);
  if (std::holds_alternative<FetchFailed>(reason)) {
    // Not to be run again here: the DAG scheduler makes a new attempt of the stage (C4.8).
    set_successful(index);
    zombie_ = true;
  }
  state_.dag.task_ended(set_, spec(index), info, reason);
  if (const auto* exception = std::get_if<ExceptionFailure>(&reason);
      exception != nullptr && exception->no_retry) {
    return abort(
        "Task " + std::to_string(index) + " in " + stage_text() +
            " failed and another attempt cannot help; not retrying: " + lost_text(info, reason),
        to_error(reason));
  }
  if (counts && !zombie_) count_failure(index, info, reason);
  wait_again(index);
}

void TaskSetManager::count_failure(int32_t index, const TaskInfo& info, const EndReason& reason) {
  if (++task(index).failures < max_failures_) return;
  state_.log.error("Task " + std::to_string(index) + " in " + stage_text() + " failed " +
                   std::to_string(max_failures_) + " times; aborting job");
  abort("Task " + std::to_string(index) + " in " + stage_text() + " failed " +
            std::to_string(max_failures_) +
            " times, most recent failure: " + lost_text(info, reason),
        to_error(reason));
}

void TaskSetManager::returned(Attempt& attempt) {
  // Perhaps the executor never saw it.
  forget_binary(attempt.executor);
  const TaskInfo info = end(attempt, TaskStatus::killed);
  state_.log.write(LogLevel::debug, [&] {
    return "Returned without a start: " + name_of(info) + " by executor " + info.executor_id;
  });
  state_.dag.task_ended(set_, spec(info.index), info, TaskKilled{"returned without a start", {}});
  wait_again(info.index);
}

void TaskSetManager::result_unreadable(Attempt& attempt, const std::string& detail) {
  const EndReason reason = UnknownReason{detail};
  const TaskInfo info = end(attempt, TaskStatus::failed);
  state_.dag.task_ended(set_, spec(info.index), info, reason);
  abort("Exception while getting task result: " + detail, to_error(reason));
}

void TaskSetManager::abort(const std::string& reason, std::shared_ptr<const Error> cause) {
  zombie_ = true;
  if (aborted_) return;
  aborted_ = true;
  state_.dag.task_set_failed(set_, reason, std::move(cause));
}

void TaskSetManager::partition_completed(int32_t partition) {
  if (zombie_) return;
  if (index_of_partition_.empty()) {
    for (size_t i = 0; i < set_->tasks.size(); ++i) {
      index_of_partition_.emplace(set_->tasks[i].partition, static_cast<int32_t>(i));
    }
  }
  const auto it = index_of_partition_.find(partition);
  if (it != index_of_partition_.end()) set_successful(it->second);
}

void TaskSetManager::log_failure(const TaskInfo& info, const EndReason& reason) {
  if (const auto* exception = std::get_if<ExceptionFailure>(&reason)) {
    log_exception(info, *exception);
  } else if (const auto* lost = std::get_if<ExecutorLostFailure>(&reason);
             lost != nullptr && !lost->app_caused) {
    state_.log.write(LogLevel::info, [&] {
      return name_of(info) +
             " failed because while it was being computed, its executor exited for a reason "
             "unrelated to the task. Not counting this failure towards the maximum number of "
             "failures for the task";
    });
  } else if (std::holds_alternative<TaskKilled>(reason)) {
    state_.log.write(LogLevel::info, [&] { return lost_text(info, reason); });
  } else {
    state_.log.write(LogLevel::warn, [&] { return lost_text(info, reason); });
  }
}

// The same text in full at most once in an interval (C9.8).
void TaskSetManager::log_exception(const TaskInfo& info, const ExceptionFailure& failure) {
  if (!state_.log.enabled(LogLevel::warn)) return;
  if (recent_failures_.size() >= kMaxRecentFailures) recent_failures_.clear();
  const loop::Time now = state_.clock.now();
  const auto [it, fresh] = recent_failures_.try_emplace(failure.type + ": " + failure.message);
  RecentFailure& recent = it->second;
  if (fresh || now - recent.printed > state_.settings.exception_print_interval) {
    recent = {0, now};
    return state_.log.warn(lost_text(info, failure));
  }
  ++recent.duplicates;
  state_.log.info("Lost " + name_of(info) + " on " + info.host + ", executor " + info.executor_id +
                  ": " + failure.type + " (" + failure.message + ") [duplicate " +
                  std::to_string(recent.duplicates) + "]");
}

}  // namespace tenon::task
