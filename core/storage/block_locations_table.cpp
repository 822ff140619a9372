#include "storage/block_locations_table.hpp"

#include <algorithm>

namespace tenon::storage {

void BlockLocationsTable::add_executor(const std::string& executor_id, const std::string& host) {
  hosts_[executor_id] = host;
}

void BlockLocationsTable::remove_executor(const std::string& executor_id) {
  hosts_.erase(executor_id);
  const auto of_executor = [&](const task::Location& location) {
    return location.executor_id == executor_id;
  };
  for (auto& [rdd, partitions] : holders_) {
    for (auto& [partition, executors] : partitions) std::erase_if(executors, of_executor);
    std::erase_if(partitions, [](const auto& entry) { return entry.second.empty(); });
  }
  std::erase_if(holders_, [](const auto& entry) { return entry.second.empty(); });
}

void BlockLocationsTable::update(const std::string& executor_id, const BlockUpdate& update) {
  const auto host = hosts_.find(executor_id);
  if (host == hosts_.end()) return;
  const task::Location location{host->second, executor_id};
  if (update.stored) {
    std::vector<task::Location>& executors = holders_[update.id.rdd][update.id.partition];
    if (std::ranges::find(executors, location) == executors.end()) executors.push_back(location);
    return;
  }
  const auto rdd = holders_.find(update.id.rdd);
  if (rdd == holders_.end()) return;
  const auto partition = rdd->second.find(update.id.partition);
  if (partition == rdd->second.end()) return;
  std::erase(partition->second, location);
  if (partition->second.empty()) rdd->second.erase(partition);
  if (rdd->second.empty()) holders_.erase(rdd);
}

void BlockLocationsTable::remove_rdd(int32_t rdd_id) { holders_.erase(rdd_id); }

std::vector<std::vector<task::Location>> BlockLocationsTable::locations(int32_t rdd_id,
                                                                        int32_t partitions) const {
  std::vector<std::vector<task::Location>> result(static_cast<size_t>(std::max(partitions, 0)));
  const auto rdd = holders_.find(rdd_id);
  if (rdd == holders_.end()) return result;
  for (const auto& [partition, executors] : rdd->second) {
    if (partition >= 0 && partition < partitions) {
      result[static_cast<size_t>(partition)] = executors;
    }
  }
  return result;
}

}  // namespace tenon::storage
