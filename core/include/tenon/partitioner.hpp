/// @file partitioner.hpp
/// How keys are spread over the partitions of an Rdd.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/detail/checks.hpp"
#include "tenon/detail/driver.hpp"
#include "tenon/detail/spread.hpp"

namespace tenon {

/// Puts each key of type K into one of a number of partitions. A value; two that are equal put
/// equal keys into partitions of equal number, so what is partitioned by one need not be shuffled
/// for the other. Operations by key take one where they take a number of partitions, which is short
/// for hash(n): `pairs.reduce_by_key(f, 8)`, `pairs.partition_by(Partitioner<int>::custom(ByTens{},
/// 10))`.
template <class K>
class Partitioner {
 public:
  /// The operation's choice: the partitioner of its parent with most partitions among those that
  /// have one, else hash() over tenon.default.parallelism, when set, or as many partitions as the
  /// largest parent has.
  Partitioner() = default;
  /// hash(partitions); 0: the operation's choice. The operation refuses a negative number.
  // NOLINTNEXTLINE(google-explicit-constructor): a number will do where a partitioner is asked for
  Partitioner(int32_t partitions) { erased_.partitions = partitions; }

  /// By tenon::Hash of the key: even where there are many keys.
  /// @throws Error (invalid_argument) when partitions is below 1
  [[nodiscard]] static Partitioner hash(int32_t partitions) {
    if (partitions < 1) detail::throw_bad_partitions("Partitioner::hash", partitions);
    return Partitioner(partitions);
  }

  /// By ranges of keys: bounds[i] is the last key of partition i, and the last partition has no
  /// end. K needs operator< and a tenon::Codec. PairRdd::range_partitioner() finds bounds that make
  /// even partitions.
  /// @param ascending false: partition 0 has the largest keys, and the bounds fall
  /// @throws Error (invalid_argument) when the bounds do not rise (or fall)
  [[nodiscard]] static Partitioner range(const std::vector<K>& bounds, bool ascending = true) {
    Partitioner made(static_cast<int32_t>(bounds.size() + 1));
    if constexpr (detail::check_key_travels<K>()) {
      const auto wrong = std::adjacent_find(
          bounds.begin(), bounds.end(),
          [&](const K& a, const K& b) { return ascending ? !(a < b) : !(b < a); });
      if (wrong != bounds.end()) {
        detail::throw_bad_argument("Partitioner::range",
                                   ascending ? "each bound must be above the one before"
                                             : "each bound must be below the one before");
      }
      made.erased_.spread = detail::RangeSpread<K>::make(bounds, ascending);
    }
    return made;
  }

  /// By a function of the program's: int32_t(const K&), the key's partition from 0 up, the same for
  /// equal keys in every process. It must be able to travel: a stateless lambda, a named function,
  /// a class with TENON_FIELDS. A result outside of 0 to partitions - 1 is an error
  /// (invalid_argument), which ends the job without another attempt.
  /// @return one that is equal to another of the same class with the same fields and partitions
  /// @throws Error (invalid_argument) when partitions is below 1
  template <class F>
  [[nodiscard]] static Partitioner custom(const F& f, int32_t partitions) {
    constexpr bool travels = detail::all_travel<F>();
    static_assert(travels,
                  "Partitioner::custom: the function has captured state or no type of its own, so "
                  "it cannot travel: pass a stateless lambda, a named function or a class with "
                  "TENON_FIELDS");
    static_assert(std::is_invocable_r_v<int32_t, const F&, const K&>,
                  "Partitioner::custom: the function must be int32_t(const K&) for key type K");
    if (partitions < 1) detail::throw_bad_partitions("Partitioner::custom", partitions);
    Partitioner made(partitions);
    if constexpr (travels && std::is_invocable_r_v<int32_t, const F&, const K&>) {
      made.erased_.spread = detail::CustomSpread<K, F>::make(f);
    }
    return made;
  }

  /// How many partitions there are; 0: the operation's choice.
  [[nodiscard]] int32_t partitions() const { return erased_.partitions; }
  /// The partition of a key.
  /// @throws Error (invalid_argument) when there is none: a function's result that is no partition,
  ///   or a partitioner that leaves the number to the operation
  [[nodiscard]] int32_t of(const K& key) const {
    if (partitions() < 1) detail::throw_bad_partitions("Partitioner::of", partitions());
    if constexpr (!Hashable<K>) {
      if (erased_.by_hash()) {
        detail::throw_bad_argument("Partitioner::of", "the key type has no tenon::Hash");
      }
    }
    return static_cast<int32_t>(detail::Spread<K>(erased_).of(key));
  }

  friend bool operator==(const Partitioner&, const Partitioner&) = default;

  /// For the templates of this library.
  explicit Partitioner(rdd::Partitioner erased) : erased_(std::move(erased)) {}
  [[nodiscard]] const rdd::Partitioner& erased() const { return erased_; }

 private:
  rdd::Partitioner erased_;
};

}  // namespace tenon
