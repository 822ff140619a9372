// What the benchmarks of whole jobs share: a job of Tenon's and the same work by hand, in turn,
// with equal results.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "bare.hpp"
#include "bench.hpp"
#include "tenon/tenon.hpp"

namespace tenon_bench {

tenon::Conf conf_for(const Options& options);

// A number that looks random, another one for each i; 0 for 0 only (the finaliser of SplitMix64).
constexpr uint64_t scrambled(uint64_t i) {
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9ULL;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebULL;
  return i ^ (i >> 31);
}
// One below n.
constexpr uint64_t random_below(uint64_t n, uint64_t i) { return ((scrambled(i) >> 32) * n) >> 32; }

// What a result is compared by: equal records in any order have an equal one.
struct Checksum {
  uint64_t rows = 0, sum = 0;
  TENON_FIELDS(rows, sum)

  void add(uint64_t key, uint64_t value) {
    ++rows;
    sum += (key | 1) * (value + 0x9e3779b97f4a7c15ULL);
  }
  friend Checksum operator+(const Checksum& a, const Checksum& b) {
    return {a.rows + b.rows, a.sum + b.sum};
  }
};
inline bool agree(const Checksum& a, const Checksum& b) {
  return a.rows == b.rows && a.sum == b.sum;
}
// Sums of fractions, which depend on the order of addition.
inline bool agree(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(a); }

// Runs both in turn, options.rounds times, completes the line with the medians, and prints it.
// ours() and by_hand() return their seconds with what agree() compares.
// Returns the exit code: 1 when the results differ.
template <class Ours, class ByHand>
int compare(JsonLine line, const Options& options, const Ours& ours, const ByHand& by_hand) {
  std::vector<double> ours_s, by_hand_s;
  for (int round = 0; round < options.rounds; ++round) {
    const auto [seconds, result] = ours();
    const auto [bare_seconds, expected] = by_hand();
    ours_s.push_back(seconds);
    by_hand_s.push_back(bare_seconds);
    if (!agree(result, expected)) {
      std::fprintf(stderr, "round %d: the results differ\n", round + 1);
      return 1;
    }
  }
  line.number("seconds", median(ours_s)).number("bare_seconds", median(by_hand_s));
  line.number("ratio_to_bare", median(ours_s) / median(by_hand_s))
      .whole("peak_rss_bytes", peak_bytes());
  line.print();
  return 0;
}

// Seconds that work() takes, with its result.
template <class Work>
auto timed(const Work& work) {
  const double begin = now_s();
  auto result = work();
  return std::pair(now_s() - begin, std::move(result));
}

}  // namespace tenon_bench
