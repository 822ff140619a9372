/// @file semi_join.hpp One side of a shuffle, chosen by the keys of the other. Not for programs.
#pragma once

#include <memory>
#include <utility>

#include "tenon/detail/wide.hpp"

namespace tenon::detail {

enum class SemiJoin {
  absent,        // the pairs whose key the other side does not have
  present_once,  // one pair for each key that both have
};

/// The right side's keys in a table, the left side streamed past it.
template <class L, class R, SemiJoin kind>
class SemiJoinOperator final : public RddOperator {
 public:
  using K = key_t<L>;
  using Out = std::pair<K, value_t<L>>;

  explicit SemiJoinOperator(std::string_view bytes)
      : left_shuffled_(read_flag(bytes, 0)), right_shuffled_(read_flag(bytes, 1)) {}
  static Operator make(bool left_shuffled, bool right_shuffled) {
    return operator_of<SemiJoinOperator>(flags_of({left_shuffled, right_shuffled}));
  }

  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    Keys keys;
    const StreamPtr right = open_pairs<R>(context, 1, partition, right_shuffled_);
    add_pairs<value_t<R>>(keys, *right, context.task(), [](bool&, value_t<R>&&) {});
    return std::make_unique<Chosen>(std::move(keys),
                                    open_pairs<L>(context, 0, partition, left_shuffled_), context);
  }

 private:
  using Keys = FlatTable<K, bool>;  // true: was handed on

  class Chosen final : public Stream<Out> {
   public:
    Chosen(Keys keys, StreamPtr left, PartitionContext& context)
        : keys_(std::move(keys)), left_(std::move(left)), context_(context) {}
    std::span<Out> next() override {
      return noting_failure(context_, [this] { return read(); });
    }

   private:
    std::span<Out> read() {
      return next_where(typed<Out>(left_), context_.task(),
                        [this](const Out& pair) { return chosen(pair.first); });
    }
    bool chosen(const K& key) {
      bool* seen = keys_.find(key, Hash<K>::of(key));
      if constexpr (kind == SemiJoin::absent) return seen == nullptr;
      return seen != nullptr && !std::exchange(*seen, true);
    }

    Keys keys_;
    StreamPtr left_;
    PartitionContext& context_;
  };

  bool left_shuffled_, right_shuffled_;
};

}  // namespace tenon::detail
