/// @file pair_aggregates.hpp
/// An Rdd's operations that make one value of those of a key. Included by tenon/rdd.hpp. Not for
/// programs.
#pragma once

#include "tenon/detail/aggregate.hpp"
#include "tenon/detail/checks.hpp"
#include "tenon/detail/rdd_wide.hpp"

namespace tenon {

template <class T>
template <class Format, class A>
auto PairRdd<T>::combine(const char* operation, const CallSite& site, const A& aggregator,
                         const KeyPartitioner& partitioner) const {
  using K = detail::key_t<T>;
  using C = detail::combiner_t<T, A>;
  const rdd::Partitioner wanted = self().choose(operation, partitioner.erased(), {self().node_});
  const bool shuffled = detail::partitioner_of(self().node_) != wanted;
  rdd::Dependency dependency = rdd::NarrowDependency{self().node_, {}};
  if (shuffled) {
    dependency = detail::add_shuffle(
        *self().driver_,
        {0, self().node_, wanted.partitions,
         detail::CombineWriter<T, A, Format>::make(aggregator, wanted), wanted, true, site});
  }
  return self().template wide<std::pair<K, C>>(
      site, detail::CombineReader<T, A, Format>::make(aggregator, shuffled),
      {std::move(dependency)}, wanted);
}

template <class T>
template <class Create, class MergeValue, class MergeCombiners>
  requires detail::Pair<T>
auto PairRdd<T>::combine_by_key(Create create, MergeValue merge_value,
                                MergeCombiners merge_combiners, const KeyPartitioner& partitioner,
                                Location location) const {
  return combine_by_key(std::move(create), std::move(merge_value), std::move(merge_combiners),
                        partitioner, TypeCodec{}, location);
}

template <class T>
template <class Create, class MergeValue, class MergeCombiners, class Format>
  requires(detail::Pair<T> && !std::is_same_v<Format, detail::Location>)
auto PairRdd<T>::combine_by_key(Create create, MergeValue merge_value,
                                MergeCombiners merge_combiners, const KeyPartitioner& partitioner,
                                Format, Location location) const {
  using K = detail::key_t<T>;
  using V = detail::value_t<T>;
  constexpr bool travel = detail::all_travel<Create, MergeValue, MergeCombiners>();
  static_assert(travel,
                "combine_by_key: a function has captured state or no type of its own, so it "
                "cannot travel: pass a stateless lambda, a named function or a class with "
                "TENON_FIELDS");
  if constexpr (travel && detail::check_key<K>()) {
    static_assert(std::is_invocable_v<const Create&, V>,
                  "combine_by_key: the first function must be C(V) for value type V");
    if constexpr (std::is_invocable_v<const Create&, V>) {
      using A = detail::Aggregator<Create, MergeValue, MergeCombiners>;
      using C = detail::combiner_t<T, A>;
      constexpr bool adds = std::is_invocable_r_v<C, const MergeValue&, C, V>;
      constexpr bool merges = std::is_invocable_r_v<C, const MergeCombiners&, C, C>;
      static_assert(adds,
                    "combine_by_key: the second function must be C(C, V) for the first one's "
                    "result type C and value type V");
      static_assert(merges,
                    "combine_by_key: the third function must be C(C, C) for the first one's "
                    "result type C");
      if constexpr (adds && merges && detail::check_crosses<Format, K, C>()) {
        return combine<Format>(
            "combine_by_key", detail::call_site("combine_by_key", location),
            A{std::move(create), std::move(merge_value), std::move(merge_combiners)}, partitioner);
      }
    }
  }
}

template <class T>
template <class U, class Add, class Merge>
  requires detail::Pair<T>
auto PairRdd<T>::aggregate_by_key(U zero, Add add, Merge merge, const KeyPartitioner& partitioner,
                                  Location location) const {
  using K = detail::key_t<T>;
  using V = detail::value_t<T>;
  constexpr bool travel = detail::all_travel<Add, Merge>();
  static_assert(travel,
                "aggregate_by_key: a function has captured state or no type of its own, so "
                "it cannot travel: pass a stateless lambda, a named function or a class "
                "with TENON_FIELDS");
  if constexpr (travel && detail::check_key<K>() && detail::check_value<U>()) {
    constexpr bool adds = std::is_invocable_r_v<U, const Add&, U, V>;
    constexpr bool merges = std::is_invocable_r_v<U, const Merge&, U, U>;
    static_assert(adds,
                  "aggregate_by_key: the first function must be U(U, V) for zero's type U and "
                  "value type V");
    static_assert(merges,
                  "aggregate_by_key: the second function must be U(U, U) for zero's type U");
    if constexpr (adds && merges) {
      using Create = detail::AddToZero<U, Add>;
      return combine<TypeCodec>(
          "aggregate_by_key", detail::call_site("aggregate_by_key", location),
          detail::Aggregator<Create, Add, Merge>{Create{encode(zero), add}, add, std::move(merge)},
          partitioner);
    }
  }
}

template <class T>
template <class F>
  requires detail::Pair<T>
auto PairRdd<T>::fold_by_key(detail::value_t<T> zero, F f, const KeyPartitioner& partitioner,
                             Location location) const {
  TENON_CHECK_FUNCTION(F, "fold_by_key");
  using K = detail::key_t<T>;
  using V = detail::value_t<T>;
  if constexpr (detail::is_shippable_v<F> && detail::check_key<K>() && detail::check_value<V>()) {
    static_assert(std::is_invocable_r_v<V, const F&, V, V>,
                  "fold_by_key: the function must be V(V, V) for value type V");
    if constexpr (std::is_invocable_r_v<V, const F&, V, V>) {
      using Create = detail::AddToZero<V, F>;
      return combine<TypeCodec>("fold_by_key", detail::call_site("fold_by_key", location),
                                detail::Aggregator<Create, F, F>{Create{encode(zero), f}, f, f},
                                partitioner);
    }
  }
}

template <class T>
template <class F>
  requires detail::Pair<T>
auto PairRdd<T>::reduce_by_key(F f, const KeyPartitioner& partitioner, Location location) const {
  TENON_CHECK_FUNCTION(F, "reduce_by_key");
  using K = detail::key_t<T>;
  using V = detail::value_t<T>;
  if constexpr (detail::is_shippable_v<F> && detail::check_key<K>() && detail::check_value<V>()) {
    static_assert(std::is_invocable_r_v<V, const F&, V, V>,
                  "reduce_by_key: the function must be V(V, V) for value type V");
    if constexpr (std::is_invocable_r_v<V, const F&, V, V>) {
      return combine<TypeCodec>("reduce_by_key", detail::call_site("reduce_by_key", location),
                                detail::Aggregator<detail::FirstValue, F, F>{{}, f, f},
                                partitioner);
    }
  }
}

}  // namespace tenon
