/// @file local_records.hpp
/// The records of an Rdd, brought to the driver partition by partition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "tenon/detail/owned.hpp"

namespace tenon {

/// An input range that fetches one partition after another. Can be walked once; a record is valid
/// until the next step. One thread.
template <class T>
class LocalRecords {
 public:
  using value_type = detail::owned_t<T>;

  /// For core: fetch runs the job of one partition.
  LocalRecords(int32_t partitions, std::function<std::vector<value_type>(int32_t)> fetch)
      : partitions_(partitions), fetch_(std::move(fetch)) {}

  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = detail::owned_t<T>;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    explicit iterator(LocalRecords* records) : records_(records) {}
    value_type& operator*() const { return records_->held_[records_->at_]; }
    value_type* operator->() const { return &**this; }
    iterator& operator++() {
      ++records_->at_;
      records_->fill();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& it, std::default_sentinel_t) { return it.ended(); }

   private:
    [[nodiscard]] bool ended() const { return records_->at_ == records_->held_.size(); }
    LocalRecords* records_ = nullptr;
  };

  /// Runs the first job. @throws the job's error, as each step does
  iterator begin() {
    fill();
    return iterator(this);
  }
  static std::default_sentinel_t end() { return {}; }

 private:
  void fill() {
    while (at_ == held_.size() && next_ < partitions_) {
      held_ = fetch_(next_++);
      at_ = 0;
    }
  }

  int32_t partitions_;
  std::function<std::vector<value_type>(int32_t)> fetch_;
  std::vector<value_type> held_;
  size_t at_ = 0;
  int32_t next_ = 0;
};

}  // namespace tenon
