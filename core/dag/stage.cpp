#include "dag/stage.hpp"

#include <algorithm>

#include "rdd/walk.hpp"

namespace tenon::dag {

namespace {

std::string details_of(const CallSite& site) {
  if (site.file.empty()) return site.operation;
  return site.operation + " at " + site.file + ":" + std::to_string(site.line);
}

bool has_repeats(const std::vector<int32_t>& partitions, int32_t count) {
  std::vector<bool> seen(static_cast<size_t>(count));
  for (const int32_t partition : partitions) {
    const auto at = static_cast<size_t>(partition);
    if (seen.at(at)) return true;
    seen[at] = true;
  }
  return false;
}

}  // namespace

Stage::Stage(int32_t id, rdd::NodePtr node, std::vector<Stage*> parents, int32_t first_job,
             const CallSite& call_site)
    : node_(std::move(node)), parents_(std::move(parents)), first_job_(first_job) {
  info_.id = id;
  info_.name = call_site.text();
  info_.details = details_of(call_site);
  const std::vector<const rdd::Node*> nodes = parents_first(*node_, rdd::Reach::stage);
  info_.rdds.reserve(nodes.size());
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    info_.rdds.push_back(rdd::info_of(**it));
  }
  for (const Stage* parent : parents_) info_.parents.push_back(parent->id());
}

Stage::~Stage() = default;

std::string Stage::describe() const {
  return (kind() == task::TaskKind::result ? std::string("ResultStage ")
                                           : std::string("ShuffleMapStage ")) +
         std::to_string(id());
}

void Stage::begin_attempt(int32_t tasks) {
  info_.attempt = next_attempt_++;
  info_.task_count = tasks;
  info_.submitted_ms = 0;
  info_.completed_ms = 0;
  info_.failure.clear();
  info_.accumulables.clear();
  info_.task_locations.clear();
}

void Stage::note_skipped() {
  if (next_attempt_ == 0) next_attempt_ = 1;
}

ShuffleMapStage::ShuffleMapStage(int32_t id, rdd::ShufflePtr shuffle, std::vector<Stage*> parents,
                                 int32_t first_job, const MapOutputTracker& tracker)
    : Stage(id, shuffle->parent, std::move(parents), first_job, shuffle->parent->call_site()),
      shuffle_(std::move(shuffle)),
      tracker_(tracker),
      pending_(static_cast<size_t>(node()->partition_count())) {
  info().shuffle_id = shuffle_->shuffle_id;
  info().task_count = partitions();
}

void ShuffleMapStage::set_pending(const std::vector<int32_t>& partitions) {
  pending_.assign(pending_.size(), false);
  pending_count_ = 0;
  for (const int32_t partition : partitions) add_pending(partition);
}

void ShuffleMapStage::add_pending(int32_t partition) {
  auto bit = pending_.at(static_cast<size_t>(partition));
  if (bit) return;
  bit = true;
  ++pending_count_;
}

void ShuffleMapStage::remove_pending(int32_t partition) {
  auto bit = pending_.at(static_cast<size_t>(partition));
  if (!bit) return;
  bit = false;
  --pending_count_;
}

ResultStage::ResultStage(int32_t id, std::shared_ptr<const JobRequest> job,
                         std::vector<Stage*> parents)
    : Stage(id, job->node, std::move(parents), job->id, job->call_site),
      job_(std::move(job)),
      finished_(job_->partitions.size()),
      repeats_(has_repeats(job_->partitions, node()->partition_count())) {
  info().task_count = positions();
}

void ResultStage::set_finished(int32_t position) {
  finished_.at(static_cast<size_t>(position)) = true;
  ++finished_count_;
}

std::vector<int32_t> ResultStage::find_missing() const {
  std::vector<int32_t> missing;
  missing.reserve(finished_.size() - static_cast<size_t>(finished_count_));
  for (size_t i = 0; i < finished_.size(); ++i) {
    if (!finished_[i]) missing.push_back(static_cast<int32_t>(i));
  }
  return missing;
}

}  // namespace tenon::dag
