/// @file rdd_wide.hpp
/// Rdd's operations over a shuffle. Included by tenon/rdd.hpp. Not for programs.
#pragma once

#include "tenon/rdd.hpp"

namespace tenon {

namespace detail {

inline constexpr uint64_t kHashPartitioner =
    1;  // others get ids of their own from next_object_id()

// Checks of the types at a shuffle, one line each.
template <class K>
constexpr bool check_key_travels() {
  static_assert(Encodable<K>,
                "the key type needs a tenon::Codec: add TENON_FIELDS(members...) to the class, or "
                "specialise tenon::Codec; views other "
                "than std::string_view cannot cross a shuffle");
  return Encodable<K>;
}
template <class K>
constexpr bool check_key() {
  static_assert(Hashable<K> || !Encodable<K>,
                "the key type needs a tenon::Hash: add TENON_FIELDS(members...) to the class, or "
                "specialise tenon::Hash");
  static_assert(std::equality_comparable<K> || !Encodable<K>, "the key type needs operator==");
  return check_key_travels<K>() && Hashable<K> && std::equality_comparable<K>;
}
template <class V>
constexpr bool check_value() {
  static_assert(Encodable<V>,
                "the value type needs a tenon::Codec: add TENON_FIELDS(members...) to the class, "
                "or specialise tenon::Codec; views other "
                "than std::string_view cannot cross a shuffle");
  return Encodable<V>;
}

}  // namespace detail

template <class T>
int32_t Rdd<T>::reduce_partitions(const char* operation, int32_t given,
                                  std::initializer_list<rdd::NodePtr> parents) const {
  if (given < 0) detail::throw_bad_partitions(operation, given);
  return given != 0 ? given : detail::default_partitions(*driver_, parents);
}

template <class T>
template <class U>
Rdd<U> Rdd<T>::wide(CallSite site, detail::Operator reader,
                    std::vector<rdd::Dependency> dependencies, rdd::Partitioner partitioner) const {
  rdd::NodeSpec spec;
  spec.call_site = std::move(site);
  spec.op = std::move(reader);
  spec.dependencies = std::move(dependencies);
  spec.partitions = [n = partitioner.partitions] {
    return rdd::Partitions(static_cast<size_t>(n));
  };
  spec.partitioner = partitioner;
  return {driver_, detail::add_node(*driver_, std::move(spec))};
}

template <class T>
template <class Spread>
rdd::Dependency Rdd<T>::side(const CallSite& site, const rdd::Partitioner& wanted,
                             const Spread& spread) const {
  if (detail::partitioner_of(node_) == wanted) return rdd::NarrowDependency{node_, {}};
  return detail::add_shuffle(
      *driver_, {0, node_, wanted.partitions, detail::SpreadWriter<T, Spread>::make(spread), wanted,
                 false, site});
}

template <class T>
template <class F>
  requires detail::Pair<T>
auto Rdd<T>::reduce_by_key(F f, int32_t partitions, Location location) const {
  TENON_CHECK_FUNCTION(F, "reduce_by_key");
  using K = detail::key_t<T>;
  using V = detail::value_t<T>;
  if constexpr (detail::is_shippable_v<F> && detail::check_key<K>() && detail::check_value<V>()) {
    static_assert(std::is_invocable_r_v<V, const F&, V, V>,
                  "reduce_by_key: the function must be V(V, V) for value type V");
    if constexpr (std::is_invocable_r_v<V, const F&, V, V>) {
      const int32_t n = reduce_partitions("reduce_by_key", partitions, {node_});
      const rdd::Partitioner wanted{detail::kHashPartitioner, n};
      const bool shuffled = detail::partitioner_of(node_) != wanted &&
                            !(partitions == 0 && detail::partitioner_of(node_).has_value());
      const CallSite site = detail::call_site("reduce_by_key", location);
      rdd::Dependency dependency = rdd::NarrowDependency{node_, {}};
      if (shuffled) {
        dependency = detail::add_shuffle(
            *driver_, {0, node_, n, detail::CombineWriter<T, F>::make(f, n), wanted, true, site});
      }
      return wide<std::pair<K, V>>(site, detail::CombineReader<T, F>::make(f, shuffled),
                                   {std::move(dependency)},
                                   shuffled ? wanted : *detail::partitioner_of(node_));
    }
  }
}

template <class T>
auto Rdd<T>::group_by_key(int32_t partitions, Location location) const
  requires detail::Pair<T>
{
  using K = detail::key_t<T>;
  using V = detail::value_t<T>;
  if constexpr (detail::check_key<K>() && detail::check_value<V>()) {
    rdd::Partitioner wanted{detail::kHashPartitioner,
                            reduce_partitions("group_by_key", partitions, {node_})};
    if (const auto own = detail::partitioner_of(node_); own && partitions == 0) wanted = *own;
    const detail::HashSpread<K> spread(wanted.partitions);
    const CallSite site = detail::call_site("group_by_key", location);
    rdd::Dependency dependency = side(site, wanted, spread);
    const bool shuffled = std::holds_alternative<rdd::ShufflePtr>(dependency);
    return wide<std::pair<K, std::vector<V>>>(site, detail::GroupReader<T>::make(shuffled),
                                              {std::move(dependency)}, wanted);
  }
}

template <class T>
template <class R>
  requires(detail::Pair<T> && detail::Pair<R>)
auto Rdd<T>::join(const Rdd<R>& right, int32_t partitions, Location location) const {
  using K = detail::key_t<T>;
  using V = detail::value_t<T>;
  using W = detail::value_t<R>;
  static_assert(std::is_same_v<K, detail::key_t<R>>, "join: both sides need the same key type");
  if constexpr (std::is_same_v<K, detail::key_t<R>> && detail::check_key<K>() &&
                detail::check_value<V>() && detail::check_value<W>()) {
    const rdd::Partitioner wanted{detail::kHashPartitioner,
                                  reduce_partitions("join", partitions, {node_, right.node()})};
    const detail::HashSpread<K> spread(wanted.partitions);
    const CallSite site = detail::call_site("join", location);
    rdd::Dependency left_side = side(site, wanted, spread);
    rdd::Dependency right_side = right.side(site, wanted, spread);
    auto reader =
        detail::JoinOperator<T, R>::make(std::holds_alternative<rdd::ShufflePtr>(left_side),
                                         std::holds_alternative<rdd::ShufflePtr>(right_side));
    return wide<std::pair<K, std::pair<V, W>>>(
        site, std::move(reader), {std::move(left_side), std::move(right_side)}, wanted);
  }
}

template <class T>
auto Rdd<T>::sort_by_key(bool ascending, int32_t partitions, Location location) const
  requires detail::Pair<T>
{
  using K = detail::key_t<T>;
  static_assert(
      requires(const K& a, const K& b) {
        { a < b } -> std::convertible_to<bool>;
      }, "sort_by_key: the key type needs operator<");
  if constexpr (detail::check_key_travels<K>() && detail::check_value<detail::value_t<T>>()) {
    const int32_t n = reduce_partitions("sort_by_key", partitions, {node_});
    const CallSite site = detail::call_site("sort_by_key", location);
    std::vector<K> bounds;
    if (n > 1) {
      // As many samples as Spark's RangePartitioner takes: 20 a partition, three times over for
      // uneven inputs.
      const int64_t wanted = std::min<int64_t>(int64_t{20} * n, 1'000'000);
      const auto each = static_cast<uint64_t>(3 * wanted / std::max(1, partition_count()) + 1);
      auto samples = values_of(site, detail::with_values(detail::SampleKeys<T>{}, each));
      const auto ascends = [ascending](const K& a, const K& b) {
        return ascending ? a < b : b < a;
      };
      bounds = detail::range_bounds(std::move(samples), n, ascends);
    }
    const auto count = static_cast<int32_t>(bounds.size() + 1);
    const rdd::Partitioner wanted{detail::next_object_id(*driver_), count};
    const detail::RangeSpread<K> spread(std::move(bounds), ascending);
    return wide<detail::owned_t<T>>(site, detail::SortReader<T>::make(ascending),
                                    {side(site, wanted, spread)}, wanted);
  }
}

template <class T>
auto Rdd<T>::partition_by(int32_t partitions, Location location) const
  requires detail::Pair<T>
{
  using K = detail::key_t<T>;
  if constexpr (detail::check_key<K>() && detail::check_value<detail::value_t<T>>()) {
    if (partitions < 1) detail::throw_bad_partitions("partition_by", partitions);
    const rdd::Partitioner wanted{detail::kHashPartitioner, partitions};
    const CallSite site = detail::call_site("partition_by", location);
    rdd::Dependency dependency = side(site, wanted, detail::HashSpread<K>(partitions));
    const bool shuffled = std::holds_alternative<rdd::ShufflePtr>(dependency);
    return wide<detail::owned_t<T>>(site, detail::PairReader<T>::make(shuffled),
                                    {std::move(dependency)}, wanted);
  }
}

namespace detail {
struct KeepFirst {
  std::monostate operator()(std::monostate, std::monostate) const { return {}; }
};
template <class T>
struct AsKey {
  std::pair<T, std::monostate> operator()(T&& record) const { return {std::move(record), {}}; }
};
template <class K>
struct KeyOf {
  K operator()(std::pair<K, std::monostate>&& record) const { return std::move(record.first); }
};
}  // namespace detail

template <class T>
auto Rdd<T>::distinct(int32_t partitions, Location location) const {
  using K = detail::owned_t<T>;
  if constexpr (detail::check_key<K>()) {
    const CallSite site = detail::call_site("distinct", location);
    return map_at(site, detail::AsKey<T>{})
        .reduce_by_key(detail::KeepFirst{}, partitions, location)
        .map_at(site, detail::KeyOf<K>{});
  }
}

}  // namespace tenon
