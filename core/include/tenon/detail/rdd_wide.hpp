/// @file rdd_wide.hpp
/// Rdd's operations over a shuffle. Included by tenon/rdd.hpp. Not for programs.
#pragma once

#include "tenon/detail/checks.hpp"
#include "tenon/detail/ordered.hpp"
#include "tenon/rdd.hpp"

namespace tenon {

template <class T>
rdd::Partitioner Rdd<T>::choose(const char* operation, const rdd::Partitioner& given,
                                std::initializer_list<rdd::NodePtr> parents) const {
  if (given.partitions < 0) detail::throw_bad_partitions(operation, given.partitions);
  return given.partitions != 0 ? given : detail::default_partitioner(*driver_, parents);
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
template <class Format>
rdd::Dependency Rdd<T>::side(const CallSite& site, const rdd::Partitioner& wanted) const {
  if (detail::partitioner_of(node_) == wanted) return rdd::NarrowDependency{node_, {}};
  return detail::add_shuffle(
      *driver_, {0, node_, wanted.partitions, detail::SpreadWriter<T, Format>::make(wanted), wanted,
                 false, site});
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

template <class T>
auto Rdd<T>::repartition(int32_t n, Location location) const {
  using O = detail::owned_t<T>;
  if (n < 1) detail::throw_bad_partitions("repartition", n);
  if constexpr (detail::check_value<O>()) {
    const CallSite site = detail::call_site("repartition", location);
    using Dealt = std::pair<uint32_t, T>;
    const auto dealt = narrow<Dealt>(site,
                                     detail::operator_of<detail::MapOperator<detail::Deal<T>, T>>(
                                         encode(detail::Deal<T>{static_cast<uint32_t>(n)})),
                                     false);
    const rdd::Partitioner wanted{n, detail::operator_of<detail::NumberSpread>()};
    return dealt
        .template wide<std::pair<uint32_t, O>>(site, detail::PairReader<Dealt>::make(true),
                                               {dealt.side(site, wanted)}, wanted)
        .values(location);
  }
}

template <class T>
template <class F>
auto Rdd<T>::sort_by(F f, bool ascending, int32_t partitions, Location location) const {
  TENON_CHECK_FUNCTION(F, "sort_by");
  if constexpr (detail::is_shippable_v<F> && std::is_invocable_v<const F&, const T&>) {
    return key_by(std::move(f), location)
        .sort_by_key(ascending, partitions, location)
        .values(location);
  } else {
    static_assert(std::is_invocable_v<const F&, const T&> || !detail::is_shippable_v<F>,
                  "sort_by: the function cannot be called with this Rdd's element type");
  }
}

template <class T>
auto Rdd<T>::intersection(const Rdd& other, int32_t partitions, Location location) const {
  using K = detail::owned_t<T>;
  if constexpr (detail::check_key<K>()) {
    const CallSite site = detail::call_site("intersection", location);
    return map_at(site, detail::AsKey<T>{})
        .template semi_join<detail::SemiJoin::present_once>(
            "intersection", site, other.map_at(site, detail::AsKey<T>{}), partitions)
        .map_at(site, detail::KeyOf<K>{});
  }
}

template <class T>
auto Rdd<T>::subtract(const Rdd& other, int32_t partitions, Location location) const {
  using K = detail::owned_t<T>;
  if constexpr (detail::check_key<K>()) {
    const CallSite site = detail::call_site("subtract", location);
    return map_at(site, detail::AsKey<T>{})
        .template semi_join<detail::SemiJoin::absent>(
            "subtract", site, other.map_at(site, detail::AsKey<T>{}), partitions)
        .map_at(site, detail::KeyOf<K>{});
  }
}

}  // namespace tenon
