/// @file task_context.hpp
/// What a function of the program can ask about the task it runs in.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/status.hpp"

namespace tenon {

/// The running task attempt. Lives as long as the attempt; used on the attempt's own thread.
class TENON_API TaskContext {
 public:
  /// The attempt that runs on this thread; nullptr outside of tasks.
  [[nodiscard]] static const TaskContext* current() noexcept;

  TaskContext(const TaskContext&) = delete;
  TaskContext& operator=(const TaskContext&) = delete;

  [[nodiscard]] int32_t stage_id() const noexcept { return stage_id_; }
  [[nodiscard]] int32_t stage_attempt() const noexcept { return stage_attempt_; }
  /// Partition of the stage's last Rdd.
  [[nodiscard]] int32_t partition() const noexcept { return partition_; }
  /// Number of earlier attempts of this task.
  [[nodiscard]] int32_t attempt() const noexcept { return attempt_; }
  /// Unique in the application, never used again.
  [[nodiscard]] uint64_t task_id() const noexcept { return task_id_; }
  [[nodiscard]] const std::string& executor_id() const noexcept { return executor_id_; }
  [[nodiscard]] const std::string& app_id() const noexcept { return app_id_; }
  /// Attempt id of the application; empty where the manager has none.
  [[nodiscard]] const std::string& app_attempt_id() const noexcept { return app_attempt_id_; }
  /// A property of the job (Context::set_local_property); nothing when it was not set.
  [[nodiscard]] std::optional<std::string> local_property(std::string_view key) const;
  /// True once somebody asked for the end of this attempt. A long computation should look now and
  /// then, and return.
  [[nodiscard]] bool killed() const noexcept { return killed_.load(std::memory_order_relaxed); }
  /// Throws what ends the attempt as killed, when it is.
  void throw_if_killed() const {
    if (killed()) throw_killed();
  }
  /// Figures of this attempt so far.
  [[nodiscard]] const TaskMetrics& metrics() const noexcept { return metrics_; }

  using Completion = std::function<void(const TaskContext&)>;
  using Failure = std::function<void(const TaskContext&, const std::exception_ptr& error)>;
  /// Calls f at the attempt's end, on its thread, however it ends: the place to release what the
  /// function got for its task. Last added, first called. What one throws fails the attempt; the
  /// others are called all the same.
  void on_completion(Completion f) const { completions_.push_back(std::move(f)); }
  /// The same when the attempt ends with an exception, that of a kill included; before those of
  /// on_completion().
  void on_failure(Failure f) const { failures_.push_back(std::move(f)); }

 protected:
  TaskContext() = default;
  ~TaskContext() = default;
  [[noreturn]] void throw_killed() const;

  int32_t stage_id_ = 0, stage_attempt_ = 0, partition_ = 0, attempt_ = 0;
  uint64_t task_id_ = 0;
  std::string executor_id_, app_id_, app_attempt_id_;
  std::shared_ptr<const Properties> properties_;
  std::atomic<bool> killed_{false};
  TaskMetrics metrics_;
  mutable std::vector<Completion> completions_;
  mutable std::vector<Failure> failures_;
};

}  // namespace tenon
