/// @file random.hpp
/// A small source of random bits for the tasks, the same on every backend. Not for programs.
#pragma once

#include <cstdint>
#include <limits>

namespace tenon::detail {

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). Usable
/// with the distributions of <random>.
class Random {
 public:
  using result_type = uint64_t;

  explicit Random(uint64_t seed) : state_(seed) {}
  /// One of the many sequences of a seed: that of a partition.
  Random(uint64_t seed, int32_t partition)
      : state_(mix(seed + mix(static_cast<uint64_t>(partition) + 1))) {}

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return std::numeric_limits<uint64_t>::max(); }
  uint64_t operator()() { return mix(state_ += 0x9e3779b97f4a7c15ULL); }

 private:
  static constexpr uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  uint64_t state_;
};

}  // namespace tenon::detail
