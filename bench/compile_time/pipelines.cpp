// A program with ten pipelines of the usual operations: what compile_time.sh compiles. It runs,
// too.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/tenon.hpp"

namespace {

struct Order {
  std::string customer;
  uint64_t item = 0;
  double price = 0;
  TENON_FIELDS(customer, item, price)
};

Order order_at(uint64_t i) {
  return {"customer-" + std::to_string(i % 100), i % 17, static_cast<double>(i % 1000) / 10};
}
std::pair<std::string, Order> by_customer(Order&& order) {
  std::string customer = order.customer;
  return {std::move(customer), std::move(order)};
}

// 1: word count
uint64_t words(tenon::Context& ctx, const std::string& path) {
  return ctx.text_file<std::string_view>(path)
      .flat_map(tenon::fn<tenon::words>)
      .map([](std::string_view word) { return std::pair(word, uint64_t{1}); })
      .reduce_by_key(std::plus<>{})
      .count();
}

// 2: filter and count
uint64_t long_lines(tenon::Context& ctx, const std::string& path) {
  return ctx.text_file<std::string_view>(path)
      .filter([](std::string_view line, uint64_t least) { return line.size() >= least; },
              uint64_t{20})
      .count();
}

// 3: join
uint64_t joined(tenon::Context& ctx) {
  const auto orders =
      ctx.range<uint64_t>(0, 1000).map(tenon::fn<order_at>).map(tenon::fn<by_customer>);
  const auto countries = ctx.range<uint64_t>(0, 80).map([](uint64_t i) {
    return std::pair("customer-" + std::to_string(i), static_cast<int>(i % 7));
  });
  return orders.join(countries)
      .map([](auto&& row) { return std::pair(row.second.second, row.second.first.price); })
      .reduce_by_key(std::plus<>{})
      .count();
}

// 4: groups
uint64_t baskets(tenon::Context& ctx) {
  return ctx.range<uint64_t>(0, 1000)
      .map(tenon::fn<order_at>)
      .map(tenon::fn<by_customer>)
      .group_by_key()
      .map_values([](const std::vector<Order>& orders) { return orders.size(); })
      .values()
      .reduce(std::plus<>{});
}

// 5: sort
std::vector<std::pair<double, Order>> dearest(tenon::Context& ctx) {
  return ctx.range<uint64_t>(0, 1000)
      .map(tenon::fn<order_at>)
      .key_by([](const Order& order) { return order.price; })
      .sort_by_key(false)
      .take(3);
}

// 6: rounds
double ranks(tenon::Context& ctx) {
  const auto links = ctx.range<uint64_t>(0, 500)
                         .map([](uint64_t i) { return std::pair(i % 50, i * 7 % 50); })
                         .group_by_key()
                         .cache();
  auto ranks = links.map_values([](const auto&) { return 1.0; });
  for (int round = 0; round < 3; ++round) {
    ranks = links.join(ranks)
                .flat_map([](const auto& page) {
                  std::vector<std::pair<uint64_t, double>> shares;
                  const auto& [targets, rank] = page.second;
                  for (const uint64_t target : targets) {
                    shares.emplace_back(target, rank / static_cast<double>(targets.size()));
                  }
                  return shares;
                })
                .reduce_by_key(std::plus<>{})
                .map_values([](double sum) { return 0.15 + 0.85 * sum; });
  }
  return ranks.values().sum();
}

// 7: aggregates by key
uint64_t means(tenon::Context& ctx) {
  return ctx.range<uint64_t>(0, 1000)
      .map([](uint64_t i) { return std::pair(i % 10, static_cast<double>(i)); })
      .aggregate_by_key(
          std::pair(0.0, 0),
          [](auto sum, double x) { return std::pair(sum.first + x, sum.second + 1); },
          [](const auto& a, const auto& b) {
            return std::pair(a.first + b.first, a.second + b.second);
          })
      .map_values([](const auto& sum) { return sum.first / sum.second; })
      .collect()
      .size();
}

// 8: distinct, with a broadcast
uint64_t known(tenon::Context& ctx) {
  const auto names = ctx.broadcast(std::vector<std::string>{"customer-1", "customer-2", "nobody"});
  return ctx.range<uint64_t>(0, 1000)
      .map(tenon::fn<order_at>)
      .map([](const Order& order) { return order.customer; })
      .distinct()
      .filter(
          [](const std::string& name, const tenon::Broadcast<std::vector<std::string>>& list) {
            return std::ranges::find(*list, name) != list->end();
          },
          names)
      .count();
}

// 9: partitions, an outer join
uint64_t missing(tenon::Context& ctx) {
  const auto left = ctx.range<int>(0, 100).map([](int i) { return std::pair(i, i * i); });
  const auto right =
      ctx.range<int>(50, 150).map([](int i) { return std::pair(i, std::to_string(i)); });
  return left.left_outer_join(right)
      .filter([](const auto& row) { return !row.second.second.has_value(); })
      .map_partitions(
          [](tenon::Records<std::pair<int, std::pair<int, std::optional<std::string>>>>& rows) {
            uint64_t n = 0;
            for ([[maybe_unused]] const auto& row : rows) ++n;
            return std::vector{n};
          })
      .reduce(std::plus<>{});
}

// 10: numbers
double spread(tenon::Context& ctx) {
  const auto sampled = ctx.range<int64_t>(0, 10'000).sample(false, 0.1, 42).map([](int64_t i) {
    return static_cast<double>(i);
  });
  return sampled.stats().variance() + sampled.max() - sampled.min();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: pipelines PATH\n", stderr);
    return 1;
  }
  tenon::Context ctx(argc, argv, {.app = "pipelines"});
  const std::string path = argv[1];
  std::printf("%ju %ju\n", uintmax_t{words(ctx, path)}, uintmax_t{long_lines(ctx, path)});
  std::printf("%ju %ju\n", uintmax_t{joined(ctx)}, uintmax_t{baskets(ctx)});
  for (const auto& [price, order] : dearest(ctx))
    std::printf("%.1f %s\n", price, order.customer.c_str());
  std::printf("%.3f %ju %ju\n", ranks(ctx), uintmax_t{means(ctx)}, uintmax_t{known(ctx)});
  std::printf("%ju %.3f\n", uintmax_t{missing(ctx)}, spread(ctx));
}
