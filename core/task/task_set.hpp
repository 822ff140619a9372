// The tasks of one stage attempt, on their way from the DagScheduler to the TaskScheduler.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tenon/status.hpp"

namespace tenon::task {

// A place that a task prefers; executor_id empty: any executor on the host.
struct Location {
  std::string host, executor_id;
  friend bool operator==(const Location&, const Location&) = default;
};

enum class TaskKind : uint8_t { shuffle_map, result };

// What all tasks of a stage attempt share; encoded once and sent to an executor once.
struct StageBinary {
  std::string id;     // unique in the application: "stage 3.0"
  std::string bytes;  // graph of operators, properties, ids
};

struct TaskSpec {
  int32_t partition = 0;  // of the stage's last Rdd
  int32_t output =
      0;  // result stage: position in the job's partition list; map stage: the partition
  std::vector<Location> preferred;
  std::shared_ptr<const std::string>
      data;  // what the sources of this partition read; null: nothing
};

struct TaskSet {
  int32_t stage_id = 0;
  int32_t stage_attempt = 0;
  int32_t priority = 0;  // id of the earliest active job that uses the stage
  TaskKind kind = TaskKind::result;
  std::vector<TaskSpec> tasks;
  std::shared_ptr<const Properties> properties;  // never null
  std::shared_ptr<const StageBinary> binary;     // never null in production; tests may leave it out
  uint64_t epoch = 0;                            // of the map-output tracker when the set was made

  // "TaskSet_3.0"
  [[nodiscard]] std::string name() const {
    return "TaskSet_" + std::to_string(stage_id) + "." + std::to_string(stage_attempt);
  }
};
using TaskSetPtr = std::shared_ptr<const TaskSet>;

}  // namespace tenon::task
