#include "storage/block_manager.hpp"

#include <utility>

namespace tenon::storage {

uint64_t MapOutput::bytes() const {
  uint64_t sum = 0;
  for (const std::string& block : blocks) sum += block.size();
  return sum;
}

BlockManager::BlockManager(uint64_t memory_bytes, MemoryStore::OnUpdate on_update,
                           std::vector<std::string> local_dirs)
    : disk_(std::make_shared<DiskStore>(std::move(local_dirs))),
      memory_(memory_bytes, std::move(on_update), disk_) {}

void BlockManager::put_map_output(int32_t shuffle, uint64_t map_id, MapOutputPtr output) {
  const uint64_t bytes = output->bytes();
  const std::lock_guard lock(mutex_);
  if (map_outputs_[shuffle].emplace(map_id, std::move(output)).second) usage_.map_outputs += bytes;
}

MapOutputPtr BlockManager::map_output(int32_t shuffle, uint64_t map_id) const {
  const std::lock_guard lock(mutex_);
  const auto outputs = map_outputs_.find(shuffle);
  if (outputs == map_outputs_.end()) return nullptr;
  const auto found = outputs->second.find(map_id);
  return found == outputs->second.end() ? nullptr : found->second;
}

void BlockManager::remove_shuffle(int32_t shuffle) {
  std::unordered_map<uint64_t, MapOutputPtr> removed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto found = map_outputs_.find(shuffle);
  if (found == map_outputs_.end()) return;
  removed = std::move(found->second);
  map_outputs_.erase(found);
  for (const auto& [map_id, output] : removed) usage_.map_outputs -= output->bytes();
}

void BlockManager::put_result(uint64_t task_id, std::string bytes) {
  const std::lock_guard lock(mutex_);
  const uint64_t size = bytes.size();
  if (results_.emplace(task_id, std::move(bytes)).second) usage_.results += size;
}

std::optional<std::string> BlockManager::take_result(uint64_t task_id) {
  const std::lock_guard lock(mutex_);
  const auto found = results_.find(task_id);
  if (found == results_.end()) return std::nullopt;
  std::string bytes = std::move(found->second);
  results_.erase(found);
  usage_.results -= bytes.size();
  return bytes;
}

std::shared_ptr<const void> BlockManager::broadcast(uint64_t id,
                                                    const std::function<BroadcastValue()>& make) {
  std::shared_ptr<Broadcast> entry;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Broadcast>& slot = broadcasts_[id];
    if (!slot) slot = std::make_shared<Broadcast>();
    entry = slot;
  }
  const std::lock_guard making(entry->mutex);
  if (entry->value) return entry->value->value;
  try {
    entry->value = make();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    const auto found = broadcasts_.find(id);
    if (found != broadcasts_.end() && found->second == entry) broadcasts_.erase(found);
    throw;
  }
  const std::lock_guard lock(mutex_);
  const auto found = broadcasts_.find(id);
  if (found != broadcasts_.end() && found->second == entry) {
    entry->counted_bytes = entry->value->bytes;
    usage_.broadcasts += entry->counted_bytes;
  }
  return entry->value->value;
}

void BlockManager::remove_broadcast(uint64_t id) {
  std::shared_ptr<Broadcast> removed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto found = broadcasts_.find(id);
  if (found == broadcasts_.end()) return;
  removed = std::move(found->second);
  broadcasts_.erase(found);
  usage_.broadcasts -= removed->counted_bytes;
}

BlockManager::Usage BlockManager::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_;
}

}  // namespace tenon::storage
