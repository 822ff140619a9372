/// @file ordered.hpp
/// Functions that know their partition and what came before in it: samples, numbers, running
/// totals, windows. Not for programs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "tenon/codec.hpp"
#include "tenon/detail/action.hpp"
#include "tenon/detail/random.hpp"

namespace tenon::detail {

/// Each record with this probability.
struct SampleOnce {
  double fraction = 0;
  uint64_t seed = 0;
  TENON_FIELDS(fraction, seed)

  struct Call {
    Random random;
    std::bernoulli_distribution chosen;
    template <class T>
    bool operator()(const T&) {
      return chosen(random);
    }
  };
  [[nodiscard]] Call for_partition(int32_t partition) const {
    return {Random(seed, partition), std::bernoulli_distribution(fraction)};
  }
};

/// A value some times over.
template <class T>
struct Repeated {
  T value;
  uint64_t times;

  struct iterator {
    const T* value;
    uint64_t left;
    const T& operator*() const { return *value; }
    iterator& operator++() {
      --left;
      return *this;
    }
    bool operator==(const iterator& other) const { return left == other.left; }
  };
  [[nodiscard]] iterator begin() const { return {&value, times}; }
  [[nodiscard]] iterator end() const { return {&value, 0}; }
};

/// Each record as often as drawing with replacement would take it: Poisson with this mean.
struct SampleOften {
  double fraction = 0;
  uint64_t seed = 0;
  TENON_FIELDS(fraction, seed)

  struct Call {
    Random random;
    std::poisson_distribution<uint64_t> often;
    bool never;
    template <class T>
    Repeated<std::remove_cvref_t<T>> operator()(T&& record) {
      return {std::forward<T>(record), never ? 0 : often(random)};
    }
  };
  [[nodiscard]] Call for_partition(int32_t partition) const {
    const bool never = fraction <= 0;
    return {Random(seed, partition), std::poisson_distribution<uint64_t>(never ? 1.0 : fraction),
            never};
  }
};

/// (record, its number over all partitions).
template <class T>
struct NumberFrom {
  std::vector<uint64_t> first;  // of each partition
  TENON_FIELDS(first)

  struct Call {
    uint64_t next;
    std::pair<T, uint64_t> operator()(T&& record) { return {std::move(record), next++}; }
  };
  [[nodiscard]] Call for_partition(int32_t partition) const {
    return {first.at(static_cast<size_t>(partition))};
  }
};

/// (position in line, record): records are dealt out over partitions in turn.
template <class T>
struct Deal {
  uint32_t partitions = 1;
  TENON_FIELDS(partitions)

  struct Call {
    uint32_t next, partitions;
    std::pair<uint32_t, T> operator()(T&& record) {
      const uint32_t at = next;
      next = next + 1 == partitions ? 0 : next + 1;
      return {at, std::move(record)};
    }
  };
  // Partitions begin at different places, so that many small ones do not all fill the first.
  [[nodiscard]] Call for_partition(int32_t partition) const {
    return {static_cast<uint32_t>(Random(0, partition)() % partitions), partitions};
  }
};

/// f over all records up to and with this one.
template <class T, class F>
struct RunningTotal {
  F f;
  std::vector<std::optional<T>> before;  // of each partition

  struct Call {
    const F* f;
    std::optional<T> total;
    template <class Record>
    T operator()(Record&& record) {
      T value = to_owned(std::forward<Record>(record));
      total = total ? T(std::invoke(*f, std::move(*total), std::move(value))) : std::move(value);
      return *total;
    }
  };
  [[nodiscard]] Call for_partition(int32_t partition) const {
    return {&f, before.at(static_cast<size_t>(partition))};
  }
};
template <class T, class F>
struct FunctionCodec<RunningTotal<T, F>> {
  static void write(ByteWriter& out, const RunningTotal<T, F>& running) {
    FunctionCodec<F>::write(out, running.f);
    Codec<std::vector<std::optional<T>>>::write(out, running.before);
  }
  static RunningTotal<T, F> read(ByteReader& in) {
    F f = FunctionCodec<F>::read(in);
    return {std::move(f), Codec<std::vector<std::optional<T>>>::read(in)};
  }
};

/// A range of one value or none.
template <class T>
struct Maybe {
  std::optional<T> value;
  [[nodiscard]] T* begin() { return value ? &*value : nullptr; }
  [[nodiscard]] T* end() { return value ? &*value + 1 : nullptr; }
};

/// The last n records up to each one; none until there are n.
template <class T>
struct Windows {
  uint64_t size = 1;
  std::vector<std::vector<T>>
      before;  // of each partition: the size - 1 records before it, or fewer
  TENON_FIELDS(size, before)

  struct Call {
    uint64_t size;
    std::vector<T> last;
    template <class Record>
    Maybe<std::vector<T>> operator()(Record&& record) {
      if (last.size() == size) last.erase(last.begin());
      last.push_back(to_owned(std::forward<Record>(record)));
      if (last.size() < size) return {};
      return {last};
    }
  };
  [[nodiscard]] Call for_partition(int32_t partition) const {
    return {size, before.at(static_cast<size_t>(partition))};
  }
};

/// The last n records of a partition.
template <class T>
struct TakeLast {
  std::vector<owned_t<T>> operator()(Records<T>& records, uint64_t n) const {
    std::vector<owned_t<T>> last;
    if (n == 0) return last;
    uint64_t at = 0;
    for (T& record : records) {
      if (last.size() < n) {
        last.push_back(to_owned(std::move(record)));
      } else {
        last[at] = to_owned(std::move(record));
        at = at + 1 == n ? 0 : at + 1;
      }
    }
    std::rotate(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(at), last.end());
    return last;
  }
};

}  // namespace tenon::detail
