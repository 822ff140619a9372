// What an executor needs to run the tasks of a stage, and how it travels: the StageBinary that all
// tasks of a stage attempt share, and the bytes that one task's sources read. MessagePack arrays
// with a version; decoders trust nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "rdd/node.hpp"
#include "tenon/status.hpp"

namespace tenon::rdd {

// A parent within the stage; which of its partitions are read is the operator's own knowledge.
struct NarrowEdge {
  size_t parent = 0;  // index into StageGraph::nodes, smaller than the node's own
};

// The output of another stage.
struct ShuffleEdge {
  int32_t shuffle_id = 0;
  int32_t reduces = 0;
};

using StageEdge = std::variant<NarrowEdge, ShuffleEdge>;

// A lineage node as an executor sees it.
struct StageNode {
  int32_t id = 0;  // of the Rdd: names its cached blocks
  std::string name;
  std::string call_site;  // "map at wordcount.cpp:14"; may be empty
  Operator op;
  int32_t partitions = 0;
  StorageLevel level = StorageLevel::none;
  Operator keeper;                      // where there is a level
  std::vector<StageEdge> dependencies;  // in the order of the Rdd's own
};

// The last step of a map task: the node's records go to the reduce partitions of a shuffle.
struct ShuffleWriteStep {
  int32_t shuffle_id = 0;
  int32_t reduces = 0;
  Operator writer;
  std::string call_site;  // of the operation behind the shuffle; may be empty
};

// The last step of a result task.
struct ActionStep {
  Operator action;
};

struct StageHeader {
  std::string app_id, app_attempt_id;
  int32_t stage_id = 0;
  int32_t stage_attempt = 0;
  Properties properties;
};

struct StageGraph {
  StageHeader header;
  std::vector<StageNode>
      nodes;  // parents before children; the last one is the stage's. Never empty.
  std::variant<ActionStep, ShuffleWriteStep> last_step;
};

// False: no class of this process is registered under the operator's id.
using OperatorKnown = std::function<bool(uint64_t id)>;

// Encodes the stage that ends in the node: its nodes up to shuffles and sources. Reads only what
// compute_partitions has computed. Throws tenon::Error (codec) when an operator is unknown (id 0,
// or `known` says no; an empty `known` knows all).
[[nodiscard]] std::string encode_stage(const StageHeader& header, const NodePtr& node,
                                       const Operator& action, const OperatorKnown& known = {});
[[nodiscard]] std::string encode_stage(const StageHeader& header, const ShuffleDependency& shuffle,
                                       const OperatorKnown& known = {});

// Throws tenon::Error (codec) on anything malformed; memory is taken only in proportion to the
// bytes.
[[nodiscard]] StageGraph decode_stage_graph(std::string_view bytes);

// Makes the bytes of each task of a stage: what Partition::data holds for each partition that the
// task's partition is made from within the stage. One walk over the stage's nodes at construction;
// then, when all dependencies are one-to-one, a task costs one step per node that has data. Holds
// the node.
class PartitionDataEncoder {
 public:
  explicit PartitionDataEncoder(NodePtr node);
  // null: nothing to read. Throws std::out_of_range when the partition, or one that a dependency
  // names, is not there; also what a dependency's parents_of throws.
  [[nodiscard]] std::shared_ptr<const std::string> encode(int32_t partition) const;

 private:
  struct Source {
    int32_t node_id;
    const Partitions* partitions;
  };
  void append_chain(std::string& out, int32_t partition) const;
  void append_walk(std::string& out, int32_t partition) const;

  NodePtr node_;
  bool one_to_one_ = true;
  std::vector<Source> sources_;  // nodes with data, when one_to_one_
};

// One task's bytes; a shorthand for tests and single calls.
[[nodiscard]] std::shared_ptr<const std::string> partition_data(const NodePtr& node,
                                                                int32_t partition);

// Looks the bytes of a task up. Views into the bytes it was made from, which outlive it.
class PartitionData {
 public:
  PartitionData() = default;
  // Throws tenon::Error (codec) on anything malformed. Empty bytes: no entry.
  explicit PartitionData(std::string_view bytes);
  // Empty when the task brought nothing for it.
  [[nodiscard]] std::string_view find(int32_t node_id, int32_t partition) const;
  [[nodiscard]] size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    int32_t node_id, partition;
    std::string_view bytes;
  };
  std::vector<Entry> entries_;  // sorted by node and partition
};

}  // namespace tenon::rdd
