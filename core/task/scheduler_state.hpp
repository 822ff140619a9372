// What the task scheduler and its task sets share. Scheduler's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/log_callback.hpp"
#include "loop/clock.hpp"
#include "task/attempt.hpp"
#include "task/backend.hpp"
#include "task/cluster.hpp"
#include "task/settings.hpp"
#include "task/task_submitter.hpp"

namespace tenon::task {

// Encodes a task as the executor reads it. May throw; then the set is aborted. with_binary: the
// stage's binary rides along.
using PayloadEncoder = std::function<std::string(const TaskSet& set, const TaskSpec& task,
                                                 uint64_t task_id, int attempt, bool with_binary)>;

struct SchedulerState {
  const Settings settings;
  Backend& backend;
  DagEvents& dag;
  const loop::Clock& clock;
  const PayloadEncoder encode;
  const LogCallback log;

  Cluster cluster{};
  AttemptTable attempts{};
  QueuedAttempts queued{};  // attempts that wait in an executor's queue and were not asked back
  uint64_t next_task_id = 0;
  uint64_t max_payload_bytes = 0;
  int32_t max_task_failures = 0;
  int64_t now_ms = 0;  // wall time of what is being handled

  // The attempt runs or is over: it waits in no executor's queue any more.
  void leave_queue(Attempt& attempt) {
    if (!attempt.waits_in_queue) return;
    attempt.waits_in_queue = false;
    --cluster.state(attempt.executor).waiting;
    if (!attempt.asked_back) queued.erase(attempt);
  }
};

}  // namespace tenon::task
