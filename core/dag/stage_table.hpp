// The DagScheduler's stages: which exist, which jobs need them, and which of them wait, run or have
// failed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "dag/stage.hpp"

namespace tenon::dag {

class StageTable {
 public:
  explicit StageTable(MapOutputTracker& tracker) : tracker_(tracker) {}
  StageTable(const StageTable&) = delete;
  StageTable& operator=(const StageTable&) = delete;

  // The job's last stage, with all the stages that it comes after; parents get smaller ids. What
  // throws leaves stages of the job behind: release_job().
  ResultStage& create_result_stage(std::shared_ptr<const JobRequest> job);
  // The stage of the shuffle, made with its ancestors when there is none; from now on the job needs
  // it and its ancestors.
  ShuffleMapStage& map_stage_for(const rdd::ShufflePtr& shuffle, int32_t job);

  [[nodiscard]] Stage* find(int32_t id) const;
  [[nodiscard]] ShuffleMapStage* find_by_shuffle(int32_t shuffle_id) const;
  // Ids of the stages that the job needs, rising.
  [[nodiscard]] std::vector<int32_t> stages_of(int32_t job) const;

  // The job needs its stages no more; those that no other job needs are gone.
  void release_job(int32_t job);
  void clear();

  // States by stage id. A stage may be both running and failed (its outputs are lost while it runs
  // again).
  std::set<int32_t> waiting, running, failed;

  [[nodiscard]] size_t stages() const { return stages_.size(); }
  [[nodiscard]] size_t shuffle_stages() const { return shuffle_stages_.size(); }
  [[nodiscard]] size_t job_stages() const { return job_stages_.size(); }

 private:
  std::vector<Stage*> parent_stages(const std::vector<rdd::ShufflePtr>& shuffles, int32_t job);
  ShuffleMapStage& create_map_stage(const rdd::ShufflePtr& shuffle, std::vector<Stage*> parents,
                                    int32_t job);
  void assign_to_job(Stage& stage, int32_t job);
  void remove(const Stage& stage);

  MapOutputTracker& tracker_;
  int32_t next_stage_id_ = 0;
  std::unordered_map<int32_t, std::unique_ptr<Stage>> stages_;
  std::unordered_map<int32_t, ShuffleMapStage*> shuffle_stages_;  // by shuffle id
  std::map<int32_t, std::set<int32_t>> job_stages_;               // stage ids by job
};

}  // namespace tenon::dag
