// A partition of a persisted Rdd, as executors and driver name it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace tenon::storage {

struct RddBlockId {
  int32_t rdd = 0;
  int32_t partition = 0;
  friend bool operator==(const RddBlockId&, const RddBlockId&) = default;
};

struct HashRddBlockId {
  size_t operator()(const RddBlockId& id) const {
    const uint64_t both = (uint64_t{static_cast<uint32_t>(id.rdd)} << 32) |
                          uint64_t{static_cast<uint32_t>(id.partition)};
    return std::hash<uint64_t>()(both * 0x9e3779b97f4a7c15ULL);
  }
};

// A partition came into an executor's keeping, or left it.
struct BlockUpdate {
  RddBlockId id;
  bool stored = false;
  uint64_t bytes = 0;
};

}  // namespace tenon::storage
