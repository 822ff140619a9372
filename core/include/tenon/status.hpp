/// @file status.hpp
/// What listeners and the status tracker say about jobs, stages, tasks and executors. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/export.hpp"

namespace tenon {

/// Properties that a job takes from the thread that submits it: pool, group, description, tags, the
/// program's own keys.
using Properties = std::map<std::string, std::string>;

/// Where in the program an operation was called.
struct CallSite {
  std::string operation;  ///< "reduce_by_key"
  std::string file;       ///< path as the compiler saw it; empty when unknown
  uint32_t line = 0;

  /// "reduce_by_key at wordcount.cpp:14"
  [[nodiscard]] TENON_API std::string text() const;
};

/// How near a task ran to its data, from near to far.
enum class Locality : uint8_t { process_local, node_local, no_pref, rack_local, any };

/// "PROCESS_LOCAL" and so on.
TENON_API std::string_view to_string(Locality locality) noexcept;

/// Figures of one task attempt. Times in nanoseconds, sizes in bytes.
struct TaskMetrics {
  int64_t run_ns = 0;          ///< in the task's body
  int64_t deserialize_ns = 0;  ///< decoding the task
  int64_t serialize_ns = 0;    ///< encoding the result
  uint64_t result_bytes = 0;
  uint64_t shuffle_read_bytes = 0;
  uint64_t shuffle_read_records = 0;
  uint64_t shuffle_write_bytes = 0;
  uint64_t shuffle_write_records = 0;
  int64_t fetch_wait_ns = 0;
  uint64_t spill_bytes = 0;
  uint64_t peak_memory_bytes = 0;
};

/// How an attempt stands.
enum class TaskStatus : uint8_t { running, getting_result, succeeded, failed, killed };

/// One attempt of one task.
struct TaskInfo {
  uint64_t id = 0;    ///< unique in the application, never used again
  int32_t index = 0;  ///< place in its task set
  int32_t partition = 0;
  int32_t attempt = 0;            ///< number of earlier attempts of this index
  int64_t launch_ms = 0;          ///< milliseconds since 1970
  int64_t getting_result_ms = 0;  ///< its large result began to be fetched; 0: it needed no fetch
  int64_t finish_ms = 0;          ///< 0 while it runs
  std::string executor_id, host;
  Locality locality = Locality::any;
  TaskStatus status = TaskStatus::running;
  bool speculative = false;
};

/// An Rdd as it stood when its stage was submitted.
struct RddInfo {
  int32_t id = 0;
  std::string name;
  int32_t partitions = 0;
  std::vector<int32_t> parents;
  bool cached = false;
  CallSite call_site;
};

/// One attempt of a stage.
struct StageInfo {
  int32_t id = 0;
  int32_t attempt = 0;
  std::string name;
  std::string details;     ///< the call site at length
  int32_t task_count = 0;  ///< tasks of this attempt: may be fewer than partitions
  std::vector<RddInfo> rdds;
  std::vector<int32_t> parents;                          ///< stage ids
  std::optional<int32_t> shuffle_id;                     ///< of a stage that writes a shuffle
  int64_t submitted_ms = 0;                              ///< 0: not submitted
  int64_t completed_ms = 0;                              ///< 0: not completed
  std::string failure;                                   ///< empty: none
  std::map<std::string, std::string> accumulables;       ///< named accumulators: value as text
  std::vector<std::vector<std::string>> task_locations;  ///< preferred hosts of each task
  Properties properties;
};

/// How a job stands.
enum class JobStatus : uint8_t { running, succeeded, failed };

/// One job.
struct JobInfo {
  int32_t id = 0;
  JobStatus status = JobStatus::running;
  std::vector<int32_t> stages;
  CallSite call_site;
  Properties properties;
};

/// Task counts of a stage attempt.
struct StageProgress {
  int32_t id = 0;
  int32_t attempt = 0;
  std::string name;
  int32_t tasks = 0, active = 0, completed = 0, failed = 0;
  int64_t submitted_ms = 0;
};

/// One executor.
struct ExecutorInfo {
  std::string id, host;
  int32_t cores = 0;
  int64_t added_ms = 0;
  int32_t running_tasks = 0;
  std::map<std::string, std::string> log_urls, attributes;
};

}  // namespace tenon
