/// @file join.hpp Joins of two sides of a shuffle. Not for programs.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "tenon/detail/wide.hpp"

namespace tenon::detail {

/// An inner join: the left side in a table, the right side streamed past it.
template <class L, class R>
class JoinOperator final
    : public TypedOperator<std::pair<key_t<L>, std::pair<value_t<L>, value_t<R>>>> {
 public:
  using K = key_t<L>;
  using V = value_t<L>;
  using W = value_t<R>;
  using Out = std::pair<K, std::pair<V, W>>;

  explicit JoinOperator(std::string_view bytes)
      : left_shuffled_(read_flag(bytes, 0)), right_shuffled_(read_flag(bytes, 1)) {}
  static Operator make(bool left_shuffled, bool right_shuffled) {
    return operator_of<JoinOperator>(flags_of({left_shuffled, right_shuffled}));
  }

  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    const StreamPtr left = open_pairs<L>(context, 0, partition, left_shuffled_);
    auto table = group<K, V>(*left, context.task());
    return std::make_unique<Joined>(
        std::move(table), open_pairs<R>(context, 1, partition, right_shuffled_), context.task());
  }

 private:
  class Joined final : public Stream<Out> {
   public:
    Joined(FlatTable<K, std::vector<V>> left, StreamPtr right, const TaskContext& task)
        : left_(std::move(left)), right_(std::move(right)), task_(task) {}
    std::span<Out> next() override {
      batch_.clear();
      for (;;) {
        while (matches_ != nullptr && match_ < matches_->size()) {
          if (batch_.full()) return batch_.span();
          const auto& [key, value] = rest_.front();
          batch_.emplace(key, std::pair<V, W>((*matches_)[match_++], value));
        }
        if (!rest_.empty()) rest_ = rest_.subspan(1);
        if (rest_.empty()) {
          task_.throw_if_killed();
          rest_ = typed<std::pair<K, W>>(right_).next();
          if (rest_.empty()) return batch_.span();
        }
        const K& key = rest_.front().first;
        matches_ = left_.find(key, Hash<K>::of(key));
        match_ = 0;
      }
    }

   private:
    FlatTable<K, std::vector<V>> left_;
    StreamPtr right_;
    const TaskContext& task_;
    std::span<std::pair<K, W>> rest_;
    const std::vector<V>* matches_ = nullptr;
    size_t match_ = 0;
    Batch<Out> batch_;
  };

  bool left_shuffled_, right_shuffled_;
};

}  // namespace tenon::detail
