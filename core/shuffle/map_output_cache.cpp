#include "shuffle/map_output_cache.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tenon::shuffle {
namespace {

// How soon a waiting task notices that it was killed.
constexpr std::chrono::milliseconds kKillCheck{20};

bool complete(const MapOutputs& outputs) {
  return std::ranges::all_of(outputs.statuses, [](const auto& s) { return s.has_value(); });
}

}  // namespace

MapOutputCache::MapOutputCache(Fetch fetch) : fetch_(std::move(fetch)) {}

void MapOutputCache::advance_epoch(uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  if (epoch <= epoch_) return;
  epoch_ = epoch;
  cached_.clear();
}

MapOutputsPtr MapOutputCache::get(int32_t shuffle, const TaskContext& task) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (const auto found = cached_.find(shuffle); found != cached_.end()) return found->second;
    if (fetching_.insert(shuffle).second) break;
    fetched_.wait_for(lock, kKillCheck);
    task.throw_if_killed();
  }
  const uint64_t epoch = epoch_;
  lock.unlock();
  MapOutputsPtr outputs;
  std::exception_ptr error;
  try {
    outputs = fetch_(shuffle, epoch);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  fetching_.erase(shuffle);
  fetched_.notify_all();
  if (error) std::rethrow_exception(error);
  if (outputs->epoch >= epoch_ && complete(*outputs)) cached_[shuffle] = outputs;
  return outputs;
}

void MapOutputCache::remove_shuffle(int32_t shuffle) {
  const std::lock_guard lock(mutex_);
  cached_.erase(shuffle);
}

}  // namespace tenon::shuffle
