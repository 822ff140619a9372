/// @file rdd_narrow.hpp
/// Rdd's operations within a stage. Included by tenon/rdd.hpp. Not for programs.
#pragma once

#include "tenon/rdd.hpp"

namespace tenon {

template <class T>
template <class U>
Rdd<U> Rdd<T>::narrow(CallSite site, detail::Operator op, bool keeps_partitioner) const {
  rdd::NodeSpec spec;
  spec.call_site = std::move(site);
  spec.op = std::move(op);
  spec.dependencies.emplace_back(rdd::NarrowDependency{node_, {}});
  spec.partitions = [parent = node_] {
    return rdd::Partitions(static_cast<size_t>(detail::partition_count(parent)));
  };
  if (keeps_partitioner) spec.partitioner = detail::partitioner_of(node_);
  return {driver_, detail::add_node(*driver_, std::move(spec))};
}

template <class T>
template <class F>
auto Rdd<T>::map_at(CallSite site, F f) const {
  TENON_CHECK_FUNCTION(F, "map");
  if constexpr (detail::is_shippable_v<F>) {
    static_assert(std::is_invocable_v<const F&, T>,
                  "map: the function cannot be called with this Rdd's element type");
    if constexpr (std::is_invocable_v<const F&, T>) {
      static_assert(!std::is_void_v<std::invoke_result_t<const F&, T>>,
                    "map: the function returns nothing; for_each is the action for that");
      using Op = detail::MapOperator<F, T>;
      return narrow<typename Op::U>(std::move(site),
                                    detail::operator_of<Op>(detail::encode_function(f)), false);
    }
  }
}

template <class T>
template <class F>
Rdd<T> Rdd<T>::filter_at(CallSite site, F f) const {
  TENON_CHECK_FUNCTION(F, "filter");
  if constexpr (detail::is_shippable_v<F>) {
    static_assert(std::is_invocable_v<const F&, const T&>,
                  "filter: the function cannot be called with this Rdd's element type");
    if constexpr (std::is_invocable_v<const F&, const T&>) {
      static_assert(std::is_convertible_v<std::invoke_result_t<const F&, const T&>, bool>,
                    "filter: the function must return bool");
      return narrow<T>(
          std::move(site),
          detail::operator_of<detail::FilterOperator<F, T>>(detail::encode_function(f)), true);
    }
  }
  return *this;
}

template <class T>
template <class F>
auto Rdd<T>::flat_map_at(CallSite site, F f) const {
  TENON_CHECK_FUNCTION(F, "flat_map");
  if constexpr (detail::is_shippable_v<F>) {
    static_assert(std::is_invocable_v<const F&, T>,
                  "flat_map: the function cannot be called with this Rdd's element type");
    if constexpr (std::is_invocable_v<const F&, T>) {
      using Range = detail::map_result_t<F, T>;
      static_assert(
          detail::RangeLike<Range>,
          "flat_map: the function must return a range, such as std::vector or tenon::words(line)");
      if constexpr (detail::RangeLike<Range>) {
        using Op = detail::FlatMapOperator<F, T>;
        return narrow<typename Op::U>(std::move(site),
                                      detail::operator_of<Op>(detail::encode_function(f)), false);
      }
    }
  }
}

template <class T>
template <class F>
auto Rdd<T>::map_partitions_at(CallSite site, F f) const {
  TENON_CHECK_FUNCTION(F, "map_partitions");
  if constexpr (detail::is_shippable_v<F>) {
    static_assert(
        std::is_invocable_v<const F&, Records<T>&>,
        "map_partitions: the function must take tenon::Records<T>& of this Rdd's element type T");
    if constexpr (std::is_invocable_v<const F&, Records<T>&>) {
      static_assert(detail::RangeLike<detail::partition_range_t<F, T>>,
                    "map_partitions: the function must return a range, such as std::vector");
      if constexpr (detail::RangeLike<detail::partition_range_t<F, T>>) {
        using Op = detail::MapPartitionsOperator<F, T>;
        return narrow<typename Op::U>(std::move(site),
                                      detail::operator_of<Op>(detail::encode_function(f)), false);
      }
    }
  }
}

namespace detail {

/// f of the record before the record itself.
template <class F>
struct WithKey {
  using Inner = F;
  F f;
  template <class T>
  auto operator()(T&& record) const {
    using Record = std::remove_cvref_t<T>;
    using K = std::remove_cvref_t<std::invoke_result_t<const F&, const Record&>>;
    K key = std::invoke(f, std::as_const(record));
    return std::pair<K, Record>(std::move(key), std::forward<T>(record));
  }
};
}  // namespace detail

template <class T>
template <class F>
auto Rdd<T>::key_by(F f, Location location) const {
  TENON_CHECK_FUNCTION(F, "key_by");
  if constexpr (detail::is_shippable_v<F>) {
    static_assert(std::is_invocable_v<const F&, const T&>,
                  "key_by: the function cannot be called with this Rdd's element type");
    if constexpr (std::is_invocable_v<const F&, const T&>) {
      using Op = detail::MapOperator<detail::WithKey<F>, T>;
      return narrow<typename Op::U>(
          detail::call_site("key_by", location),
          detail::operator_of<Op>(detail::encode_function(detail::WithKey<F>{std::move(f)})),
          false);
    }
  }
}

namespace detail {

/// A node that reads whole partitions of its parents, as the table says.
template <class T>
rdd::NodePtr gather(Driver& driver, CallSite site, std::vector<rdd::NodePtr> parents,
                    std::vector<std::vector<ParentPartition>> table) {
  rdd::NodeSpec spec;
  spec.call_site = std::move(site);
  spec.op = operator_of<GatherOperator<T>>(encode(table));
  const auto shared =
      std::make_shared<const std::vector<std::vector<ParentPartition>>>(std::move(table));
  for (uint32_t d = 0; d < parents.size(); ++d) {
    spec.dependencies.emplace_back(rdd::NarrowDependency{
        parents[d], [shared, d](int32_t partition) {
          std::vector<int32_t> read;
          for (const auto& [dependency, parent] : (*shared)[static_cast<size_t>(partition)]) {
            if (dependency == d) read.push_back(parent);
          }
          return read;
        }});
  }
  spec.partitions = [shared] { return rdd::Partitions(shared->size()); };
  return add_node(driver, std::move(spec));
}

}  // namespace detail

template <class T>
Rdd<T> Rdd<T>::union_with(const Rdd& other, Location location) const {
  std::vector<std::vector<detail::ParentPartition>> table;
  const int32_t counts[] = {partition_count(), other.partition_count()};
  for (uint32_t side = 0; side < 2; ++side) {
    for (int32_t p = 0; p < counts[side]; ++p) table.push_back({detail::ParentPartition{side, p}});
  }
  return {driver_, detail::gather<T>(*driver_, detail::call_site("union_with", location),
                                     {node_, other.node_}, std::move(table))};
}

template <class T>
Rdd<T> Rdd<T>::coalesce(int32_t n, Location location) const {
  if (n < 1) detail::throw_bad_partitions("coalesce", n);
  const int64_t before = partition_count();
  const int64_t after = std::min<int64_t>(n, before);
  std::vector<std::vector<detail::ParentPartition>> table(static_cast<size_t>(after));
  for (int64_t i = 0; i < after; ++i) {
    for (int64_t p = i * before / after; p < (i + 1) * before / after; ++p) {
      table[static_cast<size_t>(i)].push_back({0, static_cast<int32_t>(p)});
    }
  }
  return {driver_, detail::gather<T>(*driver_, detail::call_site("coalesce", location), {node_},
                                     std::move(table))};
}

}  // namespace tenon
