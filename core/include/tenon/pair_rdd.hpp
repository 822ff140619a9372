/// @file pair_rdd.hpp What an Rdd of pairs can do by key. Included by tenon/rdd.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "tenon/detail/aggregate.hpp"
#include "tenon/detail/driver.hpp"
#include "tenon/detail/join.hpp"
#include "tenon/detail/semi_join.hpp"
#include "tenon/detail/wide.hpp"
#include "tenon/partitioner.hpp"

namespace tenon {

template <class T>
class Rdd;

/// Operations by key, a part of every Rdd<T>; they need T to be a pair. What is said of functions,
/// records and errors at Rdd holds here.
template <class T>
class PairRdd {
 public:
  using Location = detail::Location;
  /// Of this Rdd's keys.
  using KeyPartitioner = Partitioner<detail::key_t<T>>;

  // ----------------------------------------------------------------------------- about itself

  /// How the keys are spread over the partitions; nothing when that is not known. Kept by
  /// map_values, flat_map_values, filter and sample; dropped by map and all else that may change
  /// keys. Rdd of pairs.
  [[nodiscard]] std::optional<KeyPartitioner> partitioner() const
    requires detail::Pair<T>;

  // ----------------------------------------------------------------------------- within a stage

  /// f of each value; the key stays, and with it the partitioner. Rdd of pairs.
  template <class F>
    requires detail::Pair<T>
  [[nodiscard]] auto map_values(F f, Location location = Location::current()) const {
    return map_values_at(detail::call_site("map_values", location), std::move(f));
  }
  /// f(value, values...) of each value. Rdd of pairs.
  template <class F, class Value, class... Values>
    requires(detail::Pair<T> && !std::is_same_v<Value, Location>)
  [[nodiscard]] auto map_values(F f, Value value, Values... values) const {
    return map_values_at(detail::call_site("map_values"),
                         detail::with_values(std::move(f), std::move(value), std::move(values)...));
  }

  /// (key, element) for each element of the ranges that f makes of the values; the key stays, and
  /// with it the partitioner. Rdd of pairs.
  template <class F>
    requires detail::Pair<T>
  [[nodiscard]] auto flat_map_values(F f, Location location = Location::current()) const;

  /// The keys, in order, as often as they come. Rdd of pairs.
  [[nodiscard]] auto keys(Location location = Location::current()) const
    requires detail::Pair<T>;
  /// The values, in order. Rdd of pairs.
  [[nodiscard]] auto values(Location location = Location::current()) const
    requires detail::Pair<T>;

  // ----------------------------------------------------------------------------- over a shuffle

  /// One combined value per key: create(value) makes it of the key's first value of a partition,
  /// merge_value(combined, value) adds a further one, merge_combiners(combined, combined) brings
  /// those of two partitions together; they must not depend on the order of partitions. Values are
  /// combined on the map side first. One shuffle; none when this Rdd is partitioned that way
  /// already. Keys come in no order. Rdd of pairs.
  /// @param partitioner of the result, or a number of partitions; none, or 0: the choice described
  ///   at Partitioner. So in all operations here
  /// @return Rdd of (key, combined value) @throws Error (invalid_argument) when the number of
  ///   partitions is below 0; so do all operations here
  template <class Create, class MergeValue, class MergeCombiners>
    requires detail::Pair<T>
  [[nodiscard]] auto combine_by_key(Create create, MergeValue merge_value,
                                    MergeCombiners merge_combiners,
                                    const KeyPartitioner& partitioner = {},
                                    Location location = Location::current()) const;

  /// The same; combined values cross the shuffle by a codec of the program's: see TypeCodec.
  template <class Create, class MergeValue, class MergeCombiners, class Format>
    requires(detail::Pair<T> && !std::is_same_v<Format, detail::Location>)
  [[nodiscard]] auto combine_by_key(Create create, MergeValue merge_value,
                                    MergeCombiners merge_combiners,
                                    const KeyPartitioner& partitioner, Format codec,
                                    Location location = Location::current()) const;

  /// zero with add(total, value) over the values of each key in each partition, then
  /// merge(total, total) over the partitions' totals. Each key has a zero for itself, which add may
  /// change. In all else like combine_by_key. Rdd of pairs. @return Rdd of (key, total)
  template <class U, class Add, class Merge>
    requires detail::Pair<T>
  [[nodiscard]] auto aggregate_by_key(U zero, Add add, Merge merge,
                                      const KeyPartitioner& partitioner = {},
                                      Location location = Location::current()) const;

  /// aggregate_by_key with one function for both: zero, the identity of f, with f over the values
  /// of each key. Rdd of pairs.
  template <class F>
    requires detail::Pair<T>
  [[nodiscard]] auto fold_by_key(detail::value_t<T> zero, F f,
                                 const KeyPartitioner& partitioner = {},
                                 Location location = Location::current()) const;

  /// One value per key: f(value, value) over the key's values. f must be associative and
  /// commutative. In all else like combine_by_key. Rdd of pairs.
  template <class F>
    requires detail::Pair<T>
  [[nodiscard]] auto reduce_by_key(F f, const KeyPartitioner& partitioner = {},
                                   Location location = Location::current()) const;

  /// All values of each key, in the order of partitions and records. One shuffle, or none as for
  /// reduce_by_key. Rdd of pairs.
  [[nodiscard]] auto group_by_key(const KeyPartitioner& partitioner = {},
                                  Location location = Location::current()) const
    requires detail::Pair<T>;

  /// An inner join: (key, (left, right)) for each pair of values with an equal key. The left side
  /// of each partition is held in memory. Each side is shuffled unless it is partitioned that way
  /// already. The records of a partition are in the order of the right side. Rdds of pairs with the
  /// same key type.
  template <class R>
    requires(detail::Pair<T> && detail::Pair<R>)
  [[nodiscard]] auto join(const Rdd<R>& right, const KeyPartitioner& partitioner = {},
                          Location location = Location::current()) const;

  /// Like join, and (key, (left, nothing)) for each left value whose key the right side does not
  /// have, after the others; the right values are std::optional.
  template <class R>
    requires(detail::Pair<T> && detail::Pair<R>)
  [[nodiscard]] auto left_outer_join(const Rdd<R>& right, const KeyPartitioner& partitioner = {},
                                     Location location = Location::current()) const;

  /// Like join, and (key, (nothing, right)) for each right value whose key the left side does not
  /// have, in its place; the left values are std::optional.
  template <class R>
    requires(detail::Pair<T> && detail::Pair<R>)
  [[nodiscard]] auto right_outer_join(const Rdd<R>& right, const KeyPartitioner& partitioner = {},
                                      Location location = Location::current()) const;

  /// Like join, and the values of both sides whose key the other one does not have; the values of
  /// both sides are std::optional.
  template <class R>
    requires(detail::Pair<T> && detail::Pair<R>)
  [[nodiscard]] auto full_outer_join(const Rdd<R>& right, const KeyPartitioner& partitioner = {},
                                     Location location = Location::current()) const;

  /// (key, std::tuple of std::vector) for each key of any side: its values of each side, in their
  /// order, none where a side does not have it. Each partition is held in memory. Each side is
  /// shuffled unless it is partitioned that way already. Rdds of pairs with the same key type.
  template <class R>
    requires(detail::Pair<T> && detail::Pair<R>)
  [[nodiscard]] auto cogroup(const Rdd<R>& other, const KeyPartitioner& partitioner = {},
                             Location location = Location::current()) const;
  /// The same of three sides.
  template <class R, class S>
    requires(detail::Pair<T> && detail::Pair<R> && detail::Pair<S>)
  [[nodiscard]] auto cogroup(const Rdd<R>& second, const Rdd<S>& third,
                             const KeyPartitioner& partitioner = {},
                             Location location = Location::current()) const;
  /// The same of four sides.
  template <class R, class S, class U>
    requires(detail::Pair<T> && detail::Pair<R> && detail::Pair<S> && detail::Pair<U>)
  [[nodiscard]] auto cogroup(const Rdd<R>& second, const Rdd<S>& third, const Rdd<U>& fourth,
                             const KeyPartitioner& partitioner = {},
                             Location location = Location::current()) const;

  /// The pairs whose key the other Rdd does not have. Its keys of each partition are held in
  /// memory. Each side is shuffled unless it is partitioned that way already. Rdds of pairs with
  /// the same key type.
  template <class R>
    requires(detail::Pair<T> && detail::Pair<R>)
  [[nodiscard]] auto subtract_by_key(const Rdd<R>& other, const KeyPartitioner& partitioner = {},
                                     Location location = Location::current()) const;

  /// Sorted by key over all partitions: partition i's keys come before those of i + 1; equal keys
  /// keep their order. Runs a job that samples the keys when there is more than one partition. One
  /// shuffle. Rdd of pairs whose keys have operator<.
  [[nodiscard]] auto sort_by_key(bool ascending = true, int32_t partitions = 0,
                                 Location location = Location::current()) const
    requires detail::Pair<T>;

  /// The ranges that sort_by_key spreads keys over: bounds from a sample, for partitions of about
  /// equal size; fewer partitions when there are fewer keys. Runs a job that samples the keys when
  /// there is more than one partition. Rdd of pairs whose keys have operator<.
  [[nodiscard]] KeyPartitioner range_partitioner(bool ascending = true, int32_t partitions = 0,
                                                 Location location = Location::current()) const
    requires detail::Pair<T>;

  /// The same pairs, each in the partition of its key. One shuffle; none when this Rdd is
  /// partitioned that way already. Pairs of a partition stay in the order of partitions and
  /// records. Rdd of pairs.
  /// @throws Error (invalid_argument) when the number of partitions is below 1
  [[nodiscard]] auto partition_by(const KeyPartitioner& partitioner,
                                  Location location = Location::current()) const
    requires detail::Pair<T>;

  /// The same; pairs cross the shuffle by a codec of the program's: see TypeCodec. Operations by
  /// key that follow do not shuffle again, so this is how their records come to travel by it:
  /// `pairs.partition_by(8, Compact{}).join(others.partition_by(8, Compact{}))`.
  template <class Format>
    requires(detail::Pair<T> && !std::is_same_v<Format, detail::Location>)
  [[nodiscard]] auto partition_by(const KeyPartitioner& partitioner, Format codec,
                                  Location location = Location::current()) const;

  /// partition_by, with the pairs of each partition sorted by key on the reading side; equal keys
  /// keep their order. Cheaper than partition_by and a sort of each partition. No shuffle when this
  /// Rdd is partitioned that way already. Rdd of pairs whose keys have operator<.
  /// @throws Error (invalid_argument) when the number of partitions is below 1
  [[nodiscard]] auto repartition_and_sort_within_partitions(
      const KeyPartitioner& partitioner, Location location = Location::current()) const
    requires detail::Pair<T>;

  // ----------------------------------------------------------------------------- actions

  /// How many values each key has. One shuffle. Rdd of pairs.
  [[nodiscard]] auto count_by_key(Location location = Location::current()) const
    requires detail::Pair<T>;
  /// All pairs as a map; of equal keys the last one stays. No shuffle. Rdd of pairs.
  [[nodiscard]] auto collect_as_map(Location location = Location::current()) const
    requires detail::Pair<T>;
  /// The values of a key, in order. Runs one partition when the Rdd has a partitioner, else all.
  /// Rdd of pairs. @throws Error (invalid_argument) when the partitioner has no partition for the
  /// key
  template <class Key>
    requires detail::Pair<T>
  [[nodiscard]] auto lookup(const Key& key, Location location = Location::current()) const;

 private:
  template <class U>
  friend class PairRdd;
  template <class U>
  friend class Rdd;

  [[nodiscard]] const Rdd<T>& self() const { return static_cast<const Rdd<T>&>(*this); }
  template <class F>
  auto map_values_at(CallSite site, F f) const;
  template <class Format, class A>
  auto combine(const char* operation, const CallSite& site, const A& aggregator,
               const KeyPartitioner& partitioner) const;
  /// Op over this Rdd and another one, each shuffled unless it is partitioned that way already.
  template <class Op, class R>
  auto two_sided(const char* operation, const CallSite& site, const Rdd<R>& right,
                 const KeyPartitioner& partitioner) const;
  template <detail::JoinKind kind, class R>
  auto join_as(const char* operation, const Rdd<R>& right, const KeyPartitioner& partitioner,
               const Location& location) const;
  template <class... Rs>
  auto cogroup_of(const KeyPartitioner& partitioner, const Location& location,
                  const Rdd<Rs>&... others) const;
  [[nodiscard]] KeyPartitioner sampled_ranges(const char* operation, const CallSite& site,
                                              bool ascending, int32_t partitions) const;
  auto sorted_within(const CallSite& site, const KeyPartitioner& partitioner, bool ascending) const;
  template <detail::SemiJoin kind, class R>
  auto semi_join(const char* operation, const CallSite& site, const Rdd<R>& other,
                 const KeyPartitioner& partitioner) const;
};

}  // namespace tenon
