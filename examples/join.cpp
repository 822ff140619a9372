// Joins two data sets of lines "key<TAB>value": for each key that both have, each left value with
// each right one. Without files: N orders and the customers that placed them. join [--rows N]
// [--output DIR] [LEFT RIGHT]
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text.hpp"

namespace {

using Pair = std::pair<std::string_view, std::string_view>;
using Joined = std::pair<std::string, std::pair<std::string, std::string>>;

Pair cut(std::string_view line) {
  const size_t tab = std::min(line.find('\t'), line.size());
  return {line.substr(0, tab), line.substr(std::min(tab + 1, line.size()))};
}

std::pair<std::string, std::string> customer(uint64_t i) {
  return {"customer-" + std::to_string(i), "country-" + std::to_string(i % 7)};
}
// Every second order is of a customer that nobody knows.
std::pair<std::string, std::string> order(uint64_t i, uint64_t customers) {
  return {"customer-" + std::to_string(i * 31 % (2 * customers)), "order-" + std::to_string(i)};
}

std::string as_line(const Joined& row) {
  return row.first + "\t" + row.second.first + "\t" + row.second.second;
}

int usage() {
  std::fputs("usage: join [--rows N] [--output DIR] [LEFT RIGHT]\n", stderr);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t n = 100'000;
  std::string output;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if ((arg == "--rows" || arg == "--output") && i + 1 == argc) return usage();
    if (arg == "--rows") {
      if (!parse(argv[++i], n)) return usage();
    } else if (arg == "--output") {
      output = argv[++i];
    } else if (arg.starts_with("--")) {
      return usage();
    } else {
      paths.emplace_back(arg);
    }
  }
  if (!paths.empty() && paths.size() != 2) return usage();

  tenon::Context ctx(argc, argv, {.app = "join"});
  // partition_by makes std::string of the views, so that files and generated rows are of one type.
  const uint64_t customers = n / 10 + 1;
  const int32_t partitions = ctx.default_parallelism();
  const auto read = [&](const std::string& path) {
    return ctx.text_file<std::string_view>(std::vector{path})
        .map(tenon::fn<cut>)
        .partition_by(partitions);
  };
  auto left =
      paths.empty()
          ? ctx.range<uint64_t>(0, customers).map(tenon::fn<customer>).partition_by(partitions)
          : read(paths[0]);
  auto right =
      paths.empty()
          ? ctx.range<uint64_t>(0, n).map(tenon::fn<order>, customers).partition_by(partitions)
          : read(paths[1]);

  auto joined = left.join(right);  // no further shuffle: both are partitioned alike
  if (!output.empty()) joined.cache().map(tenon::fn<as_line>).save_as_text_file(output);
  auto rows_by_key =
      joined.map_values([](const auto&) { return uint64_t{1}; }).reduce_by_key(std::plus<>{});
  uint64_t rows = 0, most = 0, keys = 0;
  for (const auto& [key, count] : rows_by_key.collect()) {
    rows += count;
    most = std::max(most, count);
    ++keys;
  }
  std::printf("rows\t%llu\nkeys\t%llu\nmost\t%llu\n", static_cast<unsigned long long>(rows),
              static_cast<unsigned long long>(keys), static_cast<unsigned long long>(most));
  return printed();
}
