// What people of each country do on a web server: joins its logs with a table of users and looks
// paths up in a small table of sections, which every executor gets once. Prints country, section,
// requests, errors and bytes, then the number of malformed lines. log_mining SECTIONS USERS LOG...
//   SECTIONS  lines "/path/prefix NAME"; the longest prefix wins
//   USERS     lines "USER COUNTRY"; of several for a user the first by name counts
//   LOG       1.2.3.4 - USER [01/Jan/2026:10:00:00 +0000] "GET /path HTTP/1.1" 200 512
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "text.hpp"

namespace {

using Row = std::pair<std::string, std::string>;
using Sections = tenon::HashMap<std::string, std::string>;
using Totals = std::array<uint64_t, 3>;          // requests, errors, bytes
using Request = std::pair<std::string, Totals>;  // path, and what it adds to the totals
using Seen = std::pair<std::optional<std::string>, Request>;  // the user's country, if known

std::vector<Row> row(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() != 2) return {};
  return {{words[0], words[1]}};
}

// The user and the request; nothing for a malformed line.
std::vector<std::pair<std::string, Request>> request(std::string_view line) {
  const auto words = words_of(line);
  uint64_t status = 0, bytes = 0;
  if (words.size() != 10 || !parse(words[8], status)) return {};
  if (words[9] != "-" && !parse(words[9], bytes)) return {};
  return {{words[2], {words[6], {1, status >= 400 ? 1U : 0U, bytes}}}};
}

std::pair<Row, Totals> place(const std::pair<std::string, Seen>& seen,
                             const tenon::Broadcast<Sections>& sections) {
  const auto& [country, request] = seen.second;
  Row best("", "other");
  for (const auto& section : *sections) {
    const std::string& prefix = section.first;
    if (request.first.starts_with(prefix) && prefix.size() > best.first.size()) best = section;
  }
  return {{country.value_or("unknown"), best.second}, request.second};
}

Totals both(const Totals& a, const Totals& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: log_mining SECTIONS USERS LOG...\n", stderr);
    return 1;
  }

  tenon::Context ctx(argc, argv, {.app = "log_mining"});
  const auto rows = [&](const char* path) {
    return ctx.text_file<std::string_view>(path).flat_map(tenon::fn<row>);
  };
  const auto sections = ctx.broadcast(rows(argv[1]).collect_as_map());
  const auto users = rows(argv[2]).reduce_by_key(
      [](const std::string& a, const std::string& b) { return std::min(a, b); });
  const auto log = ctx.text_file<std::string_view>(std::vector<std::string>(argv + 3, argv + argc));
  const auto requests = log.flat_map(tenon::fn<request>).cache();

  const auto totals = users.right_outer_join(requests)
                          .map(tenon::fn<place>, sections)
                          .reduce_by_key(tenon::fn<both>);
  for (const auto& [where, sums] : totals.sort_by_key().collect()) {
    std::printf("%s\t%s", where.first.c_str(), where.second.c_str());
    for (const uint64_t sum : sums) std::printf("\t%ju", uintmax_t{sum});
    std::printf("\n");
  }
  std::printf("malformed\t%ju\n", uintmax_t{log.count() - requests.count()});
  return printed();
}
