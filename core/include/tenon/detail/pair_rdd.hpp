/// @file pair_rdd.hpp
/// An Rdd's operations by key. Included by tenon/rdd.hpp. Not for programs.
#pragma once

#include "tenon/detail/checks.hpp"
#include "tenon/detail/rdd_wide.hpp"
#include "tenon/detail/reductions.hpp"

namespace tenon {

template <class T>
template <class F>
auto PairRdd<T>::map_values_at(CallSite site, F f) const {
  TENON_CHECK_FUNCTION(F, "map_values");
  if constexpr (detail::is_shippable_v<F>) {
    static_assert(std::is_invocable_v<const F&, typename T::second_type>,
                  "map_values: the function cannot be called with this Rdd's value type");
    if constexpr (std::is_invocable_v<const F&, typename T::second_type>) {
      using Op = detail::MapOperator<detail::OnValue<F>, T>;
      return self().template narrow<typename Op::U>(
          std::move(site),
          detail::operator_of<Op>(detail::encode_function(detail::OnValue<F>{std::move(f)})), true);
    }
  }
}

template <class T>
template <class F>
  requires detail::Pair<T>
auto PairRdd<T>::flat_map_values(F f, Location location) const {
  TENON_CHECK_FUNCTION(F, "flat_map_values");
  if constexpr (detail::is_shippable_v<F>) {
    using V = typename T::second_type;
    static_assert(std::is_invocable_v<const F&, V>,
                  "flat_map_values: the function cannot be called with this Rdd's value type");
    if constexpr (std::is_invocable_v<const F&, V>) {
      using Range = std::remove_cvref_t<std::invoke_result_t<const F&, V>>;
      static_assert(detail::RangeLike<Range>,
                    "flat_map_values: the function must return a range, such as std::vector");
      if constexpr (detail::RangeLike<Range>) {
        using Op = detail::FlatMapOperator<detail::OnValues<F>, T>;
        return self().template narrow<typename Op::U>(
            detail::call_site("flat_map_values", location),
            detail::operator_of<Op>(detail::encode_function(detail::OnValues<F>{std::move(f)})),
            true);
      }
    }
  }
}

template <class T>
auto PairRdd<T>::keys(Location location) const
  requires detail::Pair<T>
{
  return self().map_at(detail::call_site("keys", location), detail::First{});
}

template <class T>
auto PairRdd<T>::values(Location location) const
  requires detail::Pair<T>
{
  return self().map_at(detail::call_site("values", location), detail::Second{});
}

template <class T>
std::optional<typename PairRdd<T>::KeyPartitioner> PairRdd<T>::partitioner() const
  requires detail::Pair<T>
{
  if (auto own = detail::partitioner_of(self().node_)) return KeyPartitioner(std::move(*own));
  return std::nullopt;
}

template <class T>
auto PairRdd<T>::group_by_key(const KeyPartitioner& partitioner, Location location) const
  requires detail::Pair<T>
{
  using K = detail::key_t<T>;
  using V = detail::value_t<T>;
  if constexpr (detail::check_key<K>() && detail::check_value<V>()) {
    const rdd::Partitioner wanted =
        self().choose("group_by_key", partitioner.erased(), {self().node_});
    const CallSite site = detail::call_site("group_by_key", location);
    rdd::Dependency dependency = self().side(site, wanted);
    const bool shuffled = rdd::is_shuffle(dependency);
    return self().template wide<std::pair<K, std::vector<V>>>(
        site, detail::GroupReader<T>::make(shuffled), {std::move(dependency)}, wanted);
  }
}

template <class T>
auto PairRdd<T>::partition_by(const KeyPartitioner& partitioner, Location location) const
  requires detail::Pair<T>
{
  return partition_by(partitioner, TypeCodec{}, location);
}

template <class T>
template <class Format>
  requires(detail::Pair<T> && !std::is_same_v<Format, detail::Location>)
auto PairRdd<T>::partition_by(const KeyPartitioner& partitioner, Format, Location location) const {
  using K = detail::key_t<T>;
  if constexpr (detail::check_key<K>() && detail::check_crosses<Format, K, detail::value_t<T>>()) {
    if (partitioner.partitions() < 1) {
      detail::throw_bad_partitions("partition_by", partitioner.partitions());
    }
    const CallSite site = detail::call_site("partition_by", location);
    rdd::Dependency dependency = self().template side<Format>(site, partitioner.erased());
    const bool shuffled = rdd::is_shuffle(dependency);
    return self().template wide<detail::owned_t<T>>(site,
                                                    detail::PairReader<T, Format>::make(shuffled),
                                                    {std::move(dependency)}, partitioner.erased());
  }
}

// ------------------------------------------------------------------------------- order

template <class T>
typename PairRdd<T>::KeyPartitioner PairRdd<T>::sampled_ranges(const char* operation,
                                                               const CallSite& site, bool ascending,
                                                               int32_t partitions) const {
  using K = detail::key_t<T>;
  const int32_t n =
      self().choose(operation, KeyPartitioner(partitions).erased(), {self().node_}).partitions;
  std::vector<K> bounds;
  if (n > 1) {
    // As many samples as Spark's RangePartitioner takes: 20 a partition, three times over for
    // uneven inputs.
    const int64_t wanted = std::min<int64_t>(int64_t{20} * n, 1'000'000);
    const auto each = static_cast<uint64_t>(3 * wanted / std::max(1, self().partition_count()) + 1);
    auto samples = self().values_of(site, detail::with_values(detail::SampleKeys<T>{}, each));
    const auto ascends = [ascending](const K& a, const K& b) { return ascending ? a < b : b < a; };
    bounds = detail::range_bounds(std::move(samples), n, ascends);
  }
  return KeyPartitioner::range(bounds, ascending);
}

template <class T>
typename PairRdd<T>::KeyPartitioner PairRdd<T>::range_partitioner(bool ascending,
                                                                  int32_t partitions,
                                                                  Location location) const
  requires detail::Pair<T>
{
  using K = detail::key_t<T>;
  static_assert(detail::Ordered<K>, "range_partitioner: the key type needs operator<");
  if constexpr (detail::Ordered<K> && detail::check_key_travels<K>()) {
    return sampled_ranges("range_partitioner", detail::call_site("range_partitioner", location),
                          ascending, partitions);
  }
  return {};
}

template <class T>
auto PairRdd<T>::sort_by_key(bool ascending, int32_t partitions, Location location) const
  requires detail::Pair<T>
{
  using K = detail::key_t<T>;
  static_assert(detail::Ordered<K>, "sort_by_key: the key type needs operator<");
  if constexpr (detail::check_key_travels<K>() && detail::check_value<detail::value_t<T>>() &&
                detail::Ordered<K>) {
    const CallSite site = detail::call_site("sort_by_key", location);
    return sorted_within(site, sampled_ranges("sort_by_key", site, ascending, partitions),
                         ascending);
  }
}

template <class T>
auto PairRdd<T>::sorted_within(const CallSite& site, const KeyPartitioner& partitioner,
                               bool ascending) const {
  rdd::Dependency dependency = self().side(site, partitioner.erased());
  const bool shuffled = rdd::is_shuffle(dependency);
  return self().template wide<detail::owned_t<T>>(site,
                                                  detail::SortReader<T>::make(ascending, shuffled),
                                                  {std::move(dependency)}, partitioner.erased());
}

template <class T>
auto PairRdd<T>::repartition_and_sort_within_partitions(const KeyPartitioner& partitioner,
                                                        Location location) const
  requires detail::Pair<T>
{
  using K = detail::key_t<T>;
  static_assert(detail::Ordered<K>,
                "repartition_and_sort_within_partitions: the key type needs operator<");
  if constexpr (detail::Ordered<K> && detail::check_key<K>() &&
                detail::check_value<detail::value_t<T>>()) {
    const char* operation = "repartition_and_sort_within_partitions";
    if (partitioner.partitions() < 1) {
      detail::throw_bad_partitions(operation, partitioner.partitions());
    }
    return sorted_within(detail::call_site(operation, location), partitioner, true);
  }
}

// ------------------------------------------------------------------------------- actions

template <class T>
auto PairRdd<T>::count_by_key(Location location) const
  requires detail::Pair<T>
{
  return keys(location).count_by_value(location);
}

template <class T>
auto PairRdd<T>::collect_as_map(Location location) const
  requires detail::Pair<T>
{
  HashMap<detail::key_t<T>, detail::value_t<T>> map;
  for (auto& [key, value] : self().collect(location)) {
    map.insert_or_assign(std::move(key), std::move(value));
  }
  return map;
}

template <class T>
template <class Key>
  requires detail::Pair<T>
auto PairRdd<T>::lookup(const Key& key, Location location) const {
  using K = detail::key_t<T>;
  using Values = std::vector<detail::value_t<T>>;
  Values found;
  static_assert(std::is_convertible_v<const Key&, K>,
                "lookup: the key is of another type than this Rdd's keys");
  if constexpr (std::is_convertible_v<const Key&, K> && detail::check_key<K>() &&
                detail::check_value<detail::value_t<T>>()) {
    const K wanted(key);
    std::vector<int32_t> partitions = detail::all_partitions(self().node_);
    if (const auto own = partitioner()) partitions = {own->of(wanted)};
    found = detail::concatenate(self().values_of(detail::call_site("lookup", location),
                                                 detail::with_values(detail::ValuesOf<T>{}, wanted),
                                                 std::move(partitions)));
  }
  return found;
}

}  // namespace tenon
