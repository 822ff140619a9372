// Estimates pi from random points in a square: the share of them that lies within the circle. Each
// partition has a seed of its own, so that the digits depend on TASKS alone, not on where or in
// which order the tasks run. pi [TASKS]
#include <cstdio>
#include <random>
#include <string_view>

#include "text.hpp"

namespace {

constexpr uint64_t kPointsPerTask = 500'000;

// From -1 up to 1. The standard's distributions differ between libraries; this does not.
double coordinate(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-52 - 1;
}

uint64_t points_within(uint64_t seed) {
  std::mt19937_64 random(seed);
  uint64_t within = 0;
  for (uint64_t i = 0; i < kPointsPerTask; ++i) {
    const double x = coordinate(random), y = coordinate(random);
    if (x * x + y * y <= 1) ++within;
  }
  return within;
}

int usage() {
  std::fputs("usage: pi [TASKS]\n", stderr);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  int32_t tasks = 8;
  if (argc > 2 || (argc == 2 && (!parse(argv[1], tasks) || tasks < 1))) return usage();

  tenon::Context ctx(argc, argv, {.app = "pi"});
  const uint64_t within = ctx.range<uint64_t>(0, static_cast<uint64_t>(tasks), 1, tasks)
                              .map(tenon::fn<points_within>)
                              .reduce(std::plus<>{});
  const double points = static_cast<double>(kPointsPerTask) * tasks;
  std::printf("Pi is roughly %.6f\n", 4 * static_cast<double>(within) / points);
  return printed();
}
