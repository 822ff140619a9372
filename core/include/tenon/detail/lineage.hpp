/// @file lineage.hpp What a step of a program is made of, without its types: the parts from which
///   core builds a lineage node. Not for programs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tenon/detail/operator.hpp"
#include "tenon/status.hpp"

namespace tenon::rdd {

using detail::Operator;

class Node;
using NodePtr = std::shared_ptr<const Node>;

/// What a partition of a source reads: a slice of values, a split of a file.
struct Partition {
  std::string data;                    ///< for the node's operator
  std::vector<std::string> preferred;  ///< hosts, or executor_<host>_<id>
};
using Partitions = std::vector<Partition>;

/// How keys are spread over partitions: equal partitioners put equal keys into partitions of equal
/// number.
struct Partitioner {
  int32_t partitions = 0;
  Operator spread{};  ///< a detail::KeySpread of the key's type; none: by hash
  [[nodiscard]] bool by_hash() const { return spread.id == 0; }
  friend bool operator==(const Partitioner&, const Partitioner&) = default;
};

/// Parent partitions from which one partition is made, within a stage.
struct NarrowDependency {
  NodePtr parent;
  std::function<std::vector<int32_t>(int32_t)> parents_of;  ///< empty: partition i from partition i
};

/// A wide dependency: the cut between two stages. Its identity is its shuffle id.
struct ShuffleDependency {
  int32_t shuffle_id = 0;
  NodePtr parent;
  int32_t reduces = 0;  ///< partitions on the reading side
  Operator writer;      ///< spreads a parent partition's records over the reduce partitions
  Partitioner partitioner;
  bool map_side_combine = false;
  CallSite call_site{};  ///< of the operation that the writer does the first half of
};
using ShufflePtr = std::shared_ptr<const ShuffleDependency>;

using Dependency = std::variant<NarrowDependency, ShufflePtr>;

inline bool is_shuffle(const Dependency& dependency) {
  return std::holds_alternative<ShufflePtr>(dependency);
}

/// A lineage node before it is made.
struct NodeSpec {
  int32_t id = 0;
  std::string name;  ///< empty: the operation
  CallSite call_site;
  Operator op;
  std::vector<Dependency> dependencies;
  /// Called once, in the thread that first needs it (never the scheduler's); may throw.
  std::function<Partitions()> partitions;
  std::optional<Partitioner> partitioner;
};

}  // namespace tenon::rdd
