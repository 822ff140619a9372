// An index of files: for each word the files that have it, and how often. Words are runs of ASCII
// letters and digits; capitals count as small. inverted_index PATHS: a file, a folder, a glob, or
// several with commas between
#include <algorithm>
#include <map>
#include <utility>

#include "text.hpp"

namespace {

using File = std::pair<std::string, std::string>;                        // path and text
using Entry = std::pair<std::string, std::pair<std::string, uint64_t>>;  // word, path and count

// The character as it stands in the index; a blank for what belongs to no word.
char indexed(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ? c : ' ';
}

std::vector<Entry> entries_of(File&& file) {
  auto& [path, text] = file;
  std::ranges::transform(text, text.begin(), indexed);
  std::map<std::string_view, uint64_t> counts;
  for (const std::string_view word : tenon::words(text)) ++counts[word];
  std::vector<Entry> entries;
  for (const auto& [word, count] : counts) entries.emplace_back(word, std::pair(path, count));
  return entries;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: inverted_index PATHS\n", stderr);
    return 1;
  }

  tenon::Context ctx(argc, argv, {.app = "inverted_index"});
  const auto index =
      ctx.whole_text_files(argv[1]).flat_map(tenon::fn<entries_of>).group_by_key().sort_by_key();
  for (auto& [word, files] : index.to_local_iterator()) {
    std::ranges::sort(files);
    std::printf("%s", word.c_str());
    for (const auto& [path, count] : files) {
      std::printf("\t%s:%ju", path.c_str(), uintmax_t{count});
    }
    std::printf("\n");
  }
  return printed();
}
