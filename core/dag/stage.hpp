// Stages: the parts of a job between shuffles. Owned by StageTable, touched by the scheduler loop
// only.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dag/job.hpp"
#include "dag/map_output_tracker.hpp"
#include "rdd/node.hpp"
#include "task/task_set.hpp"
#include "tenon/status.hpp"

namespace tenon::dag {

class Stage {
 public:
  virtual ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  [[nodiscard]] int32_t id() const { return info_.id; }
  [[nodiscard]] const rdd::NodePtr& node() const { return node_; }
  // Stages whose shuffles it reads directly; they live at least as long as this one.
  [[nodiscard]] const std::vector<Stage*>& parents() const { return parents_; }
  [[nodiscard]] int32_t first_job() const { return first_job_; }
  [[nodiscard]] virtual task::TaskKind kind() const = 0;
  // What has to be computed yet: partitions of a map stage, positions of a result stage. Rising.
  [[nodiscard]] virtual std::vector<int32_t> find_missing() const = 0;
  // Partition of the node that a missing one stands for.
  [[nodiscard]] virtual int32_t partition_of(int32_t missing) const = 0;
  // "ShuffleMapStage 3", "ResultStage 4"
  [[nodiscard]] std::string describe() const;

  // Active jobs that need the stage.
  std::set<int32_t> jobs;
  // Attempts that ended with a fetch failure since the stage last succeeded (C4.4).
  std::set<int32_t> failed_attempts;
  // Named accumulators that its tasks updated.
  std::set<uint64_t> accumulators;

  // Of the latest attempt; of the first one to come before there is any.
  [[nodiscard]] const StageInfo& info() const { return info_; }
  [[nodiscard]] StageInfo& info() { return info_; }
  // A value of its own, for events.
  [[nodiscard]] std::shared_ptr<const StageInfo> snapshot() const {
    return std::make_shared<const StageInfo>(info_);
  }
  [[nodiscard]] int32_t next_attempt() const { return next_attempt_; }
  // The info becomes that of a new attempt.
  void begin_attempt(int32_t tasks);
  // A stage that was skipped has its first attempt behind it (C3.5).
  void note_skipped();

 protected:
  Stage(int32_t id, rdd::NodePtr node, std::vector<Stage*> parents, int32_t first_job,
        const CallSite& call_site);

 private:
  rdd::NodePtr node_;
  std::vector<Stage*> parents_;
  int32_t first_job_;
  int32_t next_attempt_ = 0;
  StageInfo info_;
};

// Writes the output of a shuffle.
class ShuffleMapStage final : public Stage {
 public:
  ShuffleMapStage(int32_t id, rdd::ShufflePtr shuffle, std::vector<Stage*> parents,
                  int32_t first_job, const MapOutputTracker& tracker);

  [[nodiscard]] const rdd::ShuffleDependency& shuffle() const { return *shuffle_; }
  [[nodiscard]] int32_t partitions() const { return static_cast<int32_t>(pending_.size()); }
  [[nodiscard]] bool available() const {
    return tracker_.available(shuffle_->shuffle_id) == partitions();
  }
  [[nodiscard]] task::TaskKind kind() const override { return task::TaskKind::shuffle_map; }
  [[nodiscard]] std::vector<int32_t> find_missing() const override {
    return tracker_.missing(shuffle_->shuffle_id);
  }
  [[nodiscard]] int32_t partition_of(int32_t missing) const override { return missing; }

  // Partitions whose success the running attempt waits for.
  void set_pending(const std::vector<int32_t>& partitions);
  void add_pending(int32_t partition);
  void remove_pending(int32_t partition);
  [[nodiscard]] int32_t pending() const { return pending_count_; }

  // Map-stage jobs that wait for it.
  std::set<int32_t> map_stage_jobs;

 private:
  rdd::ShufflePtr shuffle_;
  const MapOutputTracker& tracker_;
  std::vector<bool> pending_;
  int32_t pending_count_ = 0;
};

// Computes the values of a job. One a job.
class ResultStage final : public Stage {
 public:
  ResultStage(int32_t id, std::shared_ptr<const JobRequest> job, std::vector<Stage*> parents);

  [[nodiscard]] const rdd::Operator& action() const { return job_->action; }
  [[nodiscard]] int32_t positions() const { return static_cast<int32_t>(finished_.size()); }
  [[nodiscard]] bool finished(int32_t position) const {
    return finished_.at(static_cast<size_t>(position));
  }
  void set_finished(int32_t position);
  [[nodiscard]] bool all_finished() const { return finished_count_ == positions(); }
  // The job's list names a partition more than once.
  [[nodiscard]] bool repeats() const { return repeats_; }
  [[nodiscard]] task::TaskKind kind() const override { return task::TaskKind::result; }
  [[nodiscard]] std::vector<int32_t> find_missing() const override;
  [[nodiscard]] int32_t partition_of(int32_t missing) const override {
    return job_->partitions[static_cast<size_t>(missing)];
  }

 private:
  std::shared_ptr<const JobRequest> job_;
  std::vector<bool> finished_;  // by position
  int32_t finished_count_ = 0;
  bool repeats_ = false;
};

}  // namespace tenon::dag
