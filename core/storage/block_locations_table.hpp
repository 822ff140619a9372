// Which executors hold which partitions of cached Rdds, as they report it. Lives on the scheduler
// loop.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/block_locations.hpp"
#include "storage/memory_store.hpp"

namespace tenon::storage {

class BlockLocationsTable final : public BlockLocations {
 public:
  // News of an executor count between these two only: what still comes from a lost one changes
  // nothing.
  void add_executor(const std::string& executor_id, const std::string& host);
  void remove_executor(const std::string& executor_id) override;
  [[nodiscard]] bool knows(const std::string& executor_id) const {
    return hosts_.contains(executor_id);
  }

  void update(const std::string& executor_id, const BlockUpdate& update);
  // The Rdd was unpersisted.
  void remove_rdd(int32_t rdd_id);

  // Executors in the order in which they stored the partition.
  [[nodiscard]] std::vector<std::vector<task::Location>> locations(
      int32_t rdd_id, int32_t partitions) const override;
  [[nodiscard]] bool empty() const { return holders_.empty(); }

 private:
  std::unordered_map<std::string, std::string> hosts_;  // by executor id
  // Rdd -> partition -> executors.
  std::unordered_map<int32_t, std::map<int32_t, std::vector<task::Location>>> holders_;
};

}  // namespace tenon::storage
