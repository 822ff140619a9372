#include "task/pending_tasks.hpp"

#include <algorithm>

namespace tenon::task {
namespace {

constexpr int32_t kNone = -1;

}  // namespace

std::vector<Locality> LocalityLevels::list() const {
  std::vector<Locality> levels;
  for (const Locality level : kLocalities) {
    if (has(level)) levels.push_back(level);
  }
  return levels;
}

PendingTasks::PendingTasks(const TaskSet& set, Cluster& cluster,
                           std::function<bool(int32_t)> is_pending)
    : set_(set), cluster_(cluster), is_pending_(std::move(is_pending)) {
  size_t free_tasks = 0;
  for (const TaskSpec& task : set.tasks) free_tasks += task.preferred.empty() ? 1 : 0;
  no_preference_.reserve(free_tasks);
  with_preference_.reserve(set.tasks.size() - free_tasks);
}

void PendingTasks::add(int32_t index) {
  const std::vector<Location>& preferred = set_.tasks[static_cast<size_t>(index)].preferred;
  if (preferred.empty()) return push(no_preference_, index);
  for (const Location& place : preferred) {
    if (!place.executor_id.empty()) {
      push(by_executor_[cluster_.executor_id(place.executor_id)], index);
    }
    const NameId host = cluster_.host_id(place.host);
    push(by_host_[host], index);
    const NameId rack = cluster_.rack_of(host);
    if (rack != kNoName) push(by_rack_[rack], index);
  }
  push(with_preference_, index);
}

void PendingTasks::push(List& list, int32_t index) {
  // A task that is launched and queued again and again would leave its old entries behind.
  if (list.size() == list.capacity() && list.size() >= 2 * set_.tasks.size() + 64) {
    std::vector<bool> seen(set_.tasks.size());
    List kept;
    for (auto it = list.rbegin(); it != list.rend(); ++it) {
      const auto at = static_cast<size_t>(*it);
      if (!seen[at] && is_pending_(*it)) kept.push_back(*it);
      seen[at] = true;
    }
    list.assign(kept.rbegin(), kept.rend());
  }
  if (list.empty() || list.back() != index) list.push_back(index);
}

int32_t PendingTasks::pop(List& list) {
  while (!list.empty()) {
    const int32_t index = list.back();
    list.pop_back();
    if (is_pending_(index)) return index;
  }
  return kNone;
}

int32_t PendingTasks::pop(Lists& lists, NameId key) {
  if (lists.empty()) return kNone;
  const auto it = lists.find(key);
  return it == lists.end() ? kNone : pop(it->second);
}

std::optional<TaskChoice> PendingTasks::take(NameId executor, Locality max) {
  int32_t index = pop(by_executor_, executor);
  if (index != kNone) return TaskChoice{index, Locality::process_local};
  const NameId host = cluster_.state(executor).host;
  if (max >= Locality::node_local) {
    index = pop(by_host_, host);
    if (index != kNone) return TaskChoice{index, Locality::node_local};
  }
  if (max >= Locality::no_pref) {
    index = pop(no_preference_);
    if (index != kNone) return TaskChoice{index, Locality::process_local};
  }
  if (max >= Locality::rack_local) {
    const NameId rack = cluster_.rack_of(host);
    index = rack == kNoName ? kNone : pop(by_rack_, rack);
    if (index != kNone) return TaskChoice{index, Locality::rack_local};
  }
  if (max >= Locality::any) {
    index = pop(with_preference_);
    if (index != kNone) return TaskChoice{index, Locality::any};
  }
  return std::nullopt;
}

std::optional<Locality> PendingTasks::level_for(int32_t index, NameId executor, Locality max) {
  const std::vector<Location>& preferred = set_.tasks[static_cast<size_t>(index)].preferred;
  const NameId host = cluster_.state(executor).host;
  const NameId rack = cluster_.rack_of(host);
  Locality level = Locality::any;
  if (preferred.empty()) {
    return max >= Locality::no_pref ? std::optional(Locality::process_local) : std::nullopt;
  }
  for (const Location& place : preferred) {
    const NameId place_host = cluster_.host_id(place.host);
    if (place.executor_id == cluster_.executor_name(executor)) {
      level = std::min(level, Locality::process_local);
    } else if (place_host == host) {
      level = std::min(level, Locality::node_local);
    } else if (rack != kNoName && cluster_.rack_of(place_host) == rack) {
      level = std::min(level, Locality::rack_local);
    }
  }
  return level <= max ? std::optional(level) : std::nullopt;
}

LocalityLevels PendingTasks::levels() const {
  LocalityLevels levels;
  const auto any_key = [](const Lists& lists, auto&& usable) {
    return std::ranges::any_of(lists, [&](const auto& entry) { return usable(entry.first); });
  };
  if (any_key(by_executor_, [this](NameId id) { return cluster_.usable(id); })) {
    levels.add(Locality::process_local);
  }
  if (any_key(by_host_, [this](NameId id) { return cluster_.host_usable(id); })) {
    levels.add(Locality::node_local);
  }
  if (!no_preference_.empty()) levels.add(Locality::no_pref);
  if (any_key(by_rack_, [this](NameId id) { return cluster_.rack_usable(id); })) {
    levels.add(Locality::rack_local);
  }
  levels.add(Locality::any);
  return levels;
}

void PendingTasks::host_has_rack(NameId host, NameId rack) {
  const auto it = by_host_.find(host);
  if (it == by_host_.end()) return;
  List& list = by_rack_[rack];
  for (const int32_t index : it->second) push(list, index);
}

size_t PendingTasks::entries() const {
  size_t count = no_preference_.size() + with_preference_.size();
  for (const Lists* lists : {&by_executor_, &by_host_, &by_rack_}) {
    for (const auto& [key, list] : *lists) count += list.size();
  }
  return count;
}

}  // namespace tenon::task
