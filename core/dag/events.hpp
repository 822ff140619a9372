// What the DagScheduler handles, one after another (C1.2). SpeculativeTaskSubmitted and
// UnschedulableTaskSet* belong to speculation and elastic allocation and come with them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "dag/job.hpp"
#include "task/end_reason.hpp"
#include "task/task_set.hpp"

namespace tenon::dag {

// A request on its way. Destroyed before anybody took the request (the scheduler or its loop was
// stopped), it fails the job: whoever waits for it is never left alone. Then job_failed comes on
// the thread that destroys it.
template <class Request>
class Pending {
 public:
  explicit Pending(Request request) : request_(std::make_unique<Request>(std::move(request))) {}
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&&) = delete;
  ~Pending() {
    if (!request_) return;
    const std::string text =
        "Job " + std::to_string(request_->id) + " cancelled because the context was shut down";
    request_->listener->job_failed(std::make_shared<const Error>(ErrorKind::stopped, text));
  }
  [[nodiscard]] const Request& operator*() const { return *request_; }
  [[nodiscard]] std::shared_ptr<const Request> take() { return std::move(request_); }

 private:
  std::unique_ptr<Request> request_;
};

struct JobSubmitted {
  Pending<JobRequest> request;
};
struct MapStageSubmitted {
  Pending<MapStageRequest> request;
};

// Cancellations. reason: why, for people; none: the standard one.
struct StageCancelled {
  int32_t stage = 0;
  std::optional<std::string> reason;
};
struct JobCancelled {
  int32_t job = 0;
  std::optional<std::string> reason;
};
struct JobGroupCancelled {
  std::string group;
};
struct JobTagCancelled {
  std::string tag;
};
struct AllJobsCancelled {};

// The user's result handler has done with a position that task_succeeded left to it, or threw.
struct ResultHandled {
  int32_t job = 0;
  int32_t position = 0;
};
struct ResultHandlerFailed {
  int32_t job = 0;
  int32_t position = 0;
  std::shared_ptr<const Error> error;
};

struct ExecutorAdded {
  std::string executor_id, host;
};
struct ExecutorLost {
  std::string executor_id;
  task::LossReason reason;
};
struct WorkerRemoved {
  std::string worker_id, host, message;
};

struct BeginEvent {
  task::TaskSetPtr set;
  TaskInfo info;
};
struct GettingResultEvent {
  task::TaskSetPtr set;
  TaskInfo info;
};
struct CompletionEvent {
  task::TaskSetPtr set;
  int32_t partition = 0, output = 0;  // of the TaskSpec
  TaskInfo info;
  task::EndReason reason;
};
struct TaskSetFailed {
  task::TaskSetPtr set;
  std::string reason;
  std::shared_ptr<const Error> cause;  // may be null
};
struct StageFailed {
  int32_t stage = 0;
  std::string reason;
  std::shared_ptr<const Error> cause;  // may be null
};
struct ResubmitFailedStages {};

using DagEvent =
    std::variant<JobSubmitted, MapStageSubmitted, StageCancelled, JobCancelled, JobGroupCancelled,
                 JobTagCancelled, AllJobsCancelled, ResultHandled, ResultHandlerFailed,
                 ExecutorAdded, ExecutorLost, WorkerRemoved, BeginEvent, GettingResultEvent,
                 CompletionEvent, TaskSetFailed, StageFailed, ResubmitFailedStages>;

}  // namespace tenon::dag
