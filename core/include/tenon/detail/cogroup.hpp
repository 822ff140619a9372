/// @file cogroup.hpp The values of each key of several sides. Not for programs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/detail/wide.hpp"

namespace tenon::detail {

/// Lists of the values of each side by key, in the order in which keys come over the sides.
template <class... Sides>
class CogroupOperator final : public RddOperator {
 public:
  using K = key_t<std::tuple_element_t<0, std::tuple<Sides...>>>;
  using Lists = std::tuple<std::vector<value_t<Sides>>...>;
  using Out = std::pair<K, Lists>;

  /// A flag a side: it comes out of a shuffle.
  explicit CogroupOperator(std::string_view shuffled) : shuffled_(shuffled) {}

  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    FlatTable<K, Lists> table;
    add_sides(table, context, partition, std::index_sequence_for<Sides...>{});
    return std::make_unique<TableStream<K, Lists>>(std::move(table));
  }

 private:
  template <size_t... I>
  void add_sides(FlatTable<K, Lists>& table, PartitionContext& context, int32_t partition,
                 std::index_sequence<I...>) const {
    (add_side<I>(table, *open_pairs<Sides>(context, I, partition, read_flag(shuffled_, I)),
                 context.task()),
     ...);
  }
  template <size_t I>
  static void add_side(FlatTable<K, Lists>& table, StreamBase& stream, const TaskContext& task) {
    using V = typename std::tuple_element_t<I, Lists>::value_type;
    add_pairs<V>(table, stream, task,
                 [](Lists& lists, V&& value) { std::get<I>(lists).push_back(std::move(value)); });
  }

  std::string shuffled_;
};

}  // namespace tenon::detail
