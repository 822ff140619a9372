// PageRank: in each round a page hands its rank on in equal shares to the pages that it links to.
// Lines are "PAGE TARGET...", a page and what it links to; those that begin with # are comments.
// Prints all pages, the best first; their ranks are 1 on average. pagerank ROUNDS PATH...
#include <cmath>
#include <set>
#include <utility>

#include "text.hpp"

namespace {

constexpr int32_t kPartitions = 8;  // whatever the master, so that sums have the same last digit

using Targets = std::set<std::string>;
using Rank = std::pair<std::string, double>;

// The page and its links; and each target, which is a page even without a line of its own.
std::vector<std::pair<std::string, Targets>> pages_of(std::string_view line) {
  std::vector<std::pair<std::string, Targets>> pages;
  if (line.starts_with('#')) return pages;
  for (const std::string_view word : tenon::words(line)) pages.emplace_back(word, Targets());
  for (size_t i = 1; i < pages.size(); ++i) pages[0].second.insert(pages[i].first);
  return pages;
}

Targets both(Targets a, Targets b) {
  a.merge(b);
  return a;
}

// A page's shares for others, and nothing for itself: a page that nobody links to stays.
std::vector<Rank> shares(const std::pair<std::string, std::pair<Targets, double>>& page) {
  const auto& [targets, rank] = page.second;
  std::vector<Rank> shares = {{page.first, 0.0}};
  for (const auto& target : targets) {
    shares.emplace_back(target, rank / static_cast<double>(targets.size()));
  }
  return shares;
}

// By what is printed of the rank, then by name.
std::pair<int64_t, std::string> place(const Rank& rank) {
  return {-std::llround(rank.second * 1e6), rank.first};
}

}  // namespace

int main(int argc, char** argv) {
  uint32_t rounds = 0;
  if (argc < 3 || !parse(argv[1], rounds)) {
    std::fputs("usage: pagerank ROUNDS PATH...\n", stderr);
    return 1;
  }

  tenon::Context ctx(argc, argv, {.app = "pagerank"});
  const std::vector<std::string> paths(argv + 2, argv + argc);
  const auto links = ctx.text_file<std::string_view>(paths, kPartitions)
                         .flat_map(tenon::fn<pages_of>)
                         .reduce_by_key(tenon::fn<both>, kPartitions)
                         .cache();
  const auto pages = static_cast<double>(links.count());
  auto ranks = links.map_values([](const Targets&) { return 1.0; });
  for (uint32_t round = 0; round < rounds; ++round) {
    // The join needs no shuffle: both sides are partitioned alike.
    const auto sums =
        links.join(ranks).flat_map(tenon::fn<shares>).reduce_by_key(std::plus<>{}, kPartitions);
    const double rest = (pages - sums.values().sum()) / pages;  // of pages without links: for all
    ranks = sums.map_values([](double sum, double r) { return 0.15 + 0.85 * (sum + r); }, rest);
  }
  for (const auto& [page, rank] : ranks.sort_by(tenon::fn<place>).to_local_iterator()) {
    std::printf("%.6f\t%s\n", rank, page.c_str());
  }
  return printed();
}
