// How a task attempt ended, as the scheduler sees it. The kind is a field of its own and never read
// from a text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/error.hpp"
#include "tenon/status.hpp"

namespace tenon::task {

struct AccumulatorUpdate {
  uint64_t id = 0;
  std::string bytes;  // the partial value, by the accumulator's Codec
};

// Where a map task's output lies.
struct BlockManagerId {
  std::string executor_id, host;
  std::string endpoint;  // of core's service in that executor
  friend bool operator==(const BlockManagerId&, const BlockManagerId&) = default;
};

struct MapStatus {
  BlockManagerId location;
  std::vector<uint64_t> sizes;  // bytes for each reduce partition; 0: empty
  uint64_t map_id = 0;          // id of the task attempt that wrote it
};

// What a successful attempt brings: a result task's encoded value, or a map task's status.
struct TaskResult {
  std::string value;
  // Of a value that is not here because it is too large (C11.1): its size, and where block
  // taskresult_<task id> holds it. No place: it was over tenon.driver.maxResultSize and was dropped
  // at the executor.
  uint64_t missing_value_bytes = 0;
  std::optional<BlockManagerId> stored_at;
  std::optional<MapStatus> map_status;
  std::vector<AccumulatorUpdate> accumulators;
  TaskMetrics metrics;
};

struct Success {
  std::shared_ptr<TaskResult> result;  // never null
};
// A map task's output was lost after it had succeeded; it will run again.
struct Resubmitted {};
struct FetchFailed {
  std::optional<BlockManagerId> address;  // none: the location itself was missing
  int32_t shuffle_id = 0;
  int64_t map_id = 0;
  int32_t map_index = 0;
  int32_t reduce_id = 0;
  std::string message;
};
struct ExceptionFailure {
  std::string type;     // "std::runtime_error", or what the demangler says
  std::string message;  // what()
  std::string origin;   // operation and call site, or a stack; may be empty
  std::vector<std::pair<std::string, std::string>> causes;  // (type, message), outermost first
  bool no_retry = false;  // FatalError, output that exists, result that has no encoding
  std::vector<AccumulatorUpdate> accumulators;
};
struct TaskKilled {
  std::string reason;
  std::vector<AccumulatorUpdate> accumulators;
};
struct TaskCommitDenied {
  int32_t job = 0, partition = 0, attempt = 0;
};
struct ExecutorLostFailure {
  std::string executor_id, reason;
  bool app_caused = true;
};
struct TaskResultLost {};
struct UnknownReason {
  std::string detail;
};

using EndReason =
    std::variant<Success, Resubmitted, FetchFailed, ExceptionFailure, TaskKilled, TaskCommitDenied,
                 ExecutorLostFailure, TaskResultLost, UnknownReason>;

// "FetchFailed", "ExceptionFailure"...
[[nodiscard]] std::string_view kind_name(const EndReason& reason);
// For people: the text that stands behind "Lost task ...: ".
[[nodiscard]] std::string describe(const EndReason& reason);
// C9.4: does the failure count toward tenon.task.maxFailures? started: the attempt had reached
// RUNNING.
[[nodiscard]] bool counts_toward_failures(const EndReason& reason, bool started);
// The failure as an Error chain: type and text of the exception and of each of its causes; nullptr
// for Success.
[[nodiscard]] std::shared_ptr<const Error> to_error(const EndReason& reason);

// Why an executor went.
struct LossReason {
  enum class Kind : uint8_t {
    exited,
    unreachable,
    killed,
    preempted,
    decommissioned,
    start_failed
  };
  Kind kind = Kind::exited;
  int32_t exit_code = 0;
  bool has_exit_code = false;
  bool app_caused = true;
  bool host_lost = false;  // what the host stored is gone too
  std::string host, message;
};
[[nodiscard]] std::string describe(const LossReason& reason);

}  // namespace tenon::task
