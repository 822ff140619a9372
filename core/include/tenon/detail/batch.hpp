/// @file batch.hpp
/// Storage for batches of records that need no default constructor. Not for programs.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace tenon::detail {

/// Records that an operator hands on at a time.
inline constexpr size_t kBatchSize = 1024;

/// Up to kBatchSize records; storage is got at the first one and kept.
template <class T>
class Batch {
 public:
  Batch() = default;
  ~Batch() {
    clear();
    release();
  }
  Batch(Batch&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Batch& operator=(Batch&&) = delete;

  template <class... Args>
  T& emplace(Args&&... args) {
    if (data_ == nullptr) data_ = std::allocator<T>().allocate(kBatchSize);
    T* place = ::new (static_cast<void*>(data_ + size_)) T(std::forward<Args>(args)...);
    ++size_;
    return *place;
  }
  void clear() {
    std::destroy_n(data_, size_);
    size_ = 0;
  }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool full() const { return size_ == kBatchSize; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::span<T> span() { return {data_, size_}; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  void release() {
    if (data_ != nullptr) std::allocator<T>().deallocate(data_, kBatchSize);
  }
  T* data_ = nullptr;
  size_t size_ = 0;
};

/// A growing sequence in chunks of one batch: nothing moves when it grows, and each chunk is a
/// batch to hand on.
template <class T>
class Chunks {
 public:
  template <class... Args>
  T& emplace(Args&&... args) {
    if (chunks_.empty() || chunks_.back().full()) chunks_.emplace_back();
    return chunks_.back().emplace(std::forward<Args>(args)...);
  }
  [[nodiscard]] size_t size() const {
    return chunks_.empty() ? 0 : (chunks_.size() - 1) * kBatchSize + chunks_.back().size();
  }
  T& operator[](size_t i) { return chunks_[i / kBatchSize][i % kBatchSize]; }
  [[nodiscard]] size_t chunk_count() const { return chunks_.size(); }
  [[nodiscard]] std::span<T> chunk(size_t i) { return chunks_[i].span(); }
  void clear() { chunks_.clear(); }

 private:
  std::vector<Batch<T>> chunks_;
};

}  // namespace tenon::detail
