// What a reduce task reads a shuffle with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "shuffle/fetch_failed.hpp"
#include "shuffle/map_outputs.hpp"
#include "storage/block_manager.hpp"
#include "tenon/detail/runtime.hpp"

namespace tenon::shuffle {

// A block with the number of its records.
struct FetchedBlock {
  detail::ShuffleBlock block;
  uint64_t records = 0;
};

// Gets blocks that lie in other executors. [any-thread]
class BlockTransfer {
 public:
  BlockTransfer() = default;
  virtual ~BlockTransfer() = default;
  BlockTransfer(const BlockTransfer&) = delete;
  BlockTransfer& operator=(const BlockTransfer&) = delete;

  // Blocks until it is there; nothing when the executor has no such block; throws when it cannot be
  // reached.
  virtual std::optional<FetchedBlock> fetch(const task::BlockManagerId& from, int32_t shuffle,
                                            uint64_t map_id, int32_t reduce) = 0;
};

// What a reader takes from its executor. All referenced outlive the reader.
struct ReaderEnvironment {
  storage::BlockManager& blocks;
  const std::string& executor_id;
  BlockTransfer* transfer = nullptr;  // null: blocks of other executors cannot be got
  const TaskContext& task;
  TaskMetrics& metrics;
  // Told of a failure before it is thrown.
  std::function<void(const task::FetchFailed&)> on_failure;
};

// The blocks of one reduce partition by map index, empty ones left out. Throws FetchFailedError:
// without an address, at once, when a map output is not available (C16.2); with one when a block
// cannot be got from there.
[[nodiscard]] std::unique_ptr<detail::ShuffleInput> make_shuffle_reader(
    int32_t shuffle, int32_t reduce, MapOutputsPtr outputs, ReaderEnvironment environment);

}  // namespace tenon::shuffle
