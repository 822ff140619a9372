/// @file rdd_actions.hpp What runs a job over an Rdd and brings its values to the program. Included
/// by
///   tenon/rdd.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/detail/action.hpp"
#include "tenon/detail/driver.hpp"
#include "tenon/detail/hash.hpp"
#include "tenon/future.hpp"
#include "tenon/local_records.hpp"
#include "tenon/statistics.hpp"

namespace tenon {

/// A map from keys of an Rdd, in no order.
template <class K, class V>
using HashMap = std::unordered_map<K, V, detail::KeyHash<K>>;

template <class T>
class Rdd;

/// Actions, a part of every Rdd<T>. What is said of functions, records and errors at Rdd holds
/// here.
template <class T>
class RddActions {
 public:
  using Location = detail::Location;

  /// All records, in the order of partitions. They must fit into the driver's memory.
  [[nodiscard]] std::vector<detail::owned_t<T>> collect(
      Location location = Location::current()) const;
  /// collect() while the caller goes on.
  [[nodiscard]] Future<std::vector<detail::owned_t<T>>> collect_async(
      Location location = Location::current()) const;

  /// How many records there are.
  [[nodiscard]] uint64_t count(Location location = Location::current()) const;
  /// count() while the caller goes on.
  [[nodiscard]] Future<uint64_t> count_async(Location location = Location::current()) const;

  /// The first n records, in order; fewer when there are fewer. Runs one partition first, then
  /// more, four times as many each time (tenon.rdd.limit.scaleUpFactor). n = 0 runs no job.
  [[nodiscard]] std::vector<detail::owned_t<T>> take(uint64_t n,
                                                     Location location = Location::current()) const;

  /// The first record. @throws Error (invalid_argument) when there is none
  [[nodiscard]] detail::owned_t<T> first(Location location = Location::current()) const;

  /// f(record, record) over all. f must be associative and commutative. @throws Error
  /// (invalid_argument) when there is no record
  template <class F>
  [[nodiscard]] detail::owned_t<T> reduce(F f, Location location = Location::current()) const;

  /// zero with f over the records of each partition, then over the partitions' values in their
  /// order.
  template <class F>
  [[nodiscard]] detail::owned_t<T> fold(detail::owned_t<T> zero, F f,
                                        Location location = Location::current()) const;

  /// zero with add(total, record) over each partition, then merge(total, total) over the
  /// partitions' values in their order, which starts with zero too.
  template <class U, class Add, class Merge>
  [[nodiscard]] U aggregate(U zero, Add add, Merge merge,
                            Location location = Location::current()) const;

  /// f of each record, in the executors.
  template <class F>
  void for_each(F f, Location location = Location::current()) const {
    for_each_at(detail::call_site("for_each", location), std::move(f));
  }
  /// f(record, values...) of each record, in the executors.
  template <class F, class Value, class... Values>
    requires(!std::is_same_v<Value, Location>)
  void for_each(F f, Value value, Values... values) const {
    for_each_at(detail::call_site("for_each"),
                detail::with_values(std::move(f), std::move(value), std::move(values)...));
  }

  /// f(Records<T>&) of each partition, in the executors.
  template <class F>
  void for_each_partition(F f, Location location = Location::current()) const {
    for_each_partition_at(detail::call_site("for_each_partition", location), std::move(f));
  }
  /// f(Records<T>&, values...) of each partition, in the executors.
  template <class F, class Value, class... Values>
    requires(!std::is_same_v<Value, Location>)
  void for_each_partition(F f, Value value, Values... values) const {
    for_each_partition_at(
        detail::call_site("for_each_partition"),
        detail::with_values(std::move(f), std::move(value), std::move(values)...));
  }

  /// reduce() whose partitions' values are brought together by the executors first, over a shuffle
  /// or several, so that the driver gets few. One shuffle a level below the first.
  /// @param depth levels of the tree, at least 1; 1 is reduce() @throws Error (invalid_argument)
  ///   when there is no record, or for another depth
  template <class F>
  [[nodiscard]] detail::owned_t<T> tree_reduce(F f, int32_t depth = 2,
                                               Location location = Location::current()) const;
  /// aggregate() in the same way; zero starts each partition only.
  template <class U, class Add, class Merge>
  [[nodiscard]] U tree_aggregate(U zero, Add add, Merge merge, int32_t depth = 2,
                                 Location location = Location::current()) const;

  /// True when there is no record. Runs the first partition, and more when that is empty.
  [[nodiscard]] bool is_empty(Location location = Location::current()) const;

  /// The n largest records, the largest first. Each partition sends n at most.
  template <class Less = std::less<>>
  [[nodiscard]] std::vector<detail::owned_t<T>> top(uint64_t n, Less less = {},
                                                    Location location = Location::current()) const;
  /// The n smallest records, the smallest first. Each partition sends n at most.
  template <class Less = std::less<>>
  [[nodiscard]] std::vector<detail::owned_t<T>> take_ordered(
      uint64_t n, Less less = {}, Location location = Location::current()) const;

  /// n records at random, the same for the same seed and partitions; fewer when there are fewer and
  /// none comes twice. Two jobs.
  [[nodiscard]] std::vector<detail::owned_t<T>> take_sample(
      bool with_replacement, uint64_t n, uint64_t seed = 0,
      Location location = Location::current()) const;

  /// How often each record comes. One shuffle.
  [[nodiscard]] HashMap<detail::owned_t<T>, uint64_t> count_by_value(
      Location location = Location::current()) const;

  /// An estimate of the number of distinct records (HyperLogLog). No shuffle.
  /// @param relative_deviation of the estimate, 0.00026 to 0.26: smaller needs more memory
  /// @throws Error (invalid_argument) for another one
  [[nodiscard]] uint64_t count_approx_distinct(double relative_deviation = 0.05,
                                               Location location = Location::current()) const;

  /// The smallest record. @throws Error (invalid_argument) when there is none
  template <class Less = std::less<>>
  [[nodiscard]] detail::owned_t<T> min(Less less = {},
                                       Location location = Location::current()) const;
  /// The largest record. @throws Error (invalid_argument) when there is none
  template <class Less = std::less<>>
  [[nodiscard]] detail::owned_t<T> max(Less less = {},
                                       Location location = Location::current()) const;

  /// The sum of numbers, in the order of partitions; 0 of none. Integers of fewer than 64 bits are
  /// added up in 64.
  [[nodiscard]] auto sum(Location location = Location::current()) const
    requires std::is_arithmetic_v<T>;
  /// Count, mean, variance and extremes of numbers.
  [[nodiscard]] Statistics stats(Location location = Location::current()) const
    requires std::is_arithmetic_v<T>;
  /// How many numbers lie in [bounds[i], bounds[i+1]); the last bucket has its upper bound, too.
  /// Others, and NaN, are left out.
  /// @throws Error (invalid_argument) for fewer than two bounds, or bounds that do not rise
  [[nodiscard]] std::vector<uint64_t> histogram(std::vector<double> bounds,
                                                Location location = Location::current()) const
    requires std::is_arithmetic_v<T>;
  /// The same with n buckets of equal width from the smallest to the largest number. Two jobs.
  /// @return the bounds, and the counts @throws Error (invalid_argument) when n is 0, there is no
  ///   number, or one is infinite or NaN
  [[nodiscard]] std::pair<std::vector<double>, std::vector<uint64_t>> histogram(
      uint64_t n, Location location = Location::current()) const
    requires std::is_arithmetic_v<T>;

  /// All records one after another, in the order of partitions: `for (auto& record :
  /// rdd.to_local_iterator())`. Holds one partition at a time; runs a job for each.
  [[nodiscard]] LocalRecords<T> to_local_iterator(Location location = Location::current()) const;

  /// Runs the map side of the shuffle that this Rdd reads, and nothing else; a later job finds it
  /// done. When it is done already, no task runs.
  /// @return the bytes that each of its partitions will read
  /// @throws Error (invalid_argument) when this Rdd reads no shuffle or several (a join), or what
  /// it
  ///   reads has no partitions
  [[nodiscard]] std::vector<uint64_t> run_map_stage(Location location = Location::current()) const;
  /// run_map_stage() while the caller goes on.
  [[nodiscard]] Future<std::vector<uint64_t>> run_map_stage_async(
      Location location = Location::current()) const;

  /// reduce() while the caller goes on.
  template <class F>
  [[nodiscard]] Future<detail::owned_t<T>> reduce_async(
      F f, Location location = Location::current()) const;
  /// for_each() while the caller goes on.
  template <class F>
  [[nodiscard]] Future<void> for_each_async(F f, Location location = Location::current()) const;
  /// for_each_partition() while the caller goes on.
  template <class F>
  [[nodiscard]] Future<void> for_each_partition_async(
      F f, Location location = Location::current()) const;

  /// A line per record in DIR/part-00000 and so on, one file a partition, then DIR/_SUCCESS. Text
  /// and numbers as they are, pairs and tuples as "(a,b)". Nothing is left of a job that fails.
  /// @throws Error (input_output) when the directory exists, before any task runs
  void save_as_text_file(const std::string& directory,
                         Location location = Location::current()) const;

  /// The records as their Codec writes them in DIR/part-00000 and so on, one file a partition, then
  /// DIR/_SUCCESS; for Context::object_file(). Each file names the type of the records and ends
  /// with a checksum. Views are saved as std::string. Nothing is left of a job that fails.
  /// @throws Error (input_output) when the directory exists, before any task runs
  void save_as_object_file(const std::string& directory,
                           Location location = Location::current()) const;

 private:
  [[nodiscard]] const Rdd<T>& self() const { return static_cast<const Rdd<T>&>(*this); }
  template <class F>
  void for_each_at(CallSite site, F f) const;
  template <class F>
  void for_each_partition_at(CallSite site, F f) const;
  [[nodiscard]] Future<std::vector<uint64_t>> map_stage_at(CallSite site) const;
  template <class F>
  [[nodiscard]] Future<void> run_async(const CallSite& site, const F& f) const;
  template <class Each, class Merge>
  auto tree_values(const char* operation, const CallSite& site, Each each, Merge merge,
                   int32_t depth) const;
  template <class Less>
  [[nodiscard]] std::vector<detail::owned_t<T>> ordered(const char* operation, uint64_t n,
                                                        Less less, Location location) const;
  template <class Choose>
  [[nodiscard]] detail::owned_t<T> extreme(const char* operation, Choose choose,
                                           Location location) const;
};

}  // namespace tenon
