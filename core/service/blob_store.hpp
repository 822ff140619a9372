// Bytes that executors fetch from the driver by an id: stage binaries, broadcast values.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

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
  // why: what whoever asks for it later is told; of the latest kReasons that have one.
  void remove(const std::string& id, std::string why = {}) {
    Blob removed;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    if (!why.empty()) {
      reasons_.emplace_back(id, std::move(why));
      if (reasons_.size() > kReasons) reasons_.pop_front();
    }
    const auto found = blobs_.find(id);
    if (found == blobs_.end()) return;
    removed = std::move(found->second);
    blobs_.erase(found);
  }
  // Empty when it was not said.
  [[nodiscard]] std::string why_removed(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(reasons_, id, &std::pair<std::string, std::string>::first);
    return found == reasons_.end() ? std::string() : found->second;
  }
  [[nodiscard]] size_t size() const {
    const std::lock_guard lock(mutex_);
    return blobs_.size();
  }

 private:
  static constexpr size_t kReasons = 10'000;

  mutable std::mutex mutex_;  // guards the two below
  std::unordered_map<std::string, Blob> blobs_;
  std::deque<std::pair<std::string, std::string>> reasons_;  // by id, latest last
};

}  // namespace tenon::service
