// The tasks of a set that wait for a launch, by where they would like to run (C9.1).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "task/cluster.hpp"
#include "task/task_set.hpp"

namespace tenon::task {

// A set of localities, from near to far.
class LocalityLevels {
 public:
  void add(Locality level) { bits_ |= bit(level); }
  [[nodiscard]] bool has(Locality level) const { return (bits_ & bit(level)) != 0; }
  [[nodiscard]] std::vector<Locality> list() const;
  friend bool operator==(LocalityLevels, LocalityLevels) = default;

 private:
  static uint8_t bit(Locality level) {
    return static_cast<uint8_t>(1U << static_cast<unsigned>(level));
  }
  uint8_t bits_ = 0;
};

inline constexpr Locality kLocalities[] = {Locality::process_local, Locality::node_local,
                                           Locality::no_pref, Locality::rack_local, Locality::any};

struct TaskChoice {
  int32_t index = 0;
  Locality locality = Locality::any;
};

// The lists are stacks that are cleaned lazily: an index that was launched through one list stays
// in the others until it comes up there. So the owner says which indices are still pending.
class PendingTasks {
 public:
  // is_pending(index) outlives this.
  PendingTasks(const TaskSet& set, Cluster& cluster, std::function<bool(int32_t)> is_pending);

  // Waits again; it will be the first of its lists.
  void add(int32_t index);
  // Takes the next task that may run there no farther from its data than max (C7.3, C10.6).
  [[nodiscard]] std::optional<TaskChoice> take(NameId executor, Locality max);
  // Nearest level at which the task may run there; nothing when that is farther than max.
  [[nodiscard]] std::optional<Locality> level_for(int32_t index, NameId executor, Locality max);
  // Levels at which something may be found with the executors that there are (C10.1).
  [[nodiscard]] LocalityLevels levels() const;
  // The host's rack has become known.
  void host_has_rack(NameId host, NameId rack);
  [[nodiscard]] bool has_preferences() const { return !by_host_.empty(); }
  // Entries of all lists.
  [[nodiscard]] size_t entries() const;

 private:
  using List = std::vector<int32_t>;
  using Lists = std::unordered_map<NameId, List>;

  void push(List& list, int32_t index);
  int32_t pop(List& list);
  int32_t pop(Lists& lists, NameId key);

  const TaskSet& set_;
  Cluster& cluster_;
  std::function<bool(int32_t)> is_pending_;
  Lists by_executor_, by_host_, by_rack_;
  List no_preference_;
  List with_preference_;  // for any executor; those without a preference stand in no_preference_
                          // alone
};

}  // namespace tenon::task
