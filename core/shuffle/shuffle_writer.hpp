// What a map task writes its output with.
#pragma once

#include <cstdint>
#include <memory>

#include "storage/block_manager.hpp"
#include "task/end_reason.hpp"
#include "tenon/detail/runtime.hpp"

namespace tenon::shuffle {

// Which output is written, and by whom.
struct MapOutputId {
  int32_t shuffle_id = 0;
  int32_t reduces = 0;
  uint64_t map_id = 0;  // id of the task attempt
};

// One attempt's output: nobody sees any of it before commit(), and nothing stays behind when it
// dies uncommitted (C16.4). One thread.
class ShuffleWriter : public detail::ShuffleOutput {
 public:
  // Makes the whole output visible at once. Called once, last.
  [[nodiscard]] virtual task::MapStatus commit() = 0;
};

// Writes to the memory of the executor's block manager, which outlives it, and counts in `metrics`,
// likewise.
[[nodiscard]] std::unique_ptr<ShuffleWriter> make_memory_shuffle_writer(
    const MapOutputId& id, task::BlockManagerId location, storage::BlockManager& blocks,
    TaskMetrics& metrics);

}  // namespace tenon::shuffle
