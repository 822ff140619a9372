#include "dag/stage_table.hpp"

#include <utility>

namespace tenon::dag {

ResultStage& StageTable::create_result_stage(std::shared_ptr<const JobRequest> job) {
  const int32_t job_id = job->id;
  std::vector<Stage*> parents = parent_stages(rdd::direct_shuffles(job->node), job_id);
  auto stage = std::make_unique<ResultStage>(next_stage_id_, std::move(job), std::move(parents));
  ++next_stage_id_;
  ResultStage& created = *stage;
  stages_.emplace(created.id(), std::move(stage));
  assign_to_job(created, job_id);
  return created;
}

std::vector<Stage*> StageTable::parent_stages(const std::vector<rdd::ShufflePtr>& shuffles,
                                              int32_t job) {
  std::vector<Stage*> parents;
  parents.reserve(shuffles.size());
  for (const rdd::ShufflePtr& shuffle : shuffles) parents.push_back(&map_stage_for(shuffle, job));
  return parents;
}

ShuffleMapStage& StageTable::map_stage_for(const rdd::ShufflePtr& shuffle, int32_t job) {
  struct Frame {
    rdd::ShufflePtr shuffle;
    std::vector<rdd::ShufflePtr> parents;
    size_t next;
  };
  std::vector<Frame> stack;
  const auto enter = [&](const rdd::ShufflePtr& each) {
    if (!shuffle_stages_.contains(each->shuffle_id)) {
      stack.push_back({each, rdd::direct_shuffles(each->parent), 0});
    }
  };
  enter(shuffle);
  while (!stack.empty()) {
    if (Frame& top = stack.back(); top.next < top.parents.size()) {
      enter(rdd::ShufflePtr(top.parents[top.next++]));  // a copy: the frame may move
      continue;
    }
    const Frame done = std::move(stack.back());
    stack.pop_back();
    std::vector<Stage*> parents;
    for (const rdd::ShufflePtr& parent : done.parents) {
      parents.push_back(shuffle_stages_.at(parent->shuffle_id));
    }
    create_map_stage(done.shuffle, std::move(parents), job);
  }
  ShuffleMapStage& stage = *shuffle_stages_.at(shuffle->shuffle_id);
  assign_to_job(stage, job);
  return stage;
}

ShuffleMapStage& StageTable::create_map_stage(const rdd::ShufflePtr& shuffle,
                                              std::vector<Stage*> parents, int32_t job) {
  auto stage =
      std::make_unique<ShuffleMapStage>(next_stage_id_, shuffle, std::move(parents), job, tracker_);
  ++next_stage_id_;
  ShuffleMapStage& created = *stage;
  stages_.emplace(created.id(), std::move(stage));
  shuffle_stages_.emplace(shuffle->shuffle_id, &created);
  tracker_.register_shuffle(shuffle->shuffle_id, created.partitions(), shuffle->reduces);
  assign_to_job(created, job);
  return created;
}

void StageTable::assign_to_job(Stage& stage, int32_t job) {
  std::vector<Stage*> stack{&stage};
  std::set<int32_t>& ids = job_stages_[job];
  while (!stack.empty()) {
    Stage* top = stack.back();
    stack.pop_back();
    if (!top->jobs.insert(job).second) continue;
    ids.insert(top->id());
    stack.insert(stack.end(), top->parents().begin(), top->parents().end());
  }
}

Stage* StageTable::find(int32_t id) const {
  const auto found = stages_.find(id);
  return found == stages_.end() ? nullptr : found->second.get();
}

ShuffleMapStage* StageTable::find_by_shuffle(int32_t shuffle_id) const {
  const auto found = shuffle_stages_.find(shuffle_id);
  return found == shuffle_stages_.end() ? nullptr : found->second;
}

std::vector<int32_t> StageTable::stages_of(int32_t job) const {
  const auto found = job_stages_.find(job);
  if (found == job_stages_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

void StageTable::release_job(int32_t job) {
  for (const int32_t id : stages_of(job)) {
    Stage& stage = *stages_.at(id);
    stage.jobs.erase(job);
    if (stage.jobs.empty()) remove(stage);
  }
  job_stages_.erase(job);
}

void StageTable::remove(const Stage& stage) {
  const int32_t id = stage.id();
  waiting.erase(id);
  running.erase(id);
  failed.erase(id);
  if (stage.kind() == task::TaskKind::shuffle_map) shuffle_stages_.erase(*stage.info().shuffle_id);
  stages_.erase(id);
}

void StageTable::clear() {
  waiting.clear();
  running.clear();
  failed.clear();
  shuffle_stages_.clear();
  job_stages_.clear();
  stages_.clear();
}

}  // namespace tenon::dag
