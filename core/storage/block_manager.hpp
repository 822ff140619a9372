// All blocks that one executor keeps: cached partitions, map outputs, results that are too large
// for a status, broadcasts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/memory_store.hpp"

namespace tenon::storage {

// What one attempt of a map task wrote, by reduce partition. Immutable once committed.
struct MapOutput {
  std::vector<std::string> blocks;
  std::vector<uint64_t> records;
  [[nodiscard]] uint64_t bytes() const;
};
using MapOutputPtr = std::shared_ptr<const MapOutput>;

struct BroadcastValue {
  std::shared_ptr<const void> value;
  uint64_t bytes = 0;  // as it travelled
};

// Functions are [any-thread].
class BlockManager {
 public:
  // memory_bytes: limit of the cached partitions (setting tenon.memory.storageLimit). Map outputs,
  // results and broadcasts are counted apart and never evicted.
  // local_dirs: for what goes to disk (setting tenon.local.dirs); none: nothing does.
  explicit BlockManager(uint64_t memory_bytes, MemoryStore::OnUpdate on_update = nullptr,
                        std::vector<std::string> local_dirs = {});
  BlockManager(const BlockManager&) = delete;
  BlockManager& operator=(const BlockManager&) = delete;

  [[nodiscard]] MemoryStore& memory() { return memory_; }
  [[nodiscard]] const DiskStore& disk() const { return *disk_; }

  // map_id: the task attempt that wrote it. Readers see all of it or nothing (C16.4).
  void put_map_output(int32_t shuffle, uint64_t map_id, MapOutputPtr output);
  // nullptr when it is not there.
  [[nodiscard]] MapOutputPtr map_output(int32_t shuffle, uint64_t map_id) const;
  void remove_shuffle(int32_t shuffle);

  // Block taskresult_<task id>.
  void put_result(uint64_t task_id, std::string bytes);
  // Gives the block away: it is read once (C11.3). Nothing when it is not there.
  [[nodiscard]] std::optional<std::string> take_result(uint64_t task_id);

  // The value, by make() for the first that asks; others wait. What make() throws is thrown to its
  // caller; the next one makes it again.
  [[nodiscard]] std::shared_ptr<const void> broadcast(uint64_t id,
                                                      const std::function<BroadcastValue()>& make);
  void remove_broadcast(uint64_t id);

  // Bytes apart from the cached partitions.
  struct Usage {
    uint64_t map_outputs = 0, results = 0, broadcasts = 0;
  };
  [[nodiscard]] Usage usage() const;

 private:
  struct Broadcast {
    std::mutex mutex;  // held while the value is made; guards value
    std::optional<BroadcastValue> value;
    uint64_t counted_bytes = 0;  // in usage_; guarded by the manager's mutex
  };

  const std::shared_ptr<DiskStore> disk_;
  MemoryStore memory_;
  mutable std::mutex mutex_;  // guards the tables and usage_
  std::unordered_map<int32_t, std::unordered_map<uint64_t, MapOutputPtr>> map_outputs_;
  std::unordered_map<uint64_t, std::string> results_;
  std::unordered_map<uint64_t, std::shared_ptr<Broadcast>> broadcasts_;
  Usage usage_;
};

}  // namespace tenon::storage
