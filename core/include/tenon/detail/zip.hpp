/// @file zip.hpp Operators that walk two Rdds' partitions side by side. Not for programs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tenon/detail/narrow.hpp"

namespace tenon::detail {

/// Partitions of one length are not (invalid_argument).
[[noreturn]] TENON_API void throw_unequal_zip(int32_t partition);

/// Record i of the left with record i of the right.
template <class T, class U>
class ZipOperator final : public RddOperator {
 public:
  explicit ZipOperator(std::string_view) {}
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<Zipped>(context, partition);
  }

 private:
  class Zipped final : public Stream<std::pair<T, U>> {
   public:
    Zipped(PartitionContext& context, int32_t partition)
        : left_(context.parent(0, partition)),
          right_(context.parent(1, partition)),
          context_(context),
          partition_(partition) {}
    std::span<std::pair<T, U>> next() override {
      return noting_failure(context_, [this] { return read(); });
    }

   private:
    // Pairs may look into the batches of both sides: one call hands on what is in both.
    std::span<std::pair<T, U>> read() {
      context_.task().throw_if_killed();
      batch_.clear();
      if (lefts_.empty()) lefts_ = typed<T>(left_).next();
      if (rights_.empty()) rights_ = typed<U>(right_).next();
      if (lefts_.empty() != rights_.empty()) throw_unequal_zip(partition_);
      const size_t n = std::min({lefts_.size(), rights_.size(), kBatchSize});
      for (size_t i = 0; i < n; ++i) batch_.emplace(std::move(lefts_[i]), std::move(rights_[i]));
      lefts_ = lefts_.subspan(n);
      rights_ = rights_.subspan(n);
      return batch_.span();
    }

    StreamPtr left_, right_;
    PartitionContext& context_;
    int32_t partition_;
    std::span<T> lefts_;
    std::span<U> rights_;
    Batch<std::pair<T, U>> batch_;
  };
};

template <class F, class T, class U>
using zip_range_t = std::remove_cvref_t<std::invoke_result_t<const F&, Records<T>&, Records<U>&>>;

/// f over a partition of each side.
template <class F, class T, class U>
class ZipPartitionsOperator final : public RddOperator {
 public:
  using Range = zip_range_t<F, T, U>;
  using V = range_element_t<Range>;
  explicit ZipPartitionsOperator(std::string_view bytes) : f_(read_function<F>(bytes)) {}
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<Whole>(f_, context, partition);
  }

 private:
  class Whole final : public Stream<V> {
   public:
    Whole(const F& f, PartitionContext& context, int32_t partition)
        : f_(f),
          left_(context.parent(0, partition)),
          right_(context.parent(1, partition)),
          context_(context),
          lefts_(typed<T>(left_)),
          rights_(typed<U>(right_)) {}
    std::span<V> next() override {
      return noting_failure(context_, [this] { return read(); });
    }

   private:
    std::span<V> read() {
      batch_.clear();
      if (!range_) range_.emplace(f_, lefts_, rights_);
      range_->fill(batch_);
      return batch_.span();
    }

    const F& f_;
    StreamPtr left_, right_;
    PartitionContext& context_;
    Records<T> lefts_;
    Records<U> rights_;
    std::optional<OpenRange<Range>> range_;
    Batch<V> batch_;
  };

  F f_;
};

/// Every record of a left partition with every record of a right one, which is held in memory.
template <class T, class U>
class CartesianOperator final : public RddOperator {
 public:
  using Out = std::pair<T, owned_t<U>>;
  explicit CartesianOperator(std::string_view bytes) : rights_(decode<int32_t>(bytes)) {}
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<Product>(context, partition / rights_, partition % rights_);
  }

 private:
  class Product final : public Stream<Out> {
   public:
    Product(PartitionContext& context, int32_t left, int32_t right)
        : left_(context.parent(0, left)), task_(context.task()) {
      const StreamPtr input = context.parent(1, right);
      for (auto batch = typed<U>(input).next(); !batch.empty(); batch = typed<U>(input).next()) {
        task_.throw_if_killed();
        for (U& record : batch) right_.push_back(to_owned(std::move(record)));
      }
    }
    std::span<Out> next() override {
      batch_.clear();
      task_.throw_if_killed();
      if (right_.empty()) return {};
      if (lefts_.empty()) lefts_ = typed<T>(left_).next();
      while (!lefts_.empty() && !batch_.full()) {
        batch_.emplace(lefts_.front(), right_[at_]);
        if (++at_ == right_.size()) {
          at_ = 0;
          lefts_ = lefts_.subspan(1);
        }
      }
      return batch_.span();
    }

   private:
    StreamPtr left_;
    const TaskContext& task_;
    std::span<T> lefts_;
    std::vector<owned_t<U>> right_;
    size_t at_ = 0;
    Batch<Out> batch_;
  };

  int32_t rights_;
};

}  // namespace tenon::detail
