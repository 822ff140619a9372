// PageRank: twenty rounds over N pages of ten links each, from the list of links on.
#include <array>
#include <functional>

#include "compare.hpp"

namespace tenon_bench {
namespace {

constexpr uint64_t kLinks = 10;
constexpr int kRounds = 20;

using Page = uint32_t;
using Link = std::pair<Page, Page>;
using Rank = std::pair<Page, double>;
using Ranked = std::pair<Page, std::pair<std::vector<Page>, double>>;

// The first link of a page goes to the next one, so that each page has one that leads to it.
constexpr Link link_at(uint64_t i, uint64_t pages) {
  const uint64_t from = i / kLinks;
  const uint64_t to = i % kLinks == 0 ? (from + 1) % pages : random_below(pages, i);
  return {static_cast<Page>(from), static_cast<Page>(to)};
}

std::vector<Rank> shares(const Ranked& page) {
  const auto& [targets, rank] = page.second;
  std::vector<Rank> shares;
  shares.reserve(targets.size());
  for (const Page target : targets)
    shares.emplace_back(target, rank / static_cast<double>(targets.size()));
  return shares;
}

double new_rank(double sum) { return 0.15 + 0.85 * sum; }

double weighed(double sum, const Rank& rank) {
  return sum + rank.second * static_cast<double>(rank.first % 1000);
}

double pagerank_of(tenon::Context& ctx, uint64_t pages, int32_t partitions) {
  const auto links = ctx.range<uint64_t>(0, pages * kLinks, 1, partitions)
                         .map(tenon::fn<link_at>, pages)
                         .group_by_key()
                         .cache();
  auto ranks = links.map_values([](const std::vector<Page>&) { return 1.0; });
  for (int round = 0; round < kRounds; ++round) {
    ranks = links.join(ranks)
                .flat_map(tenon::fn<shares>)
                .reduce_by_key(std::plus<>{}, links.partition_count())
                .map_values(tenon::fn<new_rank>);
  }
  return ranks.aggregate(0.0, tenon::fn<weighed>, std::plus<>{});
}

// The links by the page that they lead to, as sources_[begin_[page]] to sources_[begin_[page + 1]]:
// in a round each thread writes the ranks of its own pages only.
class Graph {
 public:
  explicit Graph(uint64_t pages) : pages_(pages), begin_(pages + 1), sources_(pages * kLinks) {
    std::vector<Link> links(pages * kLinks);
    in_parallel([&](size_t t) {
      for (uint64_t i = part_begin(links.size(), t); i < part_begin(links.size(), t + 1); ++i) {
        links[i] = link_at(i, pages);
      }
    });
    in_parallel([&](size_t t) {
      for (const auto& [from, to] : links) {
        if (is_mine(to, t)) ++begin_[to + 1];
      }
    });
    for (uint64_t page = 0; page < pages; ++page) begin_[page + 1] += begin_[page];
    std::vector<uint32_t> at(begin_.begin(), begin_.end() - 1);
    in_parallel([&](size_t t) {
      for (const auto& [from, to] : links) {
        if (is_mine(to, t)) sources_[at[to]++] = from;
      }
    });
  }

  [[nodiscard]] std::vector<double> ranks() const {
    std::vector<double> rank(pages_, 1.0), share(pages_);
    for (int round = 0; round < kRounds; ++round) {
      in_parallel([&](size_t t) {
        for (uint64_t page = part_begin(pages_, t); page < part_begin(pages_, t + 1); ++page) {
          share[page] = rank[page] / static_cast<double>(kLinks);
        }
      });
      in_parallel([&](size_t t) {
        for (uint64_t page = part_begin(pages_, t); page < part_begin(pages_, t + 1); ++page) {
          double sum = 0;
          for (uint32_t i = begin_[page]; i < begin_[page + 1]; ++i) sum += share[sources_[i]];
          rank[page] = new_rank(sum);
        }
      });
    }
    return rank;
  }

 private:
  [[nodiscard]] bool is_mine(Page page, size_t t) const {
    return page >= part_begin(pages_, t) && page < part_begin(pages_, t + 1);
  }
  uint64_t pages_;
  std::vector<uint32_t> begin_;
  std::vector<Page> sources_;
};

double pagerank_by_hand(uint64_t pages) {
  const std::vector<double> ranks = Graph(pages).ranks();
  double sum = 0;
  for (uint64_t page = 0; page < pages; ++page)
    sum = weighed(sum, {static_cast<Page>(page), ranks[page]});
  return sum;
}

}  // namespace

int pagerank(const Options& options) {
  const uint64_t pages = options.size_or(1'000'000);
  tenon::Context ctx(conf_for(options), {.app = "bench-pagerank"});
  JsonLine line("pagerank");
  line.text("master", options.master).whole("pages", pages).whole("links", pages * kLinks);
  line.whole("rounds", kRounds);
  return compare(
      std::move(line), options,
      [&] { return timed([&] { return pagerank_of(ctx, pages, options.partitions); }); },
      [&] { return timed([&] { return pagerank_by_hand(pages); }); });
}

}  // namespace tenon_bench
