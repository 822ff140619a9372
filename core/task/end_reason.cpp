#include "task/end_reason.hpp"

namespace tenon::task {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

std::string address_text(const std::optional<BlockManagerId>& address) {
  if (!address) return "null";
  return "BlockManagerId(" + address->executor_id + ", " + address->host + ", " +
         address->endpoint + ")";
}

std::string exception_text(const std::string& type, const std::string& message) {
  if (type.empty()) return message;
  return message.empty() ? type : type + ": " + message;
}

std::string describe_exception(const ExceptionFailure& failure) {
  std::string text = exception_text(failure.type, failure.message);
  if (!failure.origin.empty()) text += "\n  at " + failure.origin;
  for (const auto& [type, message] : failure.causes) {
    text += "\n  caused by: " + exception_text(type, message);
  }
  return text;
}

std::string exit_text(int32_t code) {
  std::string text = "Executor exited with code " + std::to_string(code);
  switch (code) {
    case 50:
      return text + " (uncaught exception)";
    case 51:
      return text + " (uncaught exception, and another one while handling it)";
    case 52:
      return text + " (out of memory)";
    case 53:
      return text + " (failed to create a local directory)";
    case 54:
    case 55:
      return text + " (block store failed)";
    case 56:
      return text + " (could not send heartbeats to the driver)";
    default:
      break;
  }
  if (code > 128 && code <= 128 + 64) {
    text += " (died from signal " + std::to_string(code - 128) + "?)";
  }
  return text;
}

std::string loss_text(const LossReason& reason) {
  switch (reason.kind) {
    case LossReason::Kind::exited:
      return reason.has_exit_code ? exit_text(reason.exit_code) : "Executor process lost";
    case LossReason::Kind::unreachable:
      return "Executor unreachable";
    case LossReason::Kind::killed:
      return "Executor killed by driver";
    case LossReason::Kind::preempted:
      return "Executor preempted";
    case LossReason::Kind::decommissioned:
      return "Executor decommissioned";
    case LossReason::Kind::start_failed:
      return "Executor failed to start";
  }
  return "Executor lost";
}

}  // namespace

std::string_view kind_name(const EndReason& reason) {
  static constexpr std::string_view kNames[] = {
      "Success",          "Resubmitted",         "FetchFailed",    "ExceptionFailure", "TaskKilled",
      "TaskCommitDenied", "ExecutorLostFailure", "TaskResultLost", "UnknownReason"};
  static_assert(std::size(kNames) == std::variant_size_v<EndReason>);
  return kNames[reason.index()];
}

std::string describe(const EndReason& reason) {
  return std::visit(
      Overloaded{[](const Success&) { return std::string("Success"); },
                 [](const Resubmitted&) {
                   return std::string("Resubmitted (resubmitted due to lost executor)");
                 },
                 [](const FetchFailed& failed) {
                   return "FetchFailed(" + address_text(failed.address) +
                          ", shuffleId=" + std::to_string(failed.shuffle_id) +
                          ", mapIndex=" + std::to_string(failed.map_index) +
                          ", mapId=" + std::to_string(failed.map_id) +
                          ", reduceId=" + std::to_string(failed.reduce_id) + ", message=\n" +
                          failed.message + "\n)";
                 },
                 [](const ExceptionFailure& failure) { return describe_exception(failure); },
                 [](const TaskKilled& killed) { return "TaskKilled (" + killed.reason + ")"; },
                 [](const TaskCommitDenied& denied) {
                   return "TaskCommitDenied (Driver denied task commit) for job: " +
                          std::to_string(denied.job) +
                          ", partition: " + std::to_string(denied.partition) +
                          ", attemptNumber: " + std::to_string(denied.attempt);
                 },
                 [](const ExecutorLostFailure& lost) {
                   std::string text =
                       "ExecutorLostFailure (executor " + lost.executor_id + " exited ";
                   text += lost.app_caused ? "caused by one of the running tasks)"
                                           : "unrelated to the running tasks)";
                   return lost.reason.empty() ? text : text + " Reason: " + lost.reason;
                 },
                 [](const TaskResultLost&) {
                   return std::string("TaskResultLost (result lost from block manager)");
                 },
                 [](const UnknownReason& unknown) {
                   return unknown.detail.empty() ? std::string("UnknownReason")
                                                 : "UnknownReason (" + unknown.detail + ")";
                 }},
      reason);
}

bool counts_toward_failures(const EndReason& reason, bool started) {
  if (const auto* lost = std::get_if<ExecutorLostFailure>(&reason)) {
    return lost->app_caused && started;
  }
  return std::holds_alternative<ExceptionFailure>(reason) ||
         std::holds_alternative<TaskResultLost>(reason) ||
         std::holds_alternative<UnknownReason>(reason);
}

std::shared_ptr<const Error> to_error(const EndReason& reason) {
  if (std::holds_alternative<Success>(reason)) return nullptr;
  if (const auto* failure = std::get_if<ExceptionFailure>(&reason)) {
    std::shared_ptr<const Error> cause;
    for (auto it = failure->causes.rbegin(); it != failure->causes.rend(); ++it) {
      cause = std::make_shared<const Error>(ErrorKind::user_function,
                                            exception_text(it->first, it->second), cause);
    }
    std::string text = exception_text(failure->type, failure->message);
    if (!failure->origin.empty()) text += "\n  at " + failure->origin;
    return std::make_shared<const Error>(ErrorKind::user_function, std::move(text), cause);
  }
  const ErrorKind kind = std::holds_alternative<ExecutorLostFailure>(reason)
                             ? ErrorKind::executors_lost
                             : ErrorKind::job_failed;
  return std::make_shared<const Error>(kind, describe(reason));
}

std::string describe(const LossReason& reason) {
  std::string text = loss_text(reason);
  if (!reason.message.empty()) text += ": " + reason.message;
  return text;
}

}  // namespace tenon::task
