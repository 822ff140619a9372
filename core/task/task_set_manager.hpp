// One task set: which of its tasks wait, run and are done; retries; its end (C9).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "task/pending_tasks.hpp"
#include "task/pool.hpp"
#include "task/scheduler_state.hpp"

namespace tenon::task {

// Scheduler's thread. The owner removes it once done().
class TaskSetManager final : public Schedulable {
 public:
  TaskSetManager(TaskSetPtr set, SchedulerState& state);

  [[nodiscard]] const TaskSet& set() const { return *set_; }
  [[nodiscard]] bool zombie() const { return zombie_; }
  // Zombie, and no attempt runs any more.
  [[nodiscard]] bool done() const { return zombie_ && attempts_.empty(); }
  // Tasks that wait for a launch.
  [[nodiscard]] size_t pending() const { return pending_count_; }
  [[nodiscard]] bool schedulable() const {
    return !zombie_ && (pending_count_ > 0 || !copies_.empty());
  }
  [[nodiscard]] const SetAttempts& attempts() const { return attempts_; }
  [[nodiscard]] LocalityLevels levels() const { return levels_; }
  // Its tasks are so short that an executor may hold some of them queued (C29.12).
  [[nodiscard]] bool may_launch_ahead() const;
  // Most tasks to hold queued on one executor: what a thread runs in twice
  // tenon.scheduler.launchAhead.maxTaskTime. Only when may_launch_ahead().
  [[nodiscard]] uint32_t launch_ahead_depth() const;
  // Kills of its tasks interrupt waits (tenon.job.interruptOnCancel).
  [[nodiscard]] bool interrupt_on_cancel() const { return interrupt_on_cancel_; }

  void collect(std::vector<TaskSetManager*>& sets) override {
    if (schedulable()) sets.push_back(this);
  }

  enum class Offered : uint8_t { nothing, launched, aborted };
  // Launches at most one task on the executor, no farther from its data than max. aborted: the task
  // could not be encoded.
  Offered offer(NameId executor, Locality max, bool queued, Launch& launch);

  // It has ended well, and its result is being fetched.
  void getting_result(Attempt& attempt);
  // Ends of attempts. The attempt is gone afterwards.
  void succeeded(Attempt& attempt, std::shared_ptr<TaskResult> result);
  void failed(Attempt& attempt, EndReason reason, TaskStatus status);
  // It never started and the executor is well: waits again, nothing counted.
  void returned(Attempt& attempt);
  // The result of a finished attempt cannot be read (C11.5).
  void result_unreadable(Attempt& attempt, const std::string& detail);

  void abort(const std::string& reason, std::shared_ptr<const Error> cause);
  // Launches nothing more; what runs is followed to its end.
  void make_zombie() { zombie_ = true; }
  // The task of that partition needs no run here (C3.11).
  void partition_completed(int32_t partition);
  // A second attempt of a running task, on another host (speculation says when).
  void request_copy(int32_t index);

  void executors_changed() { levels_ = waiting_.levels(); }
  void host_has_rack(NameId host, NameId rack) { waiting_.host_has_rack(host, rack); }
  // What the executor knows of the set is lost.
  void forget_binary(NameId executor);

  // Violated invariants, as text.
  void check(std::vector<std::string>& violations) const;

 private:
  struct Task {
    Attempt* running = nullptr;  // its first running attempt
    uint32_t launched = 0;       // attempts so far
    int32_t failures = 0;
    bool successful = false;
  };
  struct RecentFailure {
    uint64_t duplicates = 0;
    loop::Time printed{0};
  };

  [[nodiscard]] Task& task(int32_t index) { return tasks_[static_cast<size_t>(index)]; }
  [[nodiscard]] const Task& task(int32_t index) const { return tasks_[static_cast<size_t>(index)]; }
  [[nodiscard]] const TaskSpec& spec(int32_t index) const {
    return set_->tasks[static_cast<size_t>(index)];
  }
  [[nodiscard]] bool is_pending(int32_t index) const {
    return task(index).running == nullptr && !task(index).successful;
  }
  [[nodiscard]] std::string stage_text() const;  // "stage 3.0"
  [[nodiscard]] std::string name_of(const TaskInfo& info) const;
  [[nodiscard]] std::string lost_text(const TaskInfo& info, const EndReason& reason) const;

  // The one seam of delay scheduling (C10.2-C10.5): how far from its data a task may run now. All
  // waits are 0, so every level is allowed at once (C10.8).
  [[nodiscard]] static Locality allowed_level(Locality max) { return max; }
  std::optional<TaskChoice> choose(NameId executor, Locality max);
  std::optional<TaskChoice> choose_copy(NameId executor, Locality max);
  bool encode(int32_t index, uint64_t task_id, bool with_binary, std::string& payload);
  void start(const TaskChoice& choice, uint64_t task_id, NameId executor, bool queued,
             Launch& launch);
  bool take_binary_turn(NameId executor);

  // Takes the attempt out of all tables; returns what is left of it.
  TaskInfo end(Attempt& attempt, TaskStatus status);
  void kill_other_attempts(int32_t index, const TaskInfo& winner);
  void count_failure(int32_t index, const TaskInfo& info, const EndReason& reason);
  void log_failure(const TaskInfo& info, const EndReason& reason);
  void log_exception(const TaskInfo& info, const ExceptionFailure& failure);
  void set_successful(int32_t index);
  void wait_again(int32_t index);

  TaskSetPtr set_;
  SchedulerState& state_;
  int32_t max_failures_;
  std::vector<Task> tasks_;
  PendingTasks waiting_;
  size_t pending_count_;
  size_t successful_count_ = 0;
  SetAttempts attempts_;
  std::vector<int32_t> copies_;  // wanted second attempts
  LocalityLevels levels_;
  std::vector<bool> has_binary_;                             // by executor
  std::unordered_map<int32_t, int32_t> index_of_partition_;  // made when first needed
  std::unordered_map<std::string, RecentFailure> recent_failures_;
  std::chrono::nanoseconds run_time_{0};  // of all that succeeded
  uint64_t run_count_ = 0;
  bool zombie_ = false;
  bool aborted_ = false;
  bool warned_large_ = false;
  bool interrupt_on_cancel_ = false;
};

}  // namespace tenon::task
