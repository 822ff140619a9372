/// @file records.hpp
/// The records of one partition, as a function of the program sees them.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>

#include "tenon/detail/runtime.hpp"

namespace tenon {

/// An input range over a partition: `for (auto& record : records)`. Can be walked once; a record is
/// valid until the next step to a further one, and may be moved from.
template <class T>
class Records {
 public:
  using value_type = T;

  /// For core; `stream` outlives this.
  explicit Records(detail::Stream<T>& stream) : stream_(&stream) {}
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    explicit iterator(Records* records) : records_(records) {}
    T& operator*() const { return records_->batch_[records_->at_]; }
    T* operator->() const { return &**this; }
    iterator& operator++() {
      ++records_->at_;
      records_->fill();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& it, std::default_sentinel_t) { return it.ended(); }

   private:
    [[nodiscard]] bool ended() const { return records_->batch_.empty(); }
    Records* records_ = nullptr;
  };

  iterator begin() {
    fill();
    return iterator(this);
  }
  static std::default_sentinel_t end() { return {}; }

 private:
  void fill() {
    if (at_ < batch_.size() || (ended_ && batch_.empty())) return;
    batch_ = stream_->next();
    at_ = 0;
    ended_ = batch_.empty();
  }

  detail::Stream<T>* stream_;
  std::span<T> batch_;
  size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace tenon
