// The code of a stage, made once in an executor and shared by all tasks of the stage attempt.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rdd/stage_graph.hpp"
#include "tenon/detail/runtime.hpp"

namespace tenon::executor {

// A stage graph with its operators. Immutable, [any-thread].
class StagePlan {
 public:
  // Throws tenon::Error: an operator that is not registered, bytes that do not fit one, an operator
  // of the wrong kind.
  explicit StagePlan(rdd::StageGraph graph);

  [[nodiscard]] const rdd::StageGraph& graph() const { return graph_; }
  [[nodiscard]] const std::shared_ptr<const Properties>& properties() const { return properties_; }
  // Most nodes that are nested in each other, from the last one to a source.
  [[nodiscard]] size_t depth() const { return depth_; }
  [[nodiscard]] const detail::RddOperator& operator_of(size_t node) const { return *nodes_[node]; }
  // Of a node with a storage level.
  [[nodiscard]] const detail::KeepOperator& keeper_of(size_t node) const { return *keepers_[node]; }
  // "map at wordcount.cpp:14"
  [[nodiscard]] std::string origin_of(size_t node) const;
  // nullptr in a stage that writes a shuffle.
  [[nodiscard]] const detail::ActionOperator* action() const { return action_.get(); }
  // nullptr in a result stage.
  [[nodiscard]] const detail::ShuffleWriteOperator* writer() const { return writer_.get(); }
  [[nodiscard]] const rdd::ShuffleWriteStep& shuffle() const {
    return std::get<rdd::ShuffleWriteStep>(graph_.last_step);
  }

 private:
  rdd::StageGraph graph_;
  size_t depth_ = 0;
  std::shared_ptr<const Properties> properties_;
  std::vector<std::unique_ptr<const detail::RddOperator>> nodes_;
  std::vector<std::unique_ptr<const detail::KeepOperator>> keepers_;  // null: not kept
  std::unique_ptr<const detail::ActionOperator> action_;
  std::unique_ptr<const detail::ShuffleWriteOperator> writer_;
};
using StagePlanPtr = std::shared_ptr<const StagePlan>;

// Plans by the id of their binary, the least recently used dropped. [any-thread]
class StagePlanCache {
 public:
  // Gets a binary from the driver; blocks; may throw.
  using Fetch = std::function<std::shared_ptr<const std::string>(const std::string& id)>;
  explicit StagePlanCache(Fetch fetch, size_t capacity = 64);

  // The plan; the first task that wants it makes it, from its own copy of the binary when it
  // brought one, and the others wait. What that throws goes to its task; the next one tries again.
  [[nodiscard]] StagePlanPtr get(std::string_view id, std::optional<std::string_view> binary);
  // Plans that are kept.
  [[nodiscard]] size_t size() const;

 private:
  struct Entry {
    std::mutex making;                          // held while the plan is made
    StagePlanPtr plan;                          // guarded by making
    int32_t stage_id = -1, stage_attempt = -1;  // once made; guarded by the cache's mutex
  };
  using EntryPtr = std::shared_ptr<Entry>;
  using Lru = std::list<std::pair<std::string, EntryPtr>>;  // front: least recently used

  EntryPtr entry_of(std::string_view id);
  // A plan of the entry was made: earlier attempts of its stage are not needed any more.
  void made(Entry& entry, const rdd::StageHeader& header);
  void erase(Lru::iterator at);

  const Fetch fetch_;
  const size_t capacity_;
  mutable std::mutex mutex_;  // guards the two below
  Lru lru_;
  std::unordered_map<std::string_view, Lru::iterator> table_;  // keys: views into lru_
};

}  // namespace tenon::executor
