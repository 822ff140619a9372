// Short ways to write events in tests.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/listener.hpp"

namespace tenon::test {

using StagePtr = std::shared_ptr<const StageInfo>;

inline StagePtr make_stage(int32_t id, int32_t attempt, int32_t tasks,
                           std::vector<int32_t> parents = {}, int64_t submitted_ms = 0) {
  StageInfo info;
  info.id = id;
  info.attempt = attempt;
  info.name = "stage-" + std::to_string(id);
  info.task_count = tasks;
  info.parents = std::move(parents);
  info.submitted_ms = submitted_ms;
  return std::make_shared<const StageInfo>(std::move(info));
}

inline Event job_start(int32_t job, std::vector<StagePtr> stages, Properties properties = {}) {
  return event::JobStart{job, 0, std::move(stages), std::move(properties), {}};
}
inline Event job_end(int32_t job, bool succeeded = true) {
  return event::JobEnd{job, 0, succeeded, succeeded ? "" : "broken"};
}
inline Event submitted(StagePtr stage) { return event::StageSubmitted{std::move(stage)}; }
inline Event completed(StagePtr stage) { return event::StageCompleted{std::move(stage)}; }
inline Event failed(const StagePtr& stage, std::string why) {
  StageInfo info = *stage;
  info.failure = std::move(why);
  return event::StageCompleted{std::make_shared<const StageInfo>(std::move(info))};
}

inline TaskInfo make_task(uint64_t id, TaskStatus status, const std::string& executor = "e1") {
  TaskInfo task;
  task.id = id;
  task.executor_id = executor;
  task.host = "host";
  task.status = status;
  return task;
}
inline Event task_start(int32_t stage, int32_t attempt, uint64_t id,
                        const std::string& executor = "e1") {
  return event::TaskStart{stage, attempt, make_task(id, TaskStatus::running, executor)};
}
inline Event task_end(int32_t stage, int32_t attempt, uint64_t id,
                      TaskStatus status = TaskStatus::succeeded,
                      const std::string& reason = "Success", const std::string& executor = "e1") {
  return event::TaskEnd{stage, attempt, make_task(id, status, executor), reason, {}, {}};
}

}  // namespace tenon::test
