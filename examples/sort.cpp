// Sorts lines by their bytes: those of the files, or N generated ones of ten digits.
// sort [--rows N] [--output DIR] [PATH...]
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text.hpp"

namespace {

using Row =
    std::pair<std::string, std::monostate>;  // sort_by_key needs pairs: a key without a value

// What one partition of the result looks like, or several neighbouring ones together.
struct Stretch {
  uint64_t rows = 0;
  bool sorted = true;
  std::string first, last;
  TENON_FIELDS(rows, sorted, first, last)

  void append(const Stretch& next) {
    if (next.rows == 0) return;
    sorted = sorted && next.sorted && (rows == 0 || last <= next.first);
    if (rows == 0) first = next.first;
    last = next.last;
    rows += next.rows;
  }
};

std::vector<Stretch> look_at(tenon::Records<std::string>& lines) {
  Stretch all;
  for (const std::string& line : lines) all.append({1, true, line, line});
  return {all};
}

// Multiples of an odd number, modulo 2^32: each value once, in no order.
std::string generate(uint64_t i) {
  const std::string digits = std::to_string(static_cast<uint32_t>(i * 2654435761U));
  return std::string(10 - digits.size(), '0') + digits;
}

Row as_row(std::string_view line) { return {std::string(line), {}}; }
std::string as_line(Row&& row) { return std::move(row.first); }

void print(const char* name, std::string_view text) {
  std::printf("%s\t%.*s\n", name, static_cast<int>(text.size()), text.data());
}

int usage() {
  std::fputs("usage: sort [--rows N] [--output DIR] [PATH...]\n", stderr);
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

  tenon::Context ctx(argc, argv, {.app = "sort"});
  auto rows = paths.empty()
                  ? ctx.range<uint64_t>(0, n).map(tenon::fn<generate>).map(tenon::fn<as_row>)
                  : ctx.text_file<std::string_view>(paths).map(tenon::fn<as_row>);
  auto sorted = rows.sort_by_key().map(tenon::fn<as_line>);
  if (!output.empty()) sorted.cache().save_as_text_file(output);

  Stretch all;
  for (const Stretch& part : sorted.map_partitions(tenon::fn<look_at>).collect()) all.append(part);
  print("rows", std::to_string(all.rows));
  print("first", all.first);
  print("last", all.last);
  print("sorted", all.sorted ? "true" : "false");
  return printed();
}
