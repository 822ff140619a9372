// How stages are submitted: parents that miss outputs first, then tasks for what is missing.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "dag/dag_scheduler.hpp"
#include "dag/errors.hpp"

namespace tenon::dag {

void DagScheduler::submit_stage(int32_t id) {
  std::vector<int32_t> stack{id};
  while (!stack.empty()) {
    const int32_t next = stack.back();
    stack.pop_back();
    Stage* stage = table_.find(next);
    const ActiveJob* job = stage == nullptr ? nullptr : find_job(*stage->jobs.begin());
    if (job == nullptr) {
      log(LogLevel::info, "No active job for stage " + std::to_string(next));
      continue;
    }
    if (table_.waiting.contains(next) || table_.running.contains(next) ||
        table_.failed.contains(next)) {
      continue;
    }
    const int32_t limit =
        std::max(settings_.max_consecutive_stage_attempts, settings_.max_stage_attempts);
    if (stage->next_attempt() >= limit) {
      abort_stage(*stage,
                  stage->describe() + " (name=" + stage->info().name +
                      ") has been resubmitted for the maximum allowable number of times: " +
                      std::to_string(limit) +
                      ", which is the max value of config `tenon.stage.maxAttempts` and "
                      "`tenon.stage.maxConsecutiveAttempts`.",
                  nullptr);
      continue;
    }
    const std::vector<int32_t> missing = missing_parents(*stage, job->id);
    if (missing.empty()) {
      submit_missing_tasks(*stage, *job);
      continue;
    }
    table_.waiting.insert(next);
    stack.insert(stack.end(), missing.rbegin(), missing.rend());
  }
}

void DagScheduler::submit_waiting_children(int32_t parent) {
  std::vector<std::pair<int32_t, int32_t>> children;  // (first job, stage)
  for (const int32_t id : table_.waiting) {
    const Stage& stage = *table_.find(id);
    const auto is_parent = [parent](const Stage* each) { return each->id() == parent; };
    if (std::any_of(stage.parents().begin(), stage.parents().end(), is_parent)) {
      children.emplace_back(stage.first_job(), id);
    }
  }
  for (const auto& [job, id] : children) table_.waiting.erase(id);
  std::sort(children.begin(), children.end());
  for (const auto& [job, id] : children) submit_stage(id);
}

// Ids of the stages that lack outputs the stage would read, rising; nothing above a fully cached
// Rdd is looked at.
std::vector<int32_t> DagScheduler::missing_parents(Stage& stage, int32_t job) {
  std::set<int32_t> missing;
  std::vector<const rdd::Node*> stack{stage.node().get()};
  std::unordered_set<const rdd::Node*> seen{stage.node().get()};
  while (!stack.empty()) {
    const rdd::Node* node = stack.back();
    stack.pop_back();
    if (fully_cached(*node)) continue;
    for (const rdd::Dependency& dependency : node->dependencies()) {
      if (const auto* narrow = std::get_if<rdd::NarrowDependency>(&dependency)) {
        if (seen.insert(narrow->parent.get()).second) stack.push_back(narrow->parent.get());
        continue;
      }
      const rdd::ShufflePtr& shuffle = std::get<rdd::ShufflePtr>(dependency);
      ShuffleMapStage* parent = table_.find_by_shuffle(shuffle->shuffle_id);
      if (parent == nullptr) parent = &table_.map_stage_for(shuffle, job);
      if (parent->available()) {
        parent->note_skipped();
      } else {
        missing.insert(parent->id());
      }
    }
  }
  return {missing.begin(), missing.end()};
}

bool DagScheduler::fully_cached(const rdd::Node& node) {
  const CachedLocations* cached = cached_locations(node);
  if (cached == nullptr) return node.partition_count() == 0;
  return std::none_of(cached->begin(), cached->end(),
                      [](const std::vector<task::Location>& each) { return each.empty(); });
}

const CachedLocations* DagScheduler::cached_locations(const rdd::Node& node) {
  if (!node.persisted()) return nullptr;
  const auto [entry, added] = cached_.try_emplace(node.id());
  CachedLocations& locations = entry->second;
  if (added) {
    locations = blocks_.locations(node.id(), node.partition_count());
    const auto is_empty = [](const std::vector<task::Location>& each) { return each.empty(); };
    if (std::all_of(locations.begin(), locations.end(), is_empty)) locations.clear();
  }
  return locations.empty() ? nullptr : &locations;
}

std::vector<task::TaskSpec> DagScheduler::make_tasks(const Stage& stage,
                                                     const std::vector<int32_t>& missing) {
  const auto lookup = [this](const rdd::Node& node) { return cached_locations(node); };
  const PreferredLocations preferred(*stage.node(), lookup, tracker_, settings_.reduce_locality);
  const rdd::PartitionDataEncoder data(stage.node());
  std::vector<task::TaskSpec> tasks;
  tasks.reserve(missing.size());
  for (const int32_t output : missing) {
    const int32_t partition = stage.partition_of(output);
    tasks.push_back({partition, output, preferred.of(partition), data.encode(partition)});
  }
  return tasks;
}

std::shared_ptr<const task::StageBinary> DagScheduler::encode(const Stage& stage,
                                                              const ActiveJob& job) const {
  const rdd::StageHeader header{app_id_, app_attempt_id_, stage.id(), stage.info().attempt,
                                *job.properties};
  auto binary = std::make_shared<task::StageBinary>();
  binary->id = "stage " + std::to_string(stage.id()) + "." + std::to_string(stage.info().attempt);
  if (stage.kind() == task::TaskKind::result) {
    binary->bytes =
        rdd::encode_stage(header, stage.node(), static_cast<const ResultStage&>(stage).action(),
                          hooks_.operator_known);
  } else {
    binary->bytes = rdd::encode_stage(header, static_cast<const ShuffleMapStage&>(stage).shuffle(),
                                      hooks_.operator_known);
  }
  if (binary->bytes.size() > settings_.large_binary_bytes) {
    log(LogLevel::warning, "Broadcasting large task binary with size " +
                               std::to_string(binary->bytes.size() / 1024) + " KiB for " +
                               stage.describe());
  }
  return binary;
}

void DagScheduler::submit_missing_tasks(Stage& stage, const ActiveJob& job) {
  const std::vector<int32_t> missing = stage.find_missing();
  auto set = std::make_shared<task::TaskSet>();
  table_.running.insert(stage.id());
  try {
    set->tasks = make_tasks(stage, missing);
  } catch (...) {
    const std::shared_ptr<const Error> cause = current_error();
    begin_attempt(stage, job, missing.size(), {});
    abort_stage(stage, "Task creation failed: " + cause->message(), cause);
    return;
  }
  begin_attempt(stage, job, missing.size(), set->tasks);
  if (missing.empty()) {
    finish_empty_attempt(stage);
    return;
  }
  try {
    set->binary = encode(stage, job);
  } catch (...) {
    const std::shared_ptr<const Error> cause = current_error();
    const char* what = cause->kind() == ErrorKind::codec ? "Task not serializable: "
                                                         : "Task serialization failed: ";
    abort_stage(stage, what + cause->message(), cause);
    return;
  }
  set->stage_id = stage.id();
  set->stage_attempt = stage.info().attempt;
  set->priority = job.id;
  set->kind = stage.kind();
  set->properties = job.properties;
  set->epoch = tracker_.epoch();
  if (set->kind == task::TaskKind::shuffle_map) {
    static_cast<ShuffleMapStage&>(stage).set_pending(missing);
  }
  log(LogLevel::info, "Submitting " + std::to_string(missing.size()) + " missing tasks from " +
                          stage.describe() + " (" + stage.info().name + ")");
  submitter_.submit_tasks(std::move(set));
}

void DagScheduler::begin_attempt(Stage& stage, const ActiveJob& job, size_t missing,
                                 const std::vector<task::TaskSpec>& tasks) {
  stage.begin_attempt(static_cast<int32_t>(missing));
  StageInfo& info = stage.info();
  if (missing > 0) info.submitted_ms = now_ms();
  info.properties = *job.properties;
  const auto prefers = [](const task::TaskSpec& task) { return !task.preferred.empty(); };
  if (std::any_of(tasks.begin(), tasks.end(), prefers)) {  // else empty, which costs nothing
    info.task_locations.resize(tasks.size());
    for (size_t i = 0; i < tasks.size(); ++i) {
      for (const task::Location& at : tasks[i].preferred) info.task_locations[i].push_back(at.host);
    }
  }
  sink_.post(event::StageSubmitted{stage.snapshot()});
}

// An attempt that found nothing to compute (C3.8).
void DagScheduler::finish_empty_attempt(Stage& stage) {
  const int32_t id = stage.id();
  mark_finished(stage, std::nullopt);
  if (stage.kind() == task::TaskKind::shuffle_map) {
    finish_map_stage_jobs(static_cast<ShuffleMapStage&>(stage));
  }
  submit_waiting_children(id);
}

// failure: none when the stage succeeded.
void DagScheduler::mark_finished(Stage& stage, const std::optional<std::string>& failure) {
  StageInfo& info = stage.info();
  info.completed_ms = now_ms();
  info.failure = failure.value_or(std::string());
  info.accumulables = accumulators_.values(stage.accumulators);
  if (failure) {
    log(LogLevel::info, stage.describe() + " (" + info.name + ") failed: " + *failure);
  } else {
    stage.failed_attempts.clear();
    log(LogLevel::info, stage.describe() + " (" + info.name + ") finished");
  }
  sink_.post(event::StageCompleted{stage.snapshot()});
  table_.running.erase(stage.id());
}

}  // namespace tenon::dag
