/// @file pair_joins.hpp
/// An Rdd's operations that bring several sides together by key. Included by tenon/rdd.hpp. Not for
/// programs.
#pragma once

#include "tenon/detail/checks.hpp"
#include "tenon/detail/cogroup.hpp"
#include "tenon/detail/join.hpp"
#include "tenon/detail/rdd_wide.hpp"
#include "tenon/detail/semi_join.hpp"

namespace tenon {

template <class T>
template <class Op, class R>
auto PairRdd<T>::two_sided(const char* operation, const CallSite& site, const Rdd<R>& right,
                           const KeyPartitioner& partitioner) const {
  const rdd::Partitioner wanted =
      self().choose(operation, partitioner.erased(), {self().node_, right.node()});
  rdd::Dependency left_side = self().side(site, wanted);
  rdd::Dependency right_side = right.side(site, wanted);
  auto reader = Op::make(rdd::is_shuffle(left_side), rdd::is_shuffle(right_side));
  return self().template wide<typename Op::Out>(
      site, std::move(reader), {std::move(left_side), std::move(right_side)}, wanted);
}

template <class T>
template <detail::JoinKind kind, class R>
auto PairRdd<T>::join_as(const char* operation, const Rdd<R>& right,
                         const KeyPartitioner& partitioner, const Location& location) const {
  using K = detail::key_t<T>;
  if constexpr (detail::same_keys<T, R> && detail::check_key<K>() &&
                detail::check_value<detail::value_t<T>>() &&
                detail::check_value<detail::value_t<R>>()) {
    return two_sided<detail::JoinOperator<T, R, kind>>(
        operation, detail::call_site(operation, location), right, partitioner);
  }
}

template <class T>
template <class R>
  requires(detail::Pair<T> && detail::Pair<R>)
auto PairRdd<T>::join(const Rdd<R>& right, const KeyPartitioner& partitioner,
                      Location location) const {
  static_assert(detail::same_keys<T, R>, "join: both sides need the same key type");
  return join_as<detail::JoinKind::inner>("join", right, partitioner, location);
}

template <class T>
template <class R>
  requires(detail::Pair<T> && detail::Pair<R>)
auto PairRdd<T>::left_outer_join(const Rdd<R>& right, const KeyPartitioner& partitioner,
                                 Location location) const {
  static_assert(detail::same_keys<T, R>, "left_outer_join: both sides need the same key type");
  return join_as<detail::JoinKind::left>("left_outer_join", right, partitioner, location);
}

template <class T>
template <class R>
  requires(detail::Pair<T> && detail::Pair<R>)
auto PairRdd<T>::right_outer_join(const Rdd<R>& right, const KeyPartitioner& partitioner,
                                  Location location) const {
  static_assert(detail::same_keys<T, R>, "right_outer_join: both sides need the same key type");
  return join_as<detail::JoinKind::right>("right_outer_join", right, partitioner, location);
}

template <class T>
template <class R>
  requires(detail::Pair<T> && detail::Pair<R>)
auto PairRdd<T>::full_outer_join(const Rdd<R>& right, const KeyPartitioner& partitioner,
                                 Location location) const {
  static_assert(detail::same_keys<T, R>, "full_outer_join: both sides need the same key type");
  return join_as<detail::JoinKind::full>("full_outer_join", right, partitioner, location);
}

// ------------------------------------------------------------------------------- cogroup

template <class T>
template <class... Rs>
auto PairRdd<T>::cogroup_of(const KeyPartitioner& partitioner, const Location& location,
                            const Rdd<Rs>&... others) const {
  using K = detail::key_t<T>;
  static_assert(detail::same_keys<T, Rs...>, "cogroup: all sides need the same key type");
  if constexpr (detail::same_keys<T, Rs...> && detail::check_key<K>() &&
                detail::check_value<detail::value_t<T>>() &&
                (detail::check_value<detail::value_t<Rs>>() && ...)) {
    using Op = detail::CogroupOperator<T, Rs...>;
    const rdd::Partitioner wanted =
        self().choose("cogroup", partitioner.erased(), {self().node_, others.node()...});
    const CallSite site = detail::call_site("cogroup", location);
    std::vector<rdd::Dependency> sides{self().side(site, wanted), others.side(site, wanted)...};
    std::string shuffled;
    for (const rdd::Dependency& side : sides) shuffled.push_back(rdd::is_shuffle(side));
    return self().template wide<typename Op::Out>(
        site, detail::operator_of<Op>(std::move(shuffled)), std::move(sides), wanted);
  }
}

template <class T>
template <class R>
  requires(detail::Pair<T> && detail::Pair<R>)
auto PairRdd<T>::cogroup(const Rdd<R>& other, const KeyPartitioner& partitioner,
                         Location location) const {
  return cogroup_of(partitioner, location, other);
}

template <class T>
template <class R, class S>
  requires(detail::Pair<T> && detail::Pair<R> && detail::Pair<S>)
auto PairRdd<T>::cogroup(const Rdd<R>& second, const Rdd<S>& third,
                         const KeyPartitioner& partitioner, Location location) const {
  return cogroup_of(partitioner, location, second, third);
}

template <class T>
template <class R, class S, class U>
  requires(detail::Pair<T> && detail::Pair<R> && detail::Pair<S> && detail::Pair<U>)
auto PairRdd<T>::cogroup(const Rdd<R>& second, const Rdd<S>& third, const Rdd<U>& fourth,
                         const KeyPartitioner& partitioner, Location location) const {
  return cogroup_of(partitioner, location, second, third, fourth);
}

// ------------------------------------------------------------------------------- one side only

template <class T>
template <detail::SemiJoin kind, class R>
auto PairRdd<T>::semi_join(const char* operation, const CallSite& site, const Rdd<R>& other,
                           const KeyPartitioner& partitioner) const {
  return two_sided<detail::SemiJoinOperator<T, R, kind>>(operation, site, other, partitioner);
}

template <class T>
template <class R>
  requires(detail::Pair<T> && detail::Pair<R>)
auto PairRdd<T>::subtract_by_key(const Rdd<R>& other, const KeyPartitioner& partitioner,
                                 Location location) const {
  using K = detail::key_t<T>;
  static_assert(detail::same_keys<T, R>, "subtract_by_key: both sides need the same key type");
  if constexpr (detail::same_keys<T, R> && detail::check_key<K>() &&
                detail::check_value<detail::value_t<T>>() &&
                detail::check_value<detail::value_t<R>>()) {
    return semi_join<detail::SemiJoin::absent>(
        "subtract_by_key", detail::call_site("subtract_by_key", location), other, partitioner);
  }
}

}  // namespace tenon
