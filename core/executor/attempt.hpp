// The task attempt that runs on a thread of an executor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/stage_plan.hpp"
#include "executor/task_description.hpp"
#include "task/end_reason.hpp"
#include "tenon/detail/runtime.hpp"
#include "tenon/task_context.hpp"

namespace tenon::executor {

struct TaskServices;

// What ends an attempt that was killed.
class TaskKilledError final : public Error {
 public:
  TaskKilledError();
};

// The TaskContext of one thread, used for its tasks one after another. But for kill() and
// metrics_now() all on that thread.
class Attempt final : public TaskContext {
 public:
  // Makes it TaskContext::current() of the thread while it lives.
  class Scope {
   public:
    explicit Scope(Attempt& attempt);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Attempt* before_;
  };

  Attempt(std::string executor_id, TaskServices& services);
  ~Attempt() = default;

  // The attempt on this thread; nullptr outside of tasks.
  [[nodiscard]] static Attempt* current() noexcept;

  // Drops what the task before held of values; cheap when it held none.
  void clear();
  // A new task. Not while another thread may call kill() or metrics_now().
  void reset(uint64_t task_id);
  void set_task(const TaskDescription& task);
  void set_plan(StagePlanPtr plan);

  void kill() noexcept { killed_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] TaskMetrics metrics_now() const;
  [[nodiscard]] TaskMetrics& mutable_metrics() { return metrics_; }
  [[nodiscard]] TaskServices& services() { return services_; }
  [[nodiscard]] const StagePlanPtr& plan() const { return plan_; }

  [[nodiscard]] detail::AccumulatorState* accumulator(
      uint64_t id, std::unique_ptr<detail::AccumulatorState> (*make)(const void* zero),
      const void* zero);
  // The attempt's code has ended, with an exception or none: calls what it left to be called.
  // Returns the exception that the attempt ends with.
  [[nodiscard]] std::exception_ptr complete(std::exception_ptr error);

  // Encodes the partial values and forgets them.
  [[nodiscard]] std::vector<task::AccumulatorUpdate> take_accumulators();

  // Looked up once an attempt, then at no cost worth naming; stays valid until the attempt ends,
  // also when it is removed meanwhile.
  [[nodiscard]] const std::shared_ptr<const void>& broadcast(uint64_t id,
                                                             detail::BroadcastDecoder decode);

  // A block could not be fetched; the first one is kept.
  void note_fetch_failure(const task::FetchFailed& failure);
  [[nodiscard]] const std::optional<task::FetchFailed>& fetch_failure() const {
    return fetch_failure_;
  }
  // Where code threw: the first call counts.
  void note_origin(const std::string& origin) noexcept;
  [[nodiscard]] const std::string& origin() const { return origin_; }

 private:
  TaskServices& services_;
  StagePlanPtr plan_;
  std::vector<std::pair<uint64_t, std::unique_ptr<detail::AccumulatorState>>> accumulators_;
  std::vector<std::pair<uint64_t, std::shared_ptr<const void>>> broadcasts_;
  std::optional<task::FetchFailed> fetch_failure_;
  std::string origin_;
};

}  // namespace tenon::executor
