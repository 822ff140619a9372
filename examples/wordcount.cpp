// Counts words: runs of bytes other than space, \t, \n, \v, \f, \r.
// wordcount [--top N] [--output DIR] PATH...
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text.hpp"

namespace {

using Count = std::pair<std::string, uint64_t>;

// What the summary needs of all counts: the sums and the most frequent words so far.
struct Summary {
  uint64_t total = 0, distinct = 0;
  std::vector<Count> top;
  TENON_FIELDS(total, distinct, top)

  static bool before(const Count& a, const Count& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  }
  void add(const Count& count, uint64_t n) {
    total += count.second;
    ++distinct;
    keep(count, n);
  }
  // Holds some more than n, so that a candidate costs little however large n is.
  void keep(const Count& count, uint64_t n) {
    top.push_back(count);
    if (top.size() >= 2 * n + 1024) cut(n);
  }
  void cut(uint64_t n) {
    if (top.size() <= n) return;
    const auto end = top.begin() + static_cast<std::ptrdiff_t>(n);
    std::nth_element(top.begin(), end, top.end(), before);
    top.erase(end, top.end());
  }
};

std::vector<Summary> summarise(tenon::Records<Count>& counts, uint64_t n) {
  Summary summary;
  for (const Count& count : counts) summary.add(count, n);
  summary.cut(n);
  return {summary};
}

int usage() {
  std::fputs("usage: wordcount [--top N] [--output DIR] PATH...\n", stderr);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t n = 10;
  std::string output;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if ((arg == "--top" || arg == "--output") && i + 1 == argc) return usage();
    if (arg == "--top") {
      if (!parse(argv[++i], n)) return usage();
    } else if (arg == "--output") {
      output = argv[++i];
    } else if (arg.starts_with("--")) {
      return usage();
    } else {
      paths.emplace_back(arg);
    }
  }
  if (paths.empty()) return usage();

  tenon::Context ctx(argc, argv, {.app = "wordcount"});
  auto counts = ctx.text_file<std::string_view>(paths)
                    .flat_map(tenon::fn<tenon::words>)
                    .map([](std::string_view word) { return std::pair(word, uint64_t{1}); })
                    .reduce_by_key(std::plus<>{});
  if (!output.empty()) counts.cache().save_as_text_file(output);

  Summary all;
  for (const Summary& part : counts.map_partitions(summarise, n).collect()) {
    all.total += part.total;
    all.distinct += part.distinct;
    for (const Count& count : part.top) all.keep(count, n);
  }
  all.cut(n);
  std::sort(all.top.begin(), all.top.end(), Summary::before);
  std::printf("total\t%llu\ndistinct\t%llu\n", static_cast<unsigned long long>(all.total),
              static_cast<unsigned long long>(all.distinct));
  for (const auto& [word, count] : all.top) {
    std::printf("%llu\t", static_cast<unsigned long long>(count));
    std::fwrite(word.data(), 1, word.size(), stdout);
    std::putchar('\n');
  }
  return printed();
}
