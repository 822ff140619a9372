// Bytes that executors fetch from the driver by an id: stage binaries, broadcast values.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace tenon::service {

// Functions are [any-thread].
class BlobStore {
 public:
  using Blob = std::shared_ptr<const std::string>;

  // Replaces what has the id.
  void put(const std::string& id, Blob blob) {
    const std::lock_guard lock(mutex_);
    blobs_[id].swap(blob);
  }
  // nullptr when it is not there.
  [[nodiscard]] Blob get(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = blobs_.find(id);
    return found == blobs_.end() ? nullptr : found->second;
  }
  void remove(const std::string& id) {
    Blob removed;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    const auto found = blobs_.find(id);
    if (found == blobs_.end()) return;
    removed = std::move(found->second);
    blobs_.erase(found);
  }
  [[nodiscard]] size_t size() const {
    const std::lock_guard lock(mutex_);
    return blobs_.size();
  }

 private:
  mutable std::mutex mutex_;  // guards blobs_
  std::unordered_map<std::string, Blob> blobs_;
};

}  // namespace tenon::service
