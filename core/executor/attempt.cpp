#include "executor/attempt.hpp"

#include <exception>
#include <new>

#include "common/log.hpp"
#include "common/task_metrics.hpp"
#include "executor/task_services.hpp"
#include "tenon/detail/action.hpp"

namespace tenon::executor {
namespace {

const log::Logger kLog = log::logger("executor");

thread_local Attempt* current_attempt = nullptr;

std::string text_of_current() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is no std::exception";
  }
}

}  // namespace

TaskKilledError::TaskKilledError() : Error(ErrorKind::cancelled, "The task was killed") {}

Attempt::Scope::Scope(Attempt& attempt) : before_(std::exchange(current_attempt, &attempt)) {}
Attempt::Scope::~Scope() { current_attempt = before_; }

Attempt::Attempt(std::string executor_id, TaskServices& services) : services_(services) {
  executor_id_ = std::move(executor_id);
}

Attempt* Attempt::current() noexcept { return current_attempt; }

void Attempt::reset(uint64_t task_id) {
  task_id_ = task_id;
  killed_.store(false, std::memory_order_relaxed);
  metrics_ = TaskMetrics();
}

void Attempt::clear() {
  accumulators_.clear();
  broadcasts_.clear();
  fetch_failure_.reset();
  origin_.clear();
  completions_.clear();
  failures_.clear();
}

namespace {

// Calls the last added first, also those that are added meanwhile. The first exception, which
// becomes the attempt's when it has none; the others are logged.
template <class Calls, class... Args>
void call_in_reverse(Calls& calls, std::exception_ptr& error, const Args&... args) {
  while (!calls.empty()) {
    const auto call = std::move(calls.back());
    calls.pop_back();
    try {
      call(args...);
    } catch (...) {
      if (!error) {
        error = std::current_exception();
      } else {
        kLog.warn("a function that a task left for its end threw as well: " + text_of_current());
      }
    }
  }
}

}  // namespace

std::exception_ptr Attempt::complete(std::exception_ptr error) {
  const TaskContext& self = *this;
  const auto fail = [&] {
    const std::exception_ptr cause = error;
    call_in_reverse(failures_, error, self, cause);
  };
  if (error) fail();
  call_in_reverse(completions_, error, self);
  if (error) fail();
  return error;
}

void Attempt::set_task(const TaskDescription& task) {
  stage_id_ = task.stage_id;
  stage_attempt_ = task.stage_attempt;
  partition_ = task.partition;
  attempt_ = task.attempt;
}

void Attempt::set_plan(StagePlanPtr plan) {
  if (plan == plan_) return;
  plan_ = std::move(plan);
  app_id_ = plan_->graph().header.app_id;
  app_attempt_id_ = plan_->graph().header.app_attempt_id;
  properties_ = plan_->properties();
}

TaskMetrics Attempt::metrics_now() const { return snapshot(metrics_); }

detail::AccumulatorState* Attempt::accumulator(
    uint64_t id, std::unique_ptr<detail::AccumulatorState> (*make)(const void* zero),
    const void* zero) {
  for (const auto& [known, state] : accumulators_) {
    if (known == id) return state.get();
  }
  return accumulators_.emplace_back(id, make(zero)).second.get();
}

std::vector<task::AccumulatorUpdate> Attempt::take_accumulators() {
  std::vector<task::AccumulatorUpdate> updates;
  updates.reserve(accumulators_.size());
  for (const auto& [id, state] : accumulators_) {
    try {
      updates.push_back({id, state->encode()});
    } catch (...) {
      detail::throw_not_encodable("what the task added to an accumulator");
    }
  }
  accumulators_.clear();
  return updates;
}

const std::shared_ptr<const void>& Attempt::broadcast(uint64_t id,
                                                      detail::BroadcastDecoder decode) {
  for (const auto& [known, value] : broadcasts_) {
    if (known == id) return value;
  }
  const auto make = [&] {
    const auto bytes = services_.driver.broadcast(id);
    return storage::BroadcastValue{decode(*bytes), bytes->size()};
  };
  return broadcasts_.emplace_back(id, services_.blocks.broadcast(id, make)).second;
}

void Attempt::note_fetch_failure(const task::FetchFailed& failure) {
  if (!fetch_failure_) fetch_failure_ = failure;
}

void Attempt::note_origin(const std::string& origin) noexcept {
  if (!origin_.empty()) return;
  try {
    origin_ = origin;
  } catch (const std::bad_alloc&) {
    // The failure goes without its place.
  }
}

}  // namespace tenon::executor

namespace tenon {

using executor::Attempt;

const TaskContext* TaskContext::current() noexcept { return Attempt::current(); }

std::optional<std::string> TaskContext::local_property(std::string_view key) const {
  if (!properties_) return std::nullopt;
  const auto found = properties_->find(std::string(key));
  if (found == properties_->end()) return std::nullopt;
  return found->second;
}

void TaskContext::throw_killed() const { throw executor::TaskKilledError(); }

}  // namespace tenon

namespace tenon::detail {

AccumulatorState* task_accumulator(uint64_t id,
                                   std::unique_ptr<AccumulatorState> (*make)(const void* zero),
                                   const void* zero) {
  executor::Attempt* attempt = executor::Attempt::current();
  return attempt == nullptr ? nullptr : attempt->accumulator(id, make, zero);
}

void throw_not_encodable(const char* what) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    std::throw_with_nested(FatalError(ErrorKind::codec, std::string(what) + " cannot be encoded"));
  }
}

std::shared_ptr<const void> task_broadcast(uint64_t id, BroadcastDecoder decode) {
  executor::Attempt* attempt = executor::Attempt::current();
  if (attempt == nullptr) {
    throw Error(ErrorKind::internal, "A broadcast was asked for outside of a task");
  }
  return attempt->broadcast(id, decode);
}

}  // namespace tenon::detail
