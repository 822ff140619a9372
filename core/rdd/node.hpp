// Lineage: what an Rdd<T> stands for in the driver, without its type.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tenon/detail/lineage.hpp"
#include "tenon/status.hpp"
#include "tenon/storage_level.hpp"

namespace tenon::rdd {

// Immutable but for what the user may set on it: name, storage level and checkpoint. Functions are
// [any-thread].
class Node {
 public:
  explicit Node(NodeSpec spec);
  ~Node();  // of a long lineage too: parents are released one after another, not by recursion
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  [[nodiscard]] int32_t id() const { return spec_.id; }
  [[nodiscard]] std::string name() const;
  void set_name(std::string name) const;
  [[nodiscard]] const CallSite& call_site() const { return spec_.call_site; }
  // These two change once at most, on the scheduler loop's thread: see cut_lineage().
  [[nodiscard]] const Operator& op() const { return spec_.op; }
  [[nodiscard]] const std::vector<Dependency>& dependencies() const { return spec_.dependencies; }
  [[nodiscard]] const std::optional<Partitioner>& partitioner() const { return spec_.partitioner; }

  // Computed at the first call and kept, after those of all ancestors; a call that throws leaves
  // nothing kept. The reference is good as long as the node.
  [[nodiscard]] const Partitions& partitions() const;
  [[nodiscard]] int32_t partition_count() const {
    return static_cast<int32_t>(partitions().size());
  }

  // What a node is made from: whatever may be the last owner of other nodes.
  struct Lineage {
    std::vector<Dependency> dependencies;
    std::function<Partitions()> partitions;
  };
  // A checkpoint has taken the place of its lineage.
  [[nodiscard]] bool checkpointed() const { return checkpointed_.load(std::memory_order_acquire); }

  // How executors keep partitions once computed.
  [[nodiscard]] StorageLevel level() const { return level_.load(std::memory_order_acquire); }
  [[nodiscard]] bool persisted() const { return level() != StorageLevel::none; }
  void set_level(StorageLevel level) const { level_.store(level, std::memory_order_release); }
  // Changes none to the level; returns the level before, which is left as it is otherwise.
  StorageLevel set_level_once(StorageLevel level) const {
    StorageLevel before = StorageLevel::none;
    level_.compare_exchange_strong(before, level, std::memory_order_acq_rel);
    return before;
  }
  // What keeps them, a detail::KeepOperator of the node's type with no bytes; known before the
  // level is set.
  [[nodiscard]] Operator keeper() const { return {keeper_.load(std::memory_order_relaxed), {}}; }
  void set_keeper(const Operator& keeper) const {
    keeper_.store(keeper.id, std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] const Partitions* kept_partitions() const;  // null: not computed
  const Partitions& compute_own() const;
  friend Lineage cut_lineage(const Node& node, Operator read,
                             const std::function<void(const std::function<void()>&)>& on_loop);

  mutable NodeSpec spec_;
  mutable std::atomic<bool> checkpointed_{false};
  mutable std::atomic<StorageLevel> level_{StorageLevel::none};
  mutable std::atomic<uint64_t> keeper_{0};
  mutable std::mutex mutex_;  // guards name_ and partitions_
  mutable std::string name_;
  mutable std::optional<Partitions> partitions_;
};

// While one lives, no lineage is cut: for walks on other threads than the scheduler loop's. Not
// twice on one thread.
class LineageReader {
 public:
  LineageReader();
  ~LineageReader();
  LineageReader(const LineageReader&) = delete;
  LineageReader& operator=(const LineageReader&) = delete;
};

// Makes the node a source that `read` makes, with the partitions it had. The change itself happens
// on the loop's thread, which on_loop reaches, between two of its turns; not on that thread.
// Returns what it was made from.
Node::Lineage cut_lineage(const Node& node, Operator read,
                          const std::function<void(const std::function<void()>&)>& on_loop);

// Calls partitions() of the node and of all its ancestors, in the caller's thread: what throws,
// throws here (C2.5).
void compute_partitions(const NodePtr& node);

// The lineage as text, indented at shuffles (RDD.toDebugString's form).
[[nodiscard]] std::string debug_string(const Node& node);

// Shuffles that are reached without passing another one. Each once, in the order of the walk.
[[nodiscard]] std::vector<ShufflePtr> direct_shuffles(const NodePtr& node);

[[nodiscard]] RddInfo info_of(const Node& node);

}  // namespace tenon::rdd
