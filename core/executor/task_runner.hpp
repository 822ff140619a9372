// Runs one task after another on one thread: from the payload of a launch to the status that ends
// it.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/attempt.hpp"
#include "executor/task_services.hpp"
#include "executor/task_streams.hpp"
#include "shuffle/shuffle_writer.hpp"
#include "task/backend.hpp"

namespace tenon::executor {

// A status of a task on its way to the driver; data as task/end_reason_codec.hpp has it, empty for
// running and returned.
struct Status {
  uint64_t task_id = 0;
  task::TaskState state = task::TaskState::running;
  std::string data;
};

// Decides once an attempt whether a kill came in time.
class KillGate {
 public:
  KillGate() = default;
  virtual ~KillGate() = default;
  KillGate(const KillGate&) = delete;
  KillGate& operator=(const KillGate&) = delete;
  // The reason of the kill that came before this call; later ones come too late. Called once for
  // each attempt.
  virtual std::optional<std::string> close() = 0;
};

class TaskRunner {
 public:
  // Both outlive the runner.
  TaskRunner(const ExecutorOptions& options, TaskServices& services);
  TaskRunner(const TaskRunner&) = delete;
  TaskRunner& operator=(const TaskRunner&) = delete;

  [[nodiscard]] Attempt& attempt() { return attempt_; }

  // Runs the task to its end. The attempt was reset for it. Never throws: whatever goes wrong is in
  // the status (C17.3).
  [[nodiscard]] Status run(std::string_view payload, KillGate& gate) noexcept;

 private:
  // What a run leaves behind to be reported.
  struct Outcome {
    task::TaskResult result;
    std::unique_ptr<shuffle::ShuffleWriter> writer;  // of a map task, not committed yet
  };

  void prepare(const TaskDescription& task);
  void compute(const TaskDescription& task, Outcome& outcome);
  Status end(std::optional<Outcome> outcome, const std::exception_ptr& error, KillGate& gate);
  Status finish(Outcome outcome);
  Status fail(const std::exception_ptr& error);
  Status killed(std::string reason);
  void keep_back_large_value(task::TaskResult& result);

  const ExecutorOptions& options_;
  TaskServices& services_;
  Attempt attempt_;
  TaskStreams streams_;
  std::string plan_id_;  // of the attempt's plan
};

}  // namespace tenon::executor
