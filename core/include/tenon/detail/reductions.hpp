/// @file reductions.hpp
/// What actions make of one partition: the largest records, samples, statistics, counts. Not for
/// programs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tenon/detail/action.hpp"
#include "tenon/detail/hash.hpp"
#include "tenon/detail/hyper_log_log.hpp"
#include "tenon/detail/random.hpp"
#include "tenon/statistics.hpp"

namespace tenon::detail {

// A function that orders records, one line when it cannot.
template <class Less, class T>
constexpr bool check_order() {
  constexpr bool orders = std::is_invocable_r_v<bool, const Less&, const T&, const T&>;
  static_assert(orders,
                "the records cannot be compared: give the element type an operator<, or pass a "
                "function bool(T, T)");
  static_assert(is_shippable_v<Less> || !orders,
                "the function that compares cannot travel; see docs/closures.md");
  return orders && is_shippable_v<Less>;
}

/// less with its sides exchanged.
template <class Less>
struct Exchanged {
  using Inner = Less;
  Less f;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return std::invoke(f, b, a);
  }
};
/// The n first records by an order, held in a heap whose top is the last of them; not sorted.
template <class T, class Less>
struct TakeOrdered {
  Less less;
  uint64_t n = 0;
  std::vector<owned_t<T>> operator()(Records<T>& records) const {
    std::vector<owned_t<T>> heap;
    if (n == 0) return heap;
    for (T& record : records) {
      if (heap.size() < n) {
        heap.push_back(to_owned(std::move(record)));
        std::push_heap(heap.begin(), heap.end(), less);
      } else if (std::invoke(less, record, heap.front())) {
        std::pop_heap(heap.begin(), heap.end(), less);
        heap.back() = to_owned(std::move(record));
        std::push_heap(heap.begin(), heap.end(), less);
      }
    }
    return heap;
  }
};
template <class T, class Less>
struct FunctionCodec<TakeOrdered<T, Less>> {
  static void write(ByteWriter& out, const TakeOrdered<T, Less>& take) {
    FunctionCodec<Less>::write(out, take.less);
    out.fixed(take.n);
  }
  static TakeOrdered<T, Less> read(ByteReader& in) {
    Less less = FunctionCodec<Less>::read(in);
    return {std::move(less), in.fixed<uint64_t>()};
  }
};

/// The smaller of two by an order, the first of equal ones.
template <class Less>
struct Smaller {
  using Inner = Less;
  Less f;
  template <class T>
  T operator()(T a, T b) const {
    return std::invoke(f, b, a) ? std::move(b) : std::move(a);
  }
};
/// The records at these positions of each partition, which are in order.
template <class T>
struct TakeAt {
  std::vector<std::vector<uint64_t>> positions;
  TENON_FIELDS(positions)
  std::vector<owned_t<T>> operator()(Records<T>& records) const {
    const auto& wanted = positions.at(static_cast<size_t>(TaskContext::current()->partition()));
    std::vector<owned_t<T>> taken;
    uint64_t at = 0;
    if (wanted.empty()) return taken;
    for (T& record : records) {
      if (wanted[taken.size()] == at++) taken.push_back(to_owned(std::move(record)));
      if (taken.size() == wanted.size()) break;
    }
    return taken;
  }
};

template <class T>
struct HasAny {
  bool operator()(Records<T>& records) const { return records.begin() != records.end(); }
};

template <class T, class F>
struct VisitPartition {
  using Inner = F;
  F f;
  void operator()(Records<T>& records) const { std::invoke(f, records); }
};
template <class T>
struct WithOne {
  std::pair<T, uint64_t> operator()(T&& record) const { return {std::move(record), 1}; }
};

/// What integers of fewer than 64 bits are added up in.
template <class T>
using sum_t = std::conditional_t<std::is_floating_point_v<T>, T,
                                 std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <class T>
struct SumAll {
  sum_t<T> operator()(Records<T>& records) const {
    sum_t<T> total = 0;
    for (const T& record : records) total += record;
    return total;
  }
};

template <class T>
struct StatisticsAll {
  Statistics operator()(Records<T>& records) const {
    Statistics statistics;
    for (const T& record : records) statistics.add(static_cast<double>(record));
    return statistics;
  }
};

template <class T>
struct HistogramAll {
  std::vector<uint64_t> operator()(Records<T>& records, const std::vector<double>& bounds) const {
    std::vector<uint64_t> counts(bounds.size() - 1);
    for (const T& record : records) {
      const auto value = static_cast<double>(record);
      if (!(value >= bounds.front() && value <= bounds.back())) continue;
      const auto above = std::upper_bound(bounds.begin(), bounds.end(), value);
      ++counts[std::min(static_cast<size_t>(above - bounds.begin()), counts.size()) - 1];
    }
    return counts;
  }
};

template <class T>
struct DistinctSketch {
  HyperLogLog operator()(Records<T>& records, uint8_t bits) const {
    HyperLogLog sketch = HyperLogLog::with_bits(bits);
    for (const T& record : records) sketch.add(Hash<T>::of(record));
    return sketch;
  }
};

/// The values of one key.
template <class T>
struct ValuesOf {
  using K = owned_t<typename T::first_type>;
  using V = owned_t<typename T::second_type>;
  std::vector<V> operator()(Records<T>& records, const K& key) const {
    std::vector<V> values;
    for (T& record : records) {
      if (record.first == key) values.push_back(to_owned(std::move(record.second)));
    }
    return values;
  }
};

/// (group of the partition, its value): the leaves of a tree.
template <class T, class F>
struct Leaf {
  F f;
  int32_t groups = 1;
  struct Call {
    const F* f;
    uint32_t group;
    auto operator()(Records<T>& records) const {
      using Value = std::remove_cvref_t<std::invoke_result_t<const F&, Records<T>&>>;
      std::vector<std::pair<uint32_t, Value>> one;
      one.emplace_back(group, std::invoke(*f, records));
      return one;
    }
  };
  [[nodiscard]] Call for_partition(int32_t partition) const {
    return {&f, static_cast<uint32_t>(partition % groups)};
  }
};
template <class T, class F>
struct FunctionCodec<Leaf<T, F>> {
  static void write(ByteWriter& out, const Leaf<T, F>& leaf) {
    FunctionCodec<F>::write(out, leaf.f);
    out.fixed(leaf.groups);
  }
  static Leaf<T, F> read(ByteReader& in) {
    F f = FunctionCodec<F>::read(in);
    return {std::move(f), in.fixed<int32_t>()};
  }
};

/// Puts a node of the tree into one of fewer groups.
struct Regroup {
  uint32_t groups = 1;
  TENON_FIELDS(groups)
  template <class V>
  std::pair<uint32_t, V> operator()(std::pair<uint32_t, V>&& node) const {
    return {node.first % groups, std::move(node.second)};
  }
};

/// f of two optional values.
template <class F>
struct OnPresent {
  using Inner = F;
  F f;
  template <class T>
  std::optional<T> operator()(std::optional<T> a, std::optional<T> b) const {
    if (!a) return b;
    if (!b) return a;
    return T(std::invoke(f, std::move(*a), std::move(*b)));
  }
};
}  // namespace tenon::detail
