// Where the partitions of a stage like to be computed (C6).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dag/map_output_tracker.hpp"
#include "rdd/node.hpp"
#include "task/task_set.hpp"

namespace tenon::dag {

// "host", "executor_<host>_<id>" or "hdfs_cache_<host>" (its host). Throws tenon::Error
// (invalid_argument) on another text that begins with "executor_".
[[nodiscard]] task::Location parse_location(std::string_view text);

// By partition the executors that hold it; null: the Rdd is not cached anywhere.
using CachedLocations = std::vector<std::vector<task::Location>>;
using CacheLookup = std::function<const CachedLocations*(const rdd::Node&)>;

// The preferred locations of one Rdd's partitions: those of the cached partition; else its own;
// else those of the first narrow parent partition that has any, depth first; else, where it reads a
// shuffle, the hosts with big outputs. One walk over the stage at construction; a partition costs
// nothing when no Rdd of the stage has a preference, and one look at each that has when all
// dependencies are one-to-one. Keeps references to all that it is made from.
class PreferredLocations {
 public:
  // reduce_locality: whether big map outputs count.
  PreferredLocations(const rdd::Node& node, const CacheLookup& cached,
                     const MapOutputTracker& tracker, bool reduce_locality);
  // Throws what a dependency's parents_of throws, and on a malformed location.
  [[nodiscard]] std::vector<task::Location> of(int32_t partition) const;
  // No partition has any.
  [[nodiscard]] bool none() const { return !any_; }

 private:
  // Narrow parents come between a node's own preferences and its shuffles.
  struct Step {
    const rdd::Node* node;
    bool shuffles;
  };
  [[nodiscard]] std::vector<task::Location> look(const Step& step, int32_t partition) const;
  [[nodiscard]] bool has_own(const rdd::Node& node) const;
  [[nodiscard]] bool has_shuffles(const rdd::Node& node) const;
  [[nodiscard]] std::vector<task::Location> walk(int32_t partition) const;

  const rdd::Node& node_;
  CacheLookup cached_;
  const MapOutputTracker& tracker_;
  bool reduce_locality_;
  bool any_ = false;
  bool one_to_one_ = true;
  std::vector<Step> steps_;  // with something to look at, in order; when one_to_one_
};

}  // namespace tenon::dag
