#include "unit/dag/random_cluster.hpp"

#include <algorithm>

namespace tenon::dag::testing {

RandomCluster::RandomCluster(std::mt19937_64& random, int executors) : random_(random) {
  for (int i = 0; i < executors; ++i) machines_.push_back({std::to_string(i), true, false});
}

void RandomCluster::submit_tasks(task::TaskSetPtr set) {
  for (const SetPtr& other : sets_) {
    if (other->set->stage_id != set->stage_id) continue;
    if (other->set->stage_attempt >= set->stage_attempt)
      faults.emplace_back("attempts do not rise");
    other->live = false;
  }
  auto entry = std::make_shared<Set>();
  entry->states.assign(set->tasks.size(), State::pending);
  entry->places.assign(set->tasks.size(), -1);
  const rdd::StageGraph graph = rdd::decode_stage_graph(set->binary->bytes);
  for (const rdd::StageNode& node : graph.nodes) {
    for (const rdd::StageEdge& edge : node.dependencies) {
      if (const auto* shuffle = std::get_if<rdd::ShuffleEdge>(&edge)) {
        entry->shuffles.push_back(shuffle->shuffle_id);
      }
    }
  }
  for (const int32_t shuffle : entry->shuffles) {  // C3.13
    if (!tracker_->missing(shuffle).empty())
      faults.emplace_back("started before its parents were done");
  }
  std::set<int32_t> outputs;
  for (const task::TaskSpec& task : set->tasks) {
    if (!outputs.insert(task.output).second) faults.emplace_back("a task twice in one set");
  }
  if (set->tasks.empty()) faults.emplace_back("an empty set");
  entry->set = std::move(set);
  sets_.push_back(entry);
}

void RandomCluster::cancel_tasks(int32_t stage_id, const std::string& reason) {
  for (const SetPtr& set : sets_) {
    if (set->set->stage_id == stage_id) set->live = false;
  }
  kill_all_task_attempts(stage_id, reason);
}

void RandomCluster::kill_all_task_attempts(int32_t stage_id, const std::string& /*reason*/) {
  for (Attempt& attempt : running_) {
    if (attempt.set->set->stage_id == stage_id) attempt.killed = true;
  }
}

void RandomCluster::partition_completed(int32_t stage_id, int32_t partition) {
  for (const SetPtr& set : sets_) {
    if (!set->live || set->set->stage_id != stage_id) continue;
    for (size_t i = 0; i < set->states.size(); ++i) {
      if (set->set->tasks[i].partition == partition && set->states[i] != State::done) {
        set->states[i] = State::done;
      }
    }
  }
}

bool RandomCluster::start_task() {
  std::vector<std::pair<SetPtr, size_t>> pending;
  for (const SetPtr& set : sets_) {
    for (size_t i = 0; set->live && i < set->states.size(); ++i) {
      const bool copy = set->states[i] == State::running && pick(20) == 0;
      if (set->states[i] == State::pending || copy) pending.emplace_back(set, i);
    }
  }
  std::vector<int> usable;
  for (size_t i = 0; i < machines_.size(); ++i) {
    if (!machines_[i].known_dead) usable.push_back(static_cast<int>(i));
  }
  if (pending.empty() || usable.empty()) return false;
  const auto& [set, index] = pending[pick(pending.size())];
  set->states[index] = State::running;
  running_.push_back({set, index, usable[pick(usable.size())], next_task_++});
  TaskInfo info;
  info.id = running_.back().id;
  scheduler_->task_started(set->set, set->set->tasks[index], info);
  return true;
}

task::BlockManagerId RandomCluster::address(int executor) const {
  const Machine& machine = machines_[static_cast<size_t>(executor)];
  // Two executors a host.
  return {machine.id, std::to_string(executor / 2), "x"};
}

bool RandomCluster::holds(const task::BlockManagerId& at, const File& file) const {
  for (size_t i = 0; i < machines_.size(); ++i) {
    if (machines_[i].id != at.executor_id || !machines_[i].alive) continue;
    const auto found = files_.find(static_cast<int>(i));
    if (found != files_.end() && found->second.contains(file)) return true;
  }
  return false;
}

task::EndReason RandomCluster::outcome(const Attempt& attempt) {
  if (attempt.killed) return task::TaskKilled{"killed", {}};
  for (const int32_t shuffle : attempt.set->shuffles) {
    const MapOutputs outputs = tracker_->outputs(shuffle);
    for (size_t map = 0; map < outputs.statuses.size(); ++map) {
      const auto index = static_cast<int32_t>(map);
      const auto& status = outputs.statuses[map];
      if (!status) return task::FetchFailed{std::nullopt, shuffle, -1, -1, 0, "no location"};
      if (!holds(status->location, {shuffle, index})) {
        return task::FetchFailed{status->location, shuffle, 0, index, 0, "gone"};
      }
    }
  }
  auto result = std::make_shared<task::TaskResult>();
  const task::TaskSet& set = *attempt.set->set;
  const int32_t partition = set.tasks[attempt.index].partition;
  if (set.kind == task::TaskKind::result) {
    result->value = "partition " + std::to_string(partition);
    return task::Success{result};
  }
  const rdd::StageGraph graph = rdd::decode_stage_graph(set.binary->bytes);
  const auto& step = std::get<rdd::ShuffleWriteStep>(graph.last_step);
  files_[attempt.executor].insert({step.shuffle_id, partition});
  result->map_status =
      task::MapStatus{address(attempt.executor),
                      std::vector<uint64_t>(static_cast<size_t>(step.reduces), 1), attempt.id};
  return task::Success{result};
}

void RandomCluster::end(const Attempt& attempt, task::EndReason reason) {
  TaskInfo info;
  info.id = attempt.id;
  info.executor_id = machines_[static_cast<size_t>(attempt.executor)].id;
  scheduler_->task_ended(attempt.set->set, attempt.set->set->tasks[attempt.index], info,
                         std::move(reason));
}

void RandomCluster::requeue(const Attempt& attempt) {
  if (attempt.set->states[attempt.index] == State::running) {
    attempt.set->states[attempt.index] = State::pending;
  }
}

bool RandomCluster::finish_task() {
  std::vector<size_t> able;
  for (size_t i = 0; i < running_.size(); ++i) {
    if (machines_[static_cast<size_t>(running_[i].executor)].alive) able.push_back(i);
  }
  if (able.empty()) return false;
  const size_t at = able[pick(able.size())];
  const Attempt attempt = running_[at];
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
  if (!attempt.killed && pick(25) == 0) {
    end(attempt, task::ExceptionFailure{"bad luck", {}, {}, {}, false, {}});
    requeue(attempt);
    return true;
  }
  task::EndReason reason = outcome(attempt);
  if (std::holds_alternative<task::Success>(reason)) {
    attempt.set->states[attempt.index] = State::done;
    attempt.set->places[attempt.index] = attempt.executor;
    succeeded_.push_back(attempt);
  } else if (std::holds_alternative<task::FetchFailed>(reason)) {
    attempt.set->live = false;  // C4.8
  } else {
    requeue(attempt);
  }
  end(attempt, std::move(reason));
  return true;
}

bool RandomCluster::repeat_completion() {
  if (succeeded_.empty()) return false;
  const Attempt& attempt = succeeded_[pick(succeeded_.size())];
  if (!machines_[static_cast<size_t>(attempt.executor)].alive) return false;
  auto result = std::make_shared<task::TaskResult>();
  const task::TaskSet& set = *attempt.set->set;
  if (set.kind == task::TaskKind::result) {
    result->value = "partition " + std::to_string(set.tasks[attempt.index].partition);
  } else {
    const rdd::StageGraph graph = rdd::decode_stage_graph(set.binary->bytes);
    const auto reduces = std::get<rdd::ShuffleWriteStep>(graph.last_step).reduces;
    result->map_status =
        task::MapStatus{address(attempt.executor),
                        std::vector<uint64_t>(static_cast<size_t>(reduces), 1), attempt.id};
  }
  end(attempt, task::Success{result});
  return true;
}

bool RandomCluster::kill_executor() {
  std::vector<int> alive;
  for (size_t i = 0; i < machines_.size(); ++i) {
    if (machines_[i].alive) alive.push_back(static_cast<int>(i));
  }
  if (alive.size() < 2) return false;
  const int victim = alive[pick(alive.size())];
  machines_[static_cast<size_t>(victim)].alive = false;
  files_.erase(victim);
  return true;
}

bool RandomCluster::notice_loss() {
  for (size_t m = 0; m < machines_.size(); ++m) {
    if (machines_[m].alive || machines_[m].known_dead) continue;
    machines_[m].known_dead = true;
    scheduler_->executor_lost(machines_[m].id, {});
    std::vector<Attempt> lost;
    std::erase_if(running_, [&](const Attempt& attempt) {
      if (attempt.executor != static_cast<int>(m)) return false;
      lost.push_back(attempt);
      return true;
    });
    for (const Attempt& attempt : lost) {
      if (pick(4) == 0 && attempt.set->shuffles.empty() && !attempt.killed) {
        // Its success was under way when it died: a bogus completion for a map task.
        task::EndReason late = outcome(attempt);
        files_.erase(static_cast<int>(m));
        attempt.set->states[attempt.index] = State::done;
        end(attempt, std::move(late));
        continue;
      }
      end(attempt, task::ExecutorLostFailure{machines_[m].id, "died", true});
      requeue(attempt);
    }
    for (const SetPtr& set : sets_) {  // C9.9
      for (size_t i = 0; set->live && i < set->states.size(); ++i) {
        if (set->set->kind != task::TaskKind::shuffle_map || set->states[i] != State::done ||
            set->places[i] != static_cast<int>(m)) {
          continue;
        }
        set->states[i] = State::pending;
        set->places[i] = -1;
        end({set, i, static_cast<int>(m), next_task_++}, task::Resubmitted{});
      }
    }
    return true;
  }
  return false;
}

bool RandomCluster::add_executor() {
  for (size_t m = 0; m < machines_.size(); ++m) {
    if (!machines_[m].known_dead || pick(2) == 0) continue;
    const std::string id = machines_[m].id;
    const bool same = pick(2) == 0;
    machines_[m] = {same ? id : id + "'", true, false};
    scheduler_->executor_added(machines_[m].id, address(static_cast<int>(m)).host);
    return true;
  }
  return false;
}

}  // namespace tenon::dag::testing
