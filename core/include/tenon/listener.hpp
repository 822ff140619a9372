/// @file listener.hpp
/// Events of an application, in the order of Spark's listener bus (contract C24).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/status.hpp"

namespace tenon {

namespace event {

struct ApplicationStart {
  std::string name, id, attempt_id, user;
  int64_t time_ms = 0;
};
struct ApplicationEnd {
  int64_t time_ms = 0;
  int32_t exit_code = 0;
};
struct EnvironmentUpdate {
  std::map<std::string, std::string> settings;
};  ///< secrets redacted

struct JobStart {
  int32_t job = 0;
  int64_t time_ms = 0;
  std::vector<std::shared_ptr<const StageInfo>>
      stages;  ///< all of the job, also those that will be skipped
  Properties properties;
  CallSite call_site;
};
struct JobEnd {
  int32_t job = 0;
  int64_t time_ms = 0;
  bool succeeded = false;
  std::string failure;  ///< empty when it succeeded
};

struct StageSubmitted {
  std::shared_ptr<const StageInfo> stage;
};
struct StageCompleted {
  std::shared_ptr<const StageInfo> stage;
};

struct TaskStart {
  int32_t stage = 0, stage_attempt = 0;
  TaskInfo task;
};
struct TaskGettingResult {
  int32_t stage = 0, stage_attempt = 0;
  TaskInfo task;
};
struct TaskEnd {
  int32_t stage = 0, stage_attempt = 0;
  TaskInfo task;
  std::string reason;  ///< "Success", "FetchFailed", "ExceptionFailure", "TaskKilled", ...
  std::string detail;  ///< the failure's text; empty on success
  TaskMetrics metrics;
};

struct ExecutorAdded {
  ExecutorInfo executor;
  int64_t time_ms = 0;
};
struct ExecutorRemoved {
  std::string id, reason;
  int64_t time_ms = 0;
};
struct BlockManagerAdded {
  std::string executor_id, host;
  uint64_t max_memory = 0;
  int64_t time_ms = 0;
};
struct BlockManagerRemoved {
  std::string executor_id;
  int64_t time_ms = 0;
};
struct UnpersistRdd {
  int32_t rdd = 0;
};

}  // namespace event

/// Any event.
using Event =
    std::variant<event::ApplicationStart, event::ApplicationEnd, event::EnvironmentUpdate,
                 event::JobStart, event::JobEnd, event::StageSubmitted, event::StageCompleted,
                 event::TaskStart, event::TaskGettingResult, event::TaskEnd, event::ExecutorAdded,
                 event::ExecutorRemoved, event::BlockManagerAdded, event::BlockManagerRemoved,
                 event::UnpersistRdd>;

/// Derive from it and hand it to Context::add_listener. Its functions are called by one thread, in
/// the order of the events; a slow or throwing listener hurts neither the scheduler nor others. A
/// call of Context::stop() from a listener is an error.
class TENON_API Listener {
 public:
  virtual ~Listener();

  virtual void on_application_start(const event::ApplicationStart&) {}
  virtual void on_application_end(const event::ApplicationEnd&) {}
  virtual void on_environment_update(const event::EnvironmentUpdate&) {}
  virtual void on_job_start(const event::JobStart&) {}
  virtual void on_job_end(const event::JobEnd&) {}
  virtual void on_stage_submitted(const event::StageSubmitted&) {}
  virtual void on_stage_completed(const event::StageCompleted&) {}
  virtual void on_task_start(const event::TaskStart&) {}
  virtual void on_task_getting_result(const event::TaskGettingResult&) {}
  virtual void on_task_end(const event::TaskEnd&) {}
  virtual void on_executor_added(const event::ExecutorAdded&) {}
  virtual void on_executor_removed(const event::ExecutorRemoved&) {}
  virtual void on_block_manager_added(const event::BlockManagerAdded&) {}
  virtual void on_block_manager_removed(const event::BlockManagerRemoved&) {}
  virtual void on_unpersist_rdd(const event::UnpersistRdd&) {}

  /// Calls the function of the event's type. Override it to take every event in one place.
  virtual void on_event(const Event& event);
};

}  // namespace tenon
