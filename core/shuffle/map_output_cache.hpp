// An executor's copies of the driver's map-output tracker (contract C16.1).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "shuffle/map_outputs.hpp"
#include "tenon/task_context.hpp"

namespace tenon::shuffle {

// Functions are [any-thread].
class MapOutputCache {
 public:
  // Asks the driver; blocks; throws what the caller of get() is to see. known_epoch: the driver's
  // answer will be of this epoch or a later one.
  using Fetch = std::function<MapOutputsPtr(int32_t shuffle, uint64_t known_epoch)>;
  explicit MapOutputCache(Fetch fetch);

  // A task of this epoch came: what was cached under an earlier one is dropped.
  void advance_epoch(uint64_t epoch);

  // The statuses of a shuffle. One of the tasks that want them asks the driver, the others wait;
  // throws what ends the waiting task when it is killed. An answer with a missing status is given
  // but not kept.
  [[nodiscard]] MapOutputsPtr get(int32_t shuffle, const TaskContext& task);

  void remove_shuffle(int32_t shuffle);

 private:
  const Fetch fetch_;
  std::mutex mutex_;  // guards all below
  std::condition_variable fetched_;
  uint64_t epoch_ = 0;
  std::unordered_map<int32_t, MapOutputsPtr> cached_;
  std::unordered_set<int32_t> fetching_;
};

}  // namespace tenon::shuffle
