// Where the map outputs of a shuffle lie, as the driver told an executor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "task/end_reason.hpp"

namespace tenon::shuffle {

struct MapOutputs {
  uint64_t epoch = 0;                                    // of the driver's tracker when it answered
  std::vector<std::optional<task::MapStatus>> statuses;  // by map index; none: not available
};
using MapOutputsPtr = std::shared_ptr<const MapOutputs>;

}  // namespace tenon::shuffle
