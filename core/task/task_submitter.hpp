// The DagScheduler's view of the TaskScheduler, and the other way round. Both live on the loop's
// thread.
#pragma once

#include <cstdint>
#include <string>

#include "task/end_reason.hpp"
#include "task/task_set.hpp"

namespace tenon::task {

class TaskSubmitter {
 public:
  TaskSubmitter() = default;
  virtual ~TaskSubmitter() = default;
  TaskSubmitter(const TaskSubmitter&) = delete;
  TaskSubmitter& operator=(const TaskSubmitter&) = delete;

  virtual void submit_tasks(TaskSetPtr set) = 0;
  // Kills the running attempts of all sets of the stage and aborts the sets (C7.10). Throws
  // tenon::Error when the backend cannot kill tasks (C2.12).
  virtual void cancel_tasks(int32_t stage_id, const std::string& reason) = 0;
  // The same without aborting the sets.
  virtual void kill_all_task_attempts(int32_t stage_id, const std::string& reason) = 0;
  // Kills one attempt; true when it was known. It is queued again and does not count as a failure.
  virtual bool kill_task_attempt(uint64_t task_id, const std::string& reason) = 0;
  // An older attempt of the stage finished the partition: live sets need not run it (C3.11).
  virtual void partition_completed(int32_t stage_id, int32_t partition) = 0;
  [[nodiscard]] virtual int32_t default_parallelism() const = 0;
};

// Implemented by the DagScheduler. Each call only queues an event of its own (C1.2); nothing is
// handled on the caller's stack, so neither side has to be re-entrant.
class DagEvents {
 public:
  DagEvents() = default;
  virtual ~DagEvents() = default;
  DagEvents(const DagEvents&) = delete;
  DagEvents& operator=(const DagEvents&) = delete;

  virtual void task_started(const TaskSetPtr& set, const TaskSpec& task, const TaskInfo& info) = 0;
  virtual void task_getting_result(const TaskSetPtr& set, const TaskInfo& info) = 0;
  virtual void task_ended(const TaskSetPtr& set, const TaskSpec& task, const TaskInfo& info,
                          EndReason reason) = 0;
  // cause may be null.
  virtual void task_set_failed(const TaskSetPtr& set, const std::string& reason,
                               std::shared_ptr<const Error> cause) = 0;
  virtual void executor_added(const std::string& executor_id, const std::string& host) = 0;
  virtual void executor_lost(const std::string& executor_id, const LossReason& reason) = 0;
  virtual void worker_removed(const std::string& worker_id, const std::string& host,
                              const std::string& message) = 0;
};

}  // namespace tenon::task
