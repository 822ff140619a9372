// k-means: ten rounds over N points of eight coordinates that lie in memory, ten centres.
#include <array>

#include "compare.hpp"

namespace tenon_bench {
namespace {

constexpr size_t kDimensions = 8, kCentres = 10;
constexpr int kRounds = 10;

using Point = std::array<double, kDimensions>;
using Centres = std::array<Point, kCentres>;
struct Cluster {
  Point sum;
  double points;
};
using Clusters = std::array<Cluster, kCentres>;

Point point_at(uint64_t i) {
  Point point{};
  for (size_t d = 0; d < kDimensions; ++d) {
    point[d] = static_cast<double>(scrambled(i * kDimensions + d + 1) >> 11) * 0x1p-53;
  }
  return point;
}

// What is done for a point is the same in both.
void add(Clusters& clusters, const Point& point, const Centres& centres) {
  size_t nearest = 0;
  double least = 0;
  for (size_t c = 0; c < kCentres; ++c) {
    double distance = 0;
    for (size_t d = 0; d < kDimensions; ++d) {
      const double difference = point[d] - centres[c][d];
      distance += difference * difference;
    }
    if (c == 0 || distance < least) {
      least = distance;
      nearest = c;
    }
  }
  Cluster& cluster = clusters[nearest];
  for (size_t d = 0; d < kDimensions; ++d) cluster.sum[d] += point[d];
  ++cluster.points;
}

Clusters both(Clusters a, const Clusters& b) {
  for (size_t c = 0; c < kCentres; ++c) {
    for (size_t d = 0; d < kDimensions; ++d) a[c].sum[d] += b[c].sum[d];
    a[c].points += b[c].points;
  }
  return a;
}

// One record a partition.
std::array<Clusters, 1> clusters_of(tenon::Records<Point>& points, const Centres& centres) {
  Clusters clusters{};
  for (const Point& point : points) add(clusters, point, centres);
  return {clusters};
}

// clusters(centres) ten times over, from the first points on; a number that depends on where the
// centres end.
template <class F>
double rounds(const F& clusters) {
  Centres centres;
  for (size_t c = 0; c < kCentres; ++c) centres[c] = point_at(c);
  for (int round = 0; round < kRounds; ++round) {
    const Clusters now = clusters(centres);
    for (size_t c = 0; c < kCentres; ++c) {
      for (size_t d = 0; d < kDimensions; ++d) centres[c][d] = now[c].sum[d] / now[c].points;
    }
  }
  double sum = 0;
  for (size_t c = 0; c < kCentres; ++c) {
    for (const double x : centres[c]) sum = 1.5 * sum + x;
  }
  return sum;
}

Clusters clusters_by_hand(const std::vector<Point>& points, const Centres& centres) {
  std::array<Clusters, kThreads> parts;
  in_parallel([&](size_t t) {
    Clusters clusters{};
    for (uint64_t i = part_begin(points.size(), t); i < part_begin(points.size(), t + 1); ++i) {
      add(clusters, points[i], centres);
    }
    parts[t] = clusters;
  });
  return both(parts[0], parts[1]);
}

}  // namespace

int kmeans(const Options& options) {
  const uint64_t n = options.size_or(5'000'000);
  tenon::Context ctx(conf_for(options), {.app = "bench-kmeans"});
  const auto cached =
      ctx.range<uint64_t>(0, n, 1, options.partitions).map(tenon::fn<point_at>).cache();
  if (cached.count() != n) return 1;
  std::vector<Point> points(n);
  in_parallel([&](size_t t) {
    for (uint64_t i = part_begin(n, t); i < part_begin(n, t + 1); ++i) points[i] = point_at(i);
  });
  JsonLine line("kmeans");
  line.text("master", options.master).whole("points", n);
  line.whole("dimensions", kDimensions).whole("centres", kCentres).whole("rounds", kRounds);
  return compare(
      std::move(line), options,
      [&] {
        return timed([&] {
          return rounds([&](const Centres& centres) {
            return cached.map_partitions(tenon::fn<clusters_of>, centres).reduce(tenon::fn<both>);
          });
        });
      },
      [&] {
        return timed([&] {
          return rounds([&](const Centres& centres) { return clusters_by_hand(points, centres); });
        });
      });
}

}  // namespace tenon_bench
