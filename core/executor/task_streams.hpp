// The streams of one attempt: opens partitions of a stage's Rdds for it, from the cache where they
// are kept.
#pragma once

#include <memory>
#include <vector>

#include "executor/attempt.hpp"
#include "rdd/stage_graph.hpp"
#include "storage/memory_store.hpp"

namespace tenon::executor {

// For one task after another on one thread.
class TaskStreams {
 public:
  explicit TaskStreams(Attempt& attempt);
  ~TaskStreams();
  TaskStreams(const TaskStreams&) = delete;
  TaskStreams& operator=(const TaskStreams&) = delete;

  // A new task: the attempt's plan, and what its sources read (borrowed until the next call). No
  // stream of the task before is left.
  void begin(const rdd::PartitionData& data);

  // The records of a partition of the stage's last Rdd.
  [[nodiscard]] detail::StreamPtr open(int32_t partition);

 private:
  class Node;

  detail::StreamPtr open_node(size_t node, int32_t partition);
  detail::StreamPtr open_operator(size_t node, int32_t partition);
  detail::StreamPtr open_kept(size_t node, int32_t partition);
  detail::CachedPtr compute_kept(size_t node, int32_t partition,
                                 storage::MemoryStore::Claim& claim);

  Attempt& attempt_;
  StagePlanPtr plan_;
  const rdd::PartitionData* data_ = nullptr;
  std::vector<std::unique_ptr<Node>> nodes_;  // of plan_
};

}  // namespace tenon::executor
