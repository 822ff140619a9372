// The TaskScheduler as the DagScheduler sees it, which is made first.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "task/task_submitter.hpp"

namespace tenon::context {

class LateSubmitter final : public task::TaskSubmitter {
 public:
  // Before the first call of any other function. submitted: sees each set before it goes on.
  void set(task::TaskSubmitter& to, std::function<void(const task::TaskSetPtr&)> submitted) {
    to_ = &to;
    submitted_ = std::move(submitted);
  }

  void submit_tasks(task::TaskSetPtr set) override {
    submitted_(set);
    to_->submit_tasks(std::move(set));
  }
  void cancel_tasks(int32_t stage_id, const std::string& reason) override {
    to_->cancel_tasks(stage_id, reason);
  }
  void kill_all_task_attempts(int32_t stage_id, const std::string& reason) override {
    to_->kill_all_task_attempts(stage_id, reason);
  }
  bool kill_task_attempt(uint64_t task_id, const std::string& reason) override {
    return to_->kill_task_attempt(task_id, reason);
  }
  void partition_completed(int32_t stage_id, int32_t partition) override {
    to_->partition_completed(stage_id, partition);
  }
  [[nodiscard]] int32_t default_parallelism() const override { return to_->default_parallelism(); }

 private:
  task::TaskSubmitter* to_ = nullptr;
  std::function<void(const task::TaskSetPtr&)> submitted_;
};

}  // namespace tenon::context
