#include "dag/preferred_locations.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "tenon/error.hpp"

namespace tenon::dag {

namespace {

constexpr double kBigOutput = 0.2;  // of a partition's input

bool strip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

task::Location parse_location(std::string_view text) {
  std::string_view rest = text;
  if (strip(rest, "hdfs_cache_")) return {std::string(rest), {}};
  if (!strip(rest, "executor_")) return {std::string(text), {}};
  const size_t cut = rest.find('_');
  if (cut == std::string_view::npos || cut == 0 || cut + 1 == rest.size()) {
    throw Error(ErrorKind::invalid_argument, "Illegal executor location format: '" +
                                                 std::string(text) +
                                                 "'; it must be executor_<host>_<executor id>");
  }
  return {std::string(rest.substr(0, cut)), std::string(rest.substr(cut + 1))};
}

PreferredLocations::PreferredLocations(const rdd::Node& node, const CacheLookup& cached,
                                       const MapOutputTracker& tracker, bool reduce_locality)
    : node_(node), cached_(cached), tracker_(tracker), reduce_locality_(reduce_locality) {
  std::vector<Step> stack{{&node_, false}};
  std::unordered_set<const rdd::Node*> seen;
  while (!stack.empty()) {
    const Step step = stack.back();
    stack.pop_back();
    if (!step.shuffles && !seen.insert(step.node).second) continue;
    if (step.shuffles ? has_shuffles(*step.node) : has_own(*step.node)) steps_.push_back(step);
    if (step.shuffles) continue;
    stack.push_back({step.node, true});
    const auto& dependencies = step.node->dependencies();
    for (auto it = dependencies.rbegin(); it != dependencies.rend(); ++it) {
      const auto* narrow = std::get_if<rdd::NarrowDependency>(&*it);
      if (narrow == nullptr) continue;
      if (narrow->parents_of) one_to_one_ = false;
      stack.push_back({narrow->parent.get(), false});
    }
  }
  any_ = !steps_.empty();
}

bool PreferredLocations::has_own(const rdd::Node& node) const {
  if (cached_(node) != nullptr) return true;
  const rdd::Partitions& partitions = node.partitions();
  return std::any_of(partitions.begin(), partitions.end(),
                     [](const rdd::Partition& each) { return !each.preferred.empty(); });
}

bool PreferredLocations::has_shuffles(const rdd::Node& node) const {
  const auto is_shuffle = [](const rdd::Dependency& dependency) {
    return std::holds_alternative<rdd::ShufflePtr>(dependency);
  };
  return reduce_locality_ &&
         std::any_of(node.dependencies().begin(), node.dependencies().end(), is_shuffle);
}

std::vector<task::Location> PreferredLocations::look(const Step& step, int32_t partition) const {
  std::vector<task::Location> found;
  const auto at = static_cast<size_t>(partition);
  if (step.shuffles) {
    for (const rdd::Dependency& dependency : step.node->dependencies()) {
      const auto* shuffle = std::get_if<rdd::ShufflePtr>(&dependency);
      if (shuffle == nullptr) continue;
      for (std::string& host :
           tracker_.hosts_with_big_outputs((*shuffle)->shuffle_id, partition, kBigOutput)) {
        found.push_back({std::move(host), {}});
      }
      if (!found.empty()) break;
    }
    return found;
  }
  const CachedLocations* cached = cached_(*step.node);
  if (cached != nullptr && at < cached->size() && !(*cached)[at].empty()) return (*cached)[at];
  const rdd::Partitions& partitions = step.node->partitions();
  if (at >= partitions.size()) return found;
  for (const std::string& text : partitions[at].preferred) found.push_back(parse_location(text));
  return found;
}

std::vector<task::Location> PreferredLocations::of(int32_t partition) const {
  if (!one_to_one_) return walk(partition);
  for (const Step& step : steps_) {
    std::vector<task::Location> found = look(step, partition);
    if (!found.empty()) return found;
  }
  return {};
}

std::vector<task::Location> PreferredLocations::walk(int32_t partition) const {
  struct Visit {
    Step step;
    int32_t partition;
  };
  if (!any_) return {};
  std::vector<Visit> stack{{{&node_, false}, partition}};
  std::set<std::pair<const rdd::Node*, int32_t>> seen;
  const auto enter = [&](const rdd::Node* parent, int32_t of_parent) {
    stack.push_back({{parent, false}, of_parent});
  };
  while (!stack.empty()) {
    const Visit visit = stack.back();
    stack.pop_back();
    if (!visit.step.shuffles && !seen.emplace(visit.step.node, visit.partition).second) continue;
    if (!visit.step.shuffles || has_shuffles(*visit.step.node)) {
      std::vector<task::Location> found = look(visit.step, visit.partition);
      if (!found.empty()) return found;
    }
    if (visit.step.shuffles) continue;
    stack.push_back({{visit.step.node, true}, visit.partition});
    const auto& dependencies = visit.step.node->dependencies();
    for (auto it = dependencies.rbegin(); it != dependencies.rend(); ++it) {
      const auto* narrow = std::get_if<rdd::NarrowDependency>(&*it);
      if (narrow == nullptr) continue;
      if (!narrow->parents_of) {
        enter(narrow->parent.get(), visit.partition);
        continue;
      }
      const std::vector<int32_t> parents = narrow->parents_of(visit.partition);
      for (auto p = parents.rbegin(); p != parents.rend(); ++p) enter(narrow->parent.get(), *p);
    }
  }
  return {};
}

}  // namespace tenon::dag
