/// @file join.hpp Joins of two sides of a shuffle. Not for programs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/detail/wide.hpp"

namespace tenon::detail {

enum class JoinKind : uint8_t { inner, left, right, full };

constexpr bool keeps_left(JoinKind kind) {
  return kind == JoinKind::left || kind == JoinKind::full;
}
constexpr bool keeps_right(JoinKind kind) {
  return kind == JoinKind::right || kind == JoinKind::full;
}

/// A side's value in a joined record: optional where the other side's records stay without it.
template <class V, bool may_be_missing>
using joined_t = std::conditional_t<may_be_missing, std::optional<V>, V>;

/// The left side in a table, the right side streamed past it; then what of the left side no record
/// met.
template <class L, class R, JoinKind kind>
class JoinOperator final : public RddOperator {
 public:
  using K = key_t<L>;
  using V = value_t<L>;
  using W = value_t<R>;
  using Left = joined_t<V, keeps_right(kind)>;
  using Right = joined_t<W, keeps_left(kind)>;
  using Out = std::pair<K, std::pair<Left, Right>>;

  explicit JoinOperator(std::string_view bytes)
      : left_shuffled_(read_flag(bytes, 0)), right_shuffled_(read_flag(bytes, 1)) {}
  static Operator make(bool left_shuffled, bool right_shuffled) {
    return operator_of<JoinOperator>(flags_of({left_shuffled, right_shuffled}));
  }

  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    const StreamPtr left = open_pairs<L>(context, 0, partition, left_shuffled_);
    FlatTable<K, Held> table;
    add_pairs<V>(table, *left, context.task(),
                 [](Held& held, V&& value) { held.values.push_back(std::move(value)); });
    return std::make_unique<Joined>(std::move(table),
                                    open_pairs<R>(context, 1, partition, right_shuffled_), context);
  }

 private:
  // A key's values on the left.
  struct Held {
    std::vector<V> values;
    bool met = false;
  };

  class Joined final : public Stream<Out> {
   public:
    Joined(FlatTable<K, Held> left, StreamPtr right, PartitionContext& context)
        : left_(std::move(left)), right_(std::move(right)), context_(context) {}
    std::span<Out> next() override {
      return noting_failure(context_, [this] { return read(); });
    }

   private:
    std::span<Out> read() {
      batch_.clear();
      while (!batch_.full() && (!right_ended_ ? join_one() : hand_on_left())) {
      }
      return batch_.span();
    }

    // The right side's record with its next match; false: nothing to do on this side any more.
    bool join_one() {
      if (rest_.empty() && !take_right()) return keeps_left(kind);
      const auto& [key, value] = rest_.front();
      if (matches_ != nullptr) {
        batch_.emplace(key, std::pair<Left, Right>(matches_->values[at_++], value));
        if (at_ < matches_->values.size()) return true;
      } else if constexpr (keeps_right(kind)) {
        batch_.emplace(key, std::pair<Left, Right>(std::nullopt, value));
      }
      rest_ = rest_.subspan(1);
      look_up();
      return true;
    }
    bool take_right() {
      context_.task().throw_if_killed();
      rest_ = typed<std::pair<K, W>>(right_).next();
      right_ended_ = rest_.empty();
      look_up();
      return !right_ended_;
    }
    void look_up() {
      at_ = 0;
      if (rest_.empty()) return;
      const K& key = rest_.front().first;
      matches_ = left_.find(key, Hash<K>::of(key));
      if (matches_ != nullptr) matches_->met = true;
    }

    // The next value on the left whose key did not come on the right; false at the end.
    bool hand_on_left() {
      if constexpr (keeps_left(kind)) {
        if (chunk_ == left_.chunk_count()) return false;
        const auto entries = left_.chunk(chunk_);
        if (entry_ == entries.size()) {
          ++chunk_;
          entry_ = 0;
          return true;
        }
        auto& [key, held] = entries[entry_];
        if (held.met || at_ == held.values.size()) {
          ++entry_;
          at_ = 0;
          return true;
        }
        batch_.emplace(key, std::pair<Left, Right>(std::move(held.values[at_++]), std::nullopt));
        return true;
      } else {
        return false;
      }
    }

    FlatTable<K, Held> left_;
    StreamPtr right_;
    PartitionContext& context_;
    std::span<std::pair<K, W>> rest_;
    Held* matches_ = nullptr;  // of the first of rest_
    size_t at_ = 0;            // in the values
    bool right_ended_ = false;
    size_t chunk_ = 0, entry_ = 0;  // of left_, once the right side has ended
    Batch<Out> batch_;
  };

  bool left_shuffled_, right_shuffled_;
};

}  // namespace tenon::detail
