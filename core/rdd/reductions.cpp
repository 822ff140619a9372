// What actions decide in the driver: the levels of a tree, the places of a sample.
#include <algorithm>
#include <cmath>
#include <string>

#include "tenon/detail/rdd_reductions.hpp"

namespace tenon::detail {

int32_t tree_scale(const char* operation, int32_t n, int32_t depth) {
  if (depth < 1) {
    throw_bad_argument(operation, "the depth must be above 0, not " + std::to_string(depth));
  }
  const double scale = std::ceil(std::pow(static_cast<double>(n), 1.0 / depth));
  return std::max(2, static_cast<int32_t>(scale));
}

// A level is worth its shuffle while it leaves the driver fewer nodes than it has groups to read.
int32_t tree_groups(int32_t n, int32_t scale) {
  return n > scale + (n + scale - 1) / scale ? n / scale : 0;
}

std::vector<std::vector<uint64_t>> sample_positions(const std::vector<uint64_t>& sizes,
                                                    bool with_replacement, uint64_t n,
                                                    uint64_t seed) {
  std::vector<std::vector<uint64_t>> positions(sizes.size());
  uint64_t total = 0;
  for (const uint64_t size : sizes) total += size;
  Random random(seed);
  std::vector<uint64_t> chosen;
  if (with_replacement) {
    for (uint64_t i = 0; i < n && total > 0; ++i) chosen.push_back(random() % total);
    std::sort(chosen.begin(), chosen.end());
  } else {
    // Knuth's algorithm S: each record with the probability that the rest of the sample needs.
    uint64_t missing = std::min(n, total);
    for (uint64_t at = 0; missing > 0; ++at) {
      if (random() % (total - at) >= missing) continue;
      chosen.push_back(at);
      --missing;
    }
  }
  size_t partition = 0;
  uint64_t first = 0;
  for (const uint64_t at : chosen) {
    while (at - first >= sizes[partition]) first += sizes[partition++];
    positions[partition].push_back(at - first);
  }
  return positions;
}

}  // namespace tenon::detail
