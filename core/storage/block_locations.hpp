// The driver's table of where blocks of cached Rdds lie. Owned by the scheduler loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "task/task_set.hpp"

namespace tenon::storage {

class BlockLocations {
 public:
  BlockLocations() = default;
  virtual ~BlockLocations() = default;
  BlockLocations(const BlockLocations&) = delete;
  BlockLocations& operator=(const BlockLocations&) = delete;

  // For each partition of the Rdd the executors that hold it; empty: not cached.
  [[nodiscard]] virtual std::vector<std::vector<task::Location>> locations(
      int32_t rdd_id, int32_t partitions) const = 0;
  // Forgets all that the executor held.
  virtual void remove_executor(const std::string& executor_id) = 0;
};

}  // namespace tenon::storage
