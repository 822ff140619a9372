/// @file rdd_actions.hpp What runs a job over an Rdd and brings its values to the program. Included
/// by
///   tenon/rdd.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/detail/action.hpp"
#include "tenon/detail/driver.hpp"
#include "tenon/future.hpp"

namespace tenon {

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

  /// A line per record in DIR/part-00000 and so on, one file a partition, then DIR/_SUCCESS. Text
  /// and numbers as they are, pairs and tuples as "(a,b)". Nothing is left of a job that fails.
  /// @throws Error (input_output) when the directory exists, before any task runs
  void save_as_text_file(const std::string& directory,
                         Location location = Location::current()) const;

 private:
  [[nodiscard]] const Rdd<T>& self() const { return static_cast<const Rdd<T>&>(*this); }
  template <class F>
  void for_each_at(CallSite site, F f) const;
};

}  // namespace tenon
