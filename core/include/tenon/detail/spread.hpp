/// @file spread.hpp Which partition a key belongs to: what a partitioner is made of. Not for
///   programs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/codec.hpp"
#include "tenon/detail/hash.hpp"
#include "tenon/detail/lineage.hpp"
#include "tenon/detail/owned.hpp"
#include "tenon/detail/registry.hpp"
#include "tenon/function.hpp"

namespace tenon::detail {

/// A partitioner's result that is none of its partitions (invalid_argument); another attempt of a
/// task cannot help.
[[noreturn]] TENON_API void throw_bad_partition(int32_t partition, int32_t partitions);

/// A key as a partitioner sees it.
template <class K>
using spread_key_t = std::conditional_t<std::is_same_v<K, std::string>, std::string_view, const K&>;

/// Partitions of keys other than by hash.
template <class K>
class KeySpread : public OperatorBase {
 public:
  [[nodiscard]] virtual int32_t of(spread_key_t<K> key) const = 0;
};

/// Keys that are numbers of partitions already.
class NumberSpread final : public KeySpread<uint32_t> {
 public:
  explicit NumberSpread(std::string_view) {}
  [[nodiscard]] int32_t of(const uint32_t& key) const override { return static_cast<int32_t>(key); }
};

/// Ordered ranges of keys: bounds[i] is the last key of partition i, in the order asked for.
template <class K>
class RangeSpread final : public KeySpread<K> {
 public:
  explicit RangeSpread(std::string_view bytes) {
    ByteReader in(bytes);
    ascending_ = in.flag();
    bounds_ = Codec<std::vector<K>>::read(in);
  }
  static Operator make(const std::vector<K>& bounds, bool ascending) {
    std::string bytes;
    ByteWriter out(bytes);
    Codec<bool>::write(out, ascending);
    Codec<std::vector<K>>::write(out, bounds);
    return operator_of<RangeSpread>(std::move(bytes));
  }
  [[nodiscard]] int32_t of(spread_key_t<K> key) const override {
    const auto at =
        ascending_ ? std::lower_bound(bounds_.begin(), bounds_.end(), key)
                   : std::lower_bound(bounds_.begin(), bounds_.end(), key,
                                      [](const auto& bound, const auto& k) { return k < bound; });
    return static_cast<int32_t>(at - bounds_.begin());
  }

 private:
  std::vector<K> bounds_;
  bool ascending_ = true;
};

/// A function of the program's.
template <class K, class F>
class CustomSpread final : public KeySpread<K> {
 public:
  explicit CustomSpread(std::string_view bytes) : f_(read(bytes)) {}
  static Operator make(const F& f) { return operator_of<CustomSpread>(encode_function(f)); }
  [[nodiscard]] int32_t of(spread_key_t<K> key) const override {
    if constexpr (std::is_invocable_v<const F&, spread_key_t<K>>) {
      return std::invoke(f_, key);
    } else {
      return std::invoke(f_, K(key));
    }
  }

 private:
  static F read(std::string_view bytes) {
    ByteReader in(bytes);
    return FunctionCodec<F>::read(in);
  }
  F f_;
};

/// A partitioner at work. The high half of the hash chooses, since tables use the low one.
template <class K>
class Spread {
 public:
  explicit Spread(const rdd::Partitioner& partitioner)
      : partitions_(static_cast<uint32_t>(partitioner.partitions)),
        own_(partitioner.by_hash() ? nullptr : make_registered(partitioner.spread)) {}

  [[nodiscard]] size_t partitions() const { return partitions_; }
  /// hash: of the key.
  template <class Key>
  [[nodiscard]] size_t of(const Key& key, uint64_t hash) const {
    if (own_ == nullptr) return ((hash >> 32) * partitions_) >> 32;
    return of_own(key);
  }
  template <class Key>
  [[nodiscard]] size_t of(const Key& key) const {
    if constexpr (Hashable<K>) {
      if (own_ == nullptr) return of(key, Hash<K>::of(key));
    }
    return of_own(key);
  }

  static void write(ByteWriter& out, const rdd::Partitioner& partitioner) {
    out.fixed(partitioner.partitions);
    out.fixed(partitioner.spread.id);
    out.text(partitioner.spread.bytes);
  }
  static Spread read(ByteReader& in) {
    rdd::Partitioner partitioner;
    partitioner.partitions = in.fixed<int32_t>();
    partitioner.spread.id = in.fixed<uint64_t>();
    partitioner.spread.bytes = in.text();
    return Spread(partitioner);
  }

 private:
  template <class Key>
  [[nodiscard]] size_t of_own(const Key& key) const {
    const auto& own = static_cast<const KeySpread<K>&>(*own_);
    int32_t partition = 0;
    if constexpr (std::is_convertible_v<const Key&, spread_key_t<K>>) {
      partition = own.of(key);
    } else {
      partition = own.of(to_owned(key));
    }
    if (static_cast<uint32_t>(partition) >= partitions_) {
      throw_bad_partition(partition, static_cast<int32_t>(partitions_));
    }
    return static_cast<size_t>(partition);
  }

  uint64_t partitions_;
  std::unique_ptr<const OperatorBase> own_;  // a KeySpread<K>; null: by hash
};

}  // namespace tenon::detail
