// Sums by key: N pairs, with N / 50 different keys.
#include <algorithm>
#include <array>
#include <functional>

#include "compare.hpp"

namespace tenon_bench {
namespace {

using Pair = std::pair<uint64_t, uint64_t>;

constexpr uint64_t keys_of(uint64_t pairs) { return pairs / 50 + 1; }

// Keys are spread over 64 bits, and never 0.
constexpr Pair pair_at(uint64_t i, uint64_t keys) {
  return {scrambled(1 + random_below(keys, i)), i};
}

Checksum add(Checksum sum, const Pair& pair) {
  sum.add(pair.first, pair.second);
  return sum;
}

// Open addressing; 0 is no key. Slots lie in the order of the hash.
class SumTable {
 public:
  explicit SumTable(size_t bits = 12) : slots_(size_t{1} << bits), shift_(64 - bits) {}

  void prefetch(uint64_t key) const { __builtin_prefetch(&slots_[home(key)], 1); }
  void add(uint64_t key, uint64_t value) {
    size_t at = home(key);
    while (slots_[at].first != key && slots_[at].first != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at].second += value;
    if (slots_[at].first == key) return;
    slots_[at].first = key;
    if (++size_ * 2 > slots_.size()) grow();
  }
  // f(pair) for the keys whose hash's highest bits are part t's.
  template <class F>
  void for_part(size_t t, const F& f) const {
    for (const Pair& slot : slots_) {
      if (slot.first != 0 && (hash(slot.first) >> 63) == t) f(slot);
    }
  }
  [[nodiscard]] size_t bits() const { return 64 - shift_; }

 private:
  static uint64_t hash(uint64_t key) { return key * 0x9e3779b97f4a7c15ULL; }
  [[nodiscard]] size_t home(uint64_t key) const { return hash(key) >> shift_; }
  void grow() {
    SumTable larger(bits() + 1);
    for (const Pair& slot : slots_) {
      if (slot.first != 0) larger.add(slot.first, slot.second);
    }
    std::swap(*this, larger);
  }
  std::vector<Pair> slots_;
  size_t shift_, size_ = 0;
};
static_assert(kThreads == 2, "for_part() halves by one bit");

// Each thread sums its half of the pairs, the slots of some pairs ahead on their way to the cache;
// then each brings one half of the keys together.
Checksum reduce_by_hand(uint64_t n) {
  const uint64_t keys = keys_of(n);
  std::array<SumTable, kThreads> tables;
  in_parallel([&](size_t t) {
    constexpr uint64_t kAhead = 32;
    std::array<Pair, kAhead> pairs;
    SumTable table;
    for (uint64_t i = part_begin(n, t), end = part_begin(n, t + 1); i < end;) {
      const uint64_t count = std::min(kAhead, end - i);
      for (uint64_t k = 0; k < count; ++k) {
        pairs[k] = pair_at(i + k, keys);
        table.prefetch(pairs[k].first);
      }
      for (uint64_t k = 0; k < count; ++k) table.add(pairs[k].first, pairs[k].second);
      i += count;
    }
    tables[t] = std::move(table);
  });
  std::array<Checksum, kThreads> sums;
  in_parallel([&](size_t t) {
    SumTable half(tables[0].bits());
    for (const SumTable& table : tables) {
      table.for_part(t, [&](const Pair& pair) { half.add(pair.first, pair.second); });
    }
    Checksum sum;
    half.for_part(t, [&](const Pair& pair) { sum.add(pair.first, pair.second); });
    sums[t] = sum;
  });
  return sums[0] + sums[1];
}

}  // namespace

int reduce(const Options& options) {
  const uint64_t n = options.size_or(50'000'000);
  tenon::Context ctx(conf_for(options), {.app = "bench-reduce"});
  JsonLine line("reduce");
  line.text("master", options.master).whole("pairs", n).whole("keys", keys_of(n));
  return compare(
      std::move(line), options,
      [&] {
        return timed([&] {
          return ctx.range<uint64_t>(0, n, 1, options.partitions)
              .map(tenon::fn<pair_at>, keys_of(n))
              .reduce_by_key(std::plus<>{})
              .aggregate(Checksum{}, tenon::fn<add>, std::plus<>{});
        });
      },
      [&] { return timed([&] { return reduce_by_hand(n); }); });
}

}  // namespace tenon_bench
