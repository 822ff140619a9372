// Statuses of tasks, and executors that come and go (C7.6, C9.10, C18.4, C18.6).
#include <algorithm>

#include "task/task_scheduler.hpp"

namespace tenon::task {

template <class F>
void TaskScheduler::guarded(const char* what, F&& handle) {
  try {
    handle();
  } catch (const std::exception& error) {
    state_.log.error(std::string("Failed to handle ") + what + ": " + error.what());
  } catch (...) {
    state_.log.error(std::string("Failed to handle ") + what + ": exception of unknown type");
  }
}

// ---- statuses

void TaskScheduler::status_update(std::vector<StatusUpdate> statuses) {
  if (stopped_) return;
  state_.now_ms = state_.clock.wall_ms();
  for (StatusUpdate& status : statuses) {
    guarded("a task's status", [&] { handle(status); });
  }
  guarded("statuses", [&] { update_watch(); });
}

void TaskScheduler::ignore(const StatusUpdate& status, const char* why) {
  ++ignored_statuses_;
  state_.log.write(LogLevel::warn, [&] {
    return "Ignoring a status of TID " + std::to_string(status.task_id) + " from executor " +
           status.executor_id + ": " + why;
  });
}

void TaskScheduler::handle(StatusUpdate& status) {
  Attempt* attempt = state_.attempts.find(status.task_id);
  if (attempt == nullptr) {
    return ignore(status, "no such task runs (likely a late or repeated status)");
  }
  if (status.executor_id != attempt->info.executor_id) {
    return ignore(status, "the task runs on another executor");
  }
  switch (status.state) {
    case TaskState::running:
      attempt->started = true;
      state_.log.write(LogLevel::debug, [&] {
        return "Running TID " + std::to_string(status.task_id) + " on executor " +
               status.executor_id;
      });
      return state_.leave_queue(*attempt);
    case TaskState::lost:
      return handle_lost(*attempt);
    default:
      handle_end(*attempt, status);
  }
}

bool TaskScheduler::getting_result(uint64_t task_id, const std::string& executor_id) {
  Attempt* attempt = state_.attempts.find(task_id);
  if (attempt == nullptr || attempt->info.executor_id != executor_id ||
      attempt->info.status == TaskStatus::getting_result) {
    return false;
  }
  state_.now_ms = state_.clock.wall_ms();
  attempt->set->getting_result(*attempt);
  return true;
}

void TaskScheduler::handle_end(Attempt& attempt, StatusUpdate& status) {
  TaskSetManager& set = *attempt.set;
  auto* success = std::get_if<Success>(&status.reason);
  auto* unknown = std::get_if<UnknownReason>(&status.reason);
  attempt.started |= status.state == TaskState::finished || status.state == TaskState::failed;
  if (status.state == TaskState::returned) {
    set.returned(attempt);
  } else if (status.state == TaskState::finished && success != nullptr) {
    set.succeeded(attempt, std::move(success->result));
  } else if (status.state == TaskState::finished && unknown != nullptr) {
    set.result_unreadable(attempt, unknown->detail);
  } else if (status.state == TaskState::killed) {
    if (unknown != nullptr) status.reason = TaskKilled{unknown->detail, {}};
    if (success != nullptr) status.reason = TaskKilled{};
    set.failed(attempt, std::move(status.reason), TaskStatus::killed);
  } else {
    if (success != nullptr) status.reason = UnknownReason{"a failure without a reason"};
    set.failed(attempt, std::move(status.reason), TaskStatus::failed);
  }
  if (set.done()) {
    remove_if_done(set);
  } else if (success == nullptr && set.schedulable()) {
    revive_soon();
  }
}

// The executor is gone, too (C7.6). Why, says executor_removed(), which may come later: the failure
// counts or does not by that reason, so the attempts are kept till then, for a short time.
void TaskScheduler::handle_lost(Attempt& attempt) {
  const NameId executor = attempt.executor;
  if (state_.cluster.state(executor).loss_pending) return;
  LossReason reason;
  reason.kind = LossReason::Kind::unreachable;
  reason.message = "Task " + std::to_string(attempt.info.id) +
                   " was lost, so marking the executor as lost as well";
  state_.cluster.set_loss_pending(executor);
  executors_changed();
  loss_timers_[executor] =
      loop_.call_after(state_.settings.loss_reason_wait, [this, executor, reason] {
        loss_timers_.erase(executor);
        guarded("the loss of an executor", [&] { remove_executor(executor, reason); });
      });
}

// ---- executors

void TaskScheduler::executor_added(const Executor& executor) {
  guarded("a new executor", [&] {
    const NameId id = state_.cluster.executor_id(executor.id);
    const ExecutorState& known = state_.cluster.state(id);
    if (known.alive && executor.incarnation > known.incarnation) {
      LossReason reason;
      reason.kind = LossReason::Kind::unreachable;
      reason.app_caused = false;
      reason.message = "another executor of the same id has taken its place";
      remove_executor(id, reason);
    }
    add_executor(executor);
  });
}

void TaskScheduler::add_executor(const Executor& executor) {
  largest_offer_ = std::max(largest_offer_, executor.cores);
  const bool fresh = state_.cluster.add(executor);
  if (const auto rack = executor.attributes.find("rack"); rack != executor.attributes.end()) {
    const NameId host = state_.cluster.host_id(executor.host);
    const NameId rack_id = state_.cluster.rack_of(host);
    for_each_set([&](TaskSetManager& set) { set.host_has_rack(host, rack_id); });
  }
  if (!fresh) return;
  state_.log.info("Executor added, executor=" + executor.id + " host=" + executor.host);
  state_.dag.executor_added(executor.id, executor.host);
  executors_changed();
}

void TaskScheduler::executor_decommissioning(const std::string& executor_id) {
  guarded("a decommission", [&] {
    const NameId executor = state_.cluster.find_executor(executor_id);
    if (!state_.cluster.alive(executor)) return;
    state_.cluster.set_decommissioning(executor);
    executors_changed();
  });
}

void TaskScheduler::executor_loss_pending(const std::string& executor_id,
                                          const std::string& message) {
  guarded("a pending loss", [&] {
    const NameId executor = state_.cluster.find_executor(executor_id);
    if (!state_.cluster.alive(executor)) return;
    state_.log.info("Executor lost, its reason follows, executor=" + executor_id + ": " + message);
    state_.cluster.set_loss_pending(executor);
    if (const auto it = loss_timers_.find(executor); it != loss_timers_.end()) {
      loop_.cancel(it->second);
      loss_timers_.erase(it);
    }
    executors_changed();
  });
}

void TaskScheduler::executor_removed(const std::string& executor_id, const LossReason& reason) {
  guarded("the loss of an executor", [&] {
    const NameId executor = state_.cluster.executor_id(executor_id);
    remove_executor(executor, reason);
    state_.cluster.mark_removed(executor);
  });
}

void TaskScheduler::remove_executor(NameId executor, const LossReason& reason) {
  using Kind = LossReason::Kind;
  const std::string& name = state_.cluster.executor_name(executor);
  const std::string text = describe(reason);
  if (const auto it = loss_timers_.find(executor); it != loss_timers_.end()) {
    loop_.cancel(it->second);
    loss_timers_.erase(it);
  }
  if (state_.cluster.alive(executor)) {
    state_.log.warn("Lost executor " + name + ": " + text);
    state_.now_ms = state_.clock.wall_ms();
    const bool app_caused = reason.app_caused && reason.kind != Kind::killed &&
                            reason.kind != Kind::preempted && reason.kind != Kind::decommissioned;
    std::vector<int32_t> stages;
    for (Attempt* attempt : state_.cluster.state(executor).attempts.snapshot()) {
      TaskSetManager& set = *attempt->set;
      stages.push_back(set.stage_id());
      set.failed(*attempt, ExecutorLostFailure{name, text, app_caused}, TaskStatus::failed);
    }
    for_each_set([&](TaskSetManager& set) { set.forget_binary(executor); });
    state_.cluster.remove(executor);
    executors_changed();
    for (const int32_t stage : stages) remove_done(stage);
  }
  state_.dag.executor_lost(name, reason);
  update_watch();
  revive_soon();
}

void TaskScheduler::drop_all_executors() {
  LossReason reason;
  reason.kind = LossReason::Kind::unreachable;
  reason.app_caused = false;
  reason.message = "the cluster manager has started over";
  for (const NameId executor : state_.cluster.alive_executors()) remove_executor(executor, reason);
}

void TaskScheduler::executors_changed() {
  for_each_set([](TaskSetManager& set) { set.executors_changed(); });
}

void TaskScheduler::worker_removed(const std::string& worker_id, const std::string& host,
                                   const std::string& message) {
  guarded("a lost worker", [&] { state_.dag.worker_removed(worker_id, host, message); });
}

}  // namespace tenon::task
