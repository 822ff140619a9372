/// @file local_records.hpp
/// The records of an Rdd, brought to the driver partition by partition.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "tenon/detail/owned.hpp"
#include "tenon/records.hpp"

namespace tenon {

/// An input range that fetches one partition after another. Can be walked once; a record is valid
/// until the next step. One thread.
template <class T>
class LocalRecords {
 public:
  using value_type = detail::owned_t<T>;
  using iterator = typename Records<value_type>::iterator;

  /// For core: fetch runs the job of one partition.
  LocalRecords(int32_t partitions, std::function<std::vector<value_type>(int32_t)> fetch)
      : fetched_(partitions, std::move(fetch)), records_(fetched_) {}

  /// Runs the first job. @throws the job's error, as each step does
  iterator begin() { return records_.begin(); }
  static std::default_sentinel_t end() { return {}; }

 private:
  /// Each partition as a batch.
  class Fetched final : public detail::Stream<value_type> {
   public:
    Fetched(int32_t partitions, std::function<std::vector<value_type>(int32_t)> fetch)
        : partitions_(partitions), fetch_(std::move(fetch)) {}
    std::span<value_type> next() override {
      for (held_.clear(); held_.empty() && next_ < partitions_; ++next_) held_ = fetch_(next_);
      return held_;
    }

   private:
    int32_t partitions_;
    std::function<std::vector<value_type>(int32_t)> fetch_;
    std::vector<value_type> held_;
    int32_t next_ = 0;
  };

  Fetched fetched_;
  Records<value_type> records_;
};

}  // namespace tenon
