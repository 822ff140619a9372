// An inner join of N pairs with N others; keys are random, so that most come once or twice on each
// side.
#include <algorithm>
#include <array>
#include <bit>

#include "compare.hpp"

namespace tenon_bench {
namespace {

using Pair = std::pair<uint64_t, uint64_t>;
using Joined = std::pair<uint64_t, std::pair<uint64_t, uint64_t>>;

constexpr Pair left_at(uint64_t i, uint64_t n) { return {scrambled(random_below(n, i)), i}; }
constexpr Pair right_at(uint64_t i, uint64_t n) { return {scrambled(random_below(n, n + i)), i}; }

Checksum add(Checksum sum, const Joined& row) {
  sum.add(row.first + row.second.first, row.second.second);
  return sum;
}

constexpr unsigned kBits = 10;
constexpr size_t kBuckets = size_t{1} << kBits;

// Pairs by the highest bits of their hash, so that a bucket's table lies in the cache.
using Buckets = std::vector<std::vector<Pair>>;

uint64_t hash(uint64_t key) { return key * 0x9e3779b97f4a7c15ULL; }

template <auto at>
Buckets spread(uint64_t n, size_t t) {
  const uint64_t begin = part_begin(n, t), end = part_begin(n, t + 1);
  Buckets buckets(kBuckets);
  for (auto& bucket : buckets) bucket.reserve((end - begin) / kBuckets * 9 / 8 + 16);
  for (uint64_t i = begin; i < end; ++i) {
    const Pair pair = at(i, n);
    buckets[hash(pair.first) >> (64 - kBits)].push_back(pair);
  }
  return buckets;
}

// Chains of equal slots: pair i of the left side is followed by next_[i]; 0 ends a chain, pairs
// count from 1.
class Matcher {
 public:
  void build(const std::array<Buckets, kThreads>& left, size_t bucket) {
    pairs_.assign(1, {});
    for (const Buckets& part : left)
      pairs_.insert(pairs_.end(), part[bucket].begin(), part[bucket].end());
    const unsigned bits = std::max(1U, static_cast<unsigned>(std::bit_width(pairs_.size())));
    shift_ = 64 - bits;
    first_.assign(size_t{1} << bits, 0);
    next_.resize(pairs_.size());
    for (uint32_t i = 1; i < pairs_.size(); ++i) {
      next_[i] = std::exchange(first_[slot(pairs_[i].first)], i);
    }
  }
  void probe(const std::vector<Pair>& right, Checksum& sum) const {
    for (const Pair& pair : right) {
      for (uint32_t i = first_[slot(pair.first)]; i != 0; i = next_[i]) {
        if (pairs_[i].first == pair.first) sum.add(pair.first + pairs_[i].second, pair.second);
      }
    }
  }

 private:
  [[nodiscard]] size_t slot(uint64_t key) const { return (hash(key) << kBits) >> shift_; }
  std::vector<Pair> pairs_;
  std::vector<uint32_t> first_, next_;
  unsigned shift_ = 0;
};

Checksum join_by_hand(uint64_t n) {
  std::array<Buckets, kThreads> left, right;
  in_parallel([&](size_t t) {
    left[t] = spread<left_at>(n, t);
    right[t] = spread<right_at>(n, t);
  });
  std::array<Checksum, kThreads> sums;
  in_parallel([&](size_t t) {
    Matcher matcher;
    Checksum sum;
    for (size_t bucket = t; bucket < kBuckets; bucket += kThreads) {
      matcher.build(left, bucket);
      for (const Buckets& part : right) matcher.probe(part[bucket], sum);
    }
    sums[t] = sum;
  });
  return sums[0] + sums[1];
}

}  // namespace

int join(const Options& options) {
  const uint64_t n = options.size_or(10'000'000);
  tenon::Context ctx(conf_for(options), {.app = "bench-join"});
  JsonLine line("join");
  line.text("master", options.master).whole("left", n).whole("right", n);
  return compare(
      std::move(line), options,
      [&] {
        return timed([&] {
          const auto numbers = ctx.range<uint64_t>(0, n, 1, options.partitions);
          return numbers.map(tenon::fn<left_at>, n)
              .join(numbers.map(tenon::fn<right_at>, n))
              .aggregate(Checksum{}, tenon::fn<add>, std::plus<>{});
        });
      },
      [&] { return timed([&] { return join_by_hand(n); }); });
}

}  // namespace tenon_bench
