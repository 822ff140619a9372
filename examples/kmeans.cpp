// k-means: moves each of K centres into the middle of the points that are nearer to it than to any
// other, ROUNDS times. A point is a line of numbers; the first K different ones are where the
// centres start. Prints for each centre how many points it had, and where it is. kmeans K ROUNDS
// PATH...
#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "text.hpp"

namespace {

constexpr int32_t kPartitions = 8;  // whatever the master, so that sums have the same last digit

using Point = std::vector<double>;
using Cluster = std::pair<Point, uint64_t>;  // the sum of its points, and their number

double squared_distance(const Point& a, const Point& b) {
  if (a.size() != b.size()) {
    throw tenon::FatalError("there are points of " + std::to_string(a.size()) + " and of " +
                            std::to_string(b.size()) + " numbers");
  }
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// The nearest centre, of equally near ones the first, with the point as a cluster.
std::pair<size_t, Cluster> assign(Point&& point, const std::vector<Point>& centres) {
  std::pair<double, size_t> nearest(std::numeric_limits<double>::infinity(), 0);
  for (size_t i = 0; i < centres.size(); ++i) {
    nearest = std::min(nearest, {squared_distance(point, centres[i]), i});
  }
  return {nearest.second, {std::move(point), 1}};
}

Cluster both(Cluster a, const Cluster& b) {
  for (size_t i = 0; i < a.first.size(); ++i) a.first[i] += b.first[i];
  return {std::move(a.first), a.second + b.second};
}

}  // namespace

int main(int argc, char** argv) {
  uint32_t k = 0, rounds = 0;
  if (argc < 4 || !parse(argv[1], k) || !parse(argv[2], rounds) || k == 0 || rounds == 0) {
    std::fputs("usage: kmeans K ROUNDS PATH...\n", stderr);
    return 1;
  }

  tenon::Context ctx(argc, argv, {.app = "kmeans"});
  const std::vector<std::string> paths(argv + 3, argv + argc);
  const auto points = ctx.text_file<std::string_view>(paths, kPartitions)
                          .map(tenon::fn<numbers>)
                          .filter([](const Point& point) { return !point.empty(); })
                          .cache();
  std::vector<Point> centres;
  for (const Point& point : points.to_local_iterator()) {
    if (std::ranges::find(centres, point) == centres.end()) centres.push_back(point);
    if (centres.size() == k) break;
  }
  std::vector<uint64_t> sizes;
  for (uint32_t round = 0; round < rounds; ++round) {
    sizes.assign(centres.size(), 0);
    const auto clusters = points.map(tenon::fn<assign>, centres).reduce_by_key(tenon::fn<both>);
    for (auto& [i, cluster] : clusters.collect()) {
      std::tie(centres[i], sizes[i]) = std::move(cluster);
      for (double& x : centres[i]) x /= static_cast<double>(sizes[i]);
    }
  }
  for (size_t i = 0; i < centres.size(); ++i) {
    std::printf("%ju", uintmax_t{sizes[i]});
    for (const double x : centres[i]) std::printf("\t%.6f", x);
    std::printf("\n");
  }
  return printed();
}
