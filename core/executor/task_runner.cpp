#include "executor/task_runner.hpp"

#include <chrono>
#include <utility>

#include "common/log.hpp"
#include "common/task_metrics.hpp"
#include "executor/deep_stack.hpp"
#include "executor/failure.hpp"
#include "task/end_reason_codec.hpp"

namespace tenon::executor {
namespace {

const log::Logger kLog = log::logger("executor");

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

TaskRunner::TaskRunner(const ExecutorOptions& options, TaskServices& services)
    : options_(options),
      services_(services),
      attempt_(options.location.executor_id, services),
      streams_(attempt_) {}

Status TaskRunner::run(std::string_view payload, KillGate& gate) noexcept {
  try {
    const Attempt::Scope scope(attempt_);
    attempt_.clear();
    std::optional<Outcome> outcome;
    std::exception_ptr error;
    try {
      attempt_.throw_if_killed();
      const int64_t start = now_ns();
      const TaskDescription task = decode_task_description(payload);
      prepare(task);
      const int64_t ready = now_ns();
      set_metric(attempt_.mutable_metrics().deserialize_ns, ready - start);
      attempt_.throw_if_killed();
      outcome.emplace();
      run_at_depth(attempt_.plan()->depth(), [&] {
        const Attempt::Scope here(attempt_);
        compute(task, *outcome);
      });
      set_metric(attempt_.mutable_metrics().run_ns, now_ns() - ready);
    } catch (...) {
      error = std::current_exception();
    }
    error = attempt_.complete(error);
    if (error) outcome.reset();
    Status status = end(std::move(outcome), error, gate);
    attempt_.clear();
    return status;
  } catch (...) {
    // Only want of memory while the end is described comes here. A status without a text still ends
    // the attempt.
    return {attempt_.task_id(), task::TaskState::failed, {}};
  }
}

void TaskRunner::prepare(const TaskDescription& task) {
  if (task.task_id != attempt_.task_id()) {
    throw Error(ErrorKind::codec, "Cannot decode a task: it is task " +
                                      std::to_string(task.task_id) + " but was launched as " +
                                      std::to_string(attempt_.task_id()));
  }
  attempt_.set_task(task);
  services_.outputs.advance_epoch(task.epoch);
  if (attempt_.plan() && plan_id_ == task.binary_id) return;
  StagePlanPtr plan = services_.plans.get(task.binary_id, task.binary);
  const rdd::StageHeader& header = plan->graph().header;
  if (header.stage_id != task.stage_id || header.stage_attempt != task.stage_attempt) {
    throw Error(ErrorKind::codec, "Cannot decode a task: it is of another stage than its code '" +
                                      std::string(task.binary_id) + "'");
  }
  attempt_.set_plan(std::move(plan));
  plan_id_ = task.binary_id;
}

void TaskRunner::compute(const TaskDescription& task, Outcome& outcome) {
  const rdd::PartitionData data(task.data);
  const StagePlan& plan = *attempt_.plan();
  streams_.begin(data);
  const detail::StreamPtr stream = streams_.open(task.partition);
  if (plan.action() != nullptr) {
    outcome.result.value = plan.action()->run(*stream, attempt_);
    return;
  }
  const rdd::ShuffleWriteStep& step = plan.shuffle();
  outcome.writer = shuffle::make_memory_shuffle_writer(
      {step.shuffle_id, step.reduces, attempt_.task_id()}, options_.location, services_.blocks,
      attempt_.mutable_metrics());
  try {
    plan.writer()->write(*stream, *outcome.writer, attempt_);
  } catch (...) {
    attempt_.note_origin(step.call_site);
    throw;
  }
}

Status TaskRunner::end(std::optional<Outcome> outcome, const std::exception_ptr& error,
                       KillGate& gate) {
  if (std::optional<std::string> reason = gate.close()) return killed(std::move(*reason));
  if (error) return fail(error);
  if (attempt_.fetch_failure()) {
    kLog.error(
        "task went on after a fetch failure that its code caught; it counts as success, task=" +
        std::to_string(attempt_.task_id()) + ": " + attempt_.fetch_failure()->message);
  }
  try {
    return finish(std::move(*outcome));
  } catch (...) {
    return fail(std::current_exception());
  }
}

Status TaskRunner::finish(Outcome outcome) {
  const int64_t start = now_ns();
  task::TaskResult& result = outcome.result;
  if (outcome.writer) result.map_status = outcome.writer->commit();
  result.accumulators = attempt_.take_accumulators();
  TaskMetrics& metrics = attempt_.mutable_metrics();
  set_metric(metrics.result_bytes, uint64_t{result.value.size()});
  keep_back_large_value(result);
  set_metric(metrics.serialize_ns, now_ns() - start);
  result.metrics = metrics;
  return {attempt_.task_id(), task::TaskState::finished, task::encode_task_result(result)};
}

// C11.1: a value over the total limit is dropped here, one over the direct limit waits as a block.
void TaskRunner::keep_back_large_value(task::TaskResult& result) {
  const uint64_t size = result.value.size();
  const bool too_large = options_.max_result_bytes != 0 && size > options_.max_result_bytes;
  if (!too_large && size <= options_.max_direct_result_bytes) return;
  result.missing_value_bytes = size;
  if (too_large) {
    kLog.warn("result is larger than tenon.driver.maxResultSize and was dropped, task=" +
              std::to_string(attempt_.task_id()) + " bytes=" + std::to_string(size));
  } else {
    services_.blocks.put_result(attempt_.task_id(), std::move(result.value));
    result.stored_at = options_.location;
  }
  result.value = std::string();
}

Status TaskRunner::fail(const std::exception_ptr& error) {
  const uint64_t id = attempt_.task_id();
  // C4.1: whatever the program made of the failure.
  if (attempt_.fetch_failure()) {
    return {id, task::TaskState::failed, task::encode_end_reason(*attempt_.fetch_failure())};
  }
  // C14.1: what the program's accumulators got in an attempt that did not succeed does not count.
  task::ExceptionFailure failure = describe_exception(error);
  failure.origin = attempt_.origin();
  return {id, task::TaskState::failed, task::encode_end_reason(std::move(failure))};
}

Status TaskRunner::killed(std::string reason) {
  task::TaskKilled killed{std::move(reason), {}};
  return {attempt_.task_id(), task::TaskState::killed, task::encode_end_reason(std::move(killed))};
}

}  // namespace tenon::executor
