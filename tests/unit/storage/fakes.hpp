// Partitions and tasks of tests.
#pragma once

#include <memory>

#include "tenon/detail/runtime.hpp"

namespace tenon::storage::testing {

struct FakePartition final : detail::CachedPartition {
  FakePartition(uint64_t partition_size, int partition_value)
      : size(partition_size), value(partition_value) {}
  uint64_t size;
  int value;
  [[nodiscard]] uint64_t bytes() const override { return size; }
  void encode(const detail::ByteSink& sink) const override { sink(std::string(size, 'x')); }
};

inline detail::CachedPtr partition(uint64_t size, int value = 0) {
  return std::make_shared<const FakePartition>(size, value);
}

inline int value_of(const detail::CachedPtr& partition) {
  return dynamic_cast<const FakePartition&>(*partition).value;
}

class FakeTask final : public TaskContext {
 public:
  FakeTask() = default;
  void kill() { killed_ = true; }
};

}  // namespace tenon::storage::testing
