#include <cstdio>
#include <tenon/tenon.hpp>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("Usage: readme_wordcount <file>\n", stderr);
    return 1;
  }
  tenon::Context ctx(argc, argv, {.app = "readme_wordcount"});
  auto counts = ctx.text_file<std::string_view>(argv[1])
                    .flat_map(tenon::fn<tenon::words>)
                    .map([](std::string_view word) { return std::pair(word, 1); })
                    .reduce_by_key(std::plus<>{});
  for (auto& [word, n] : counts.sort_by_key().collect()) std::printf("%s: %d\n", word.c_str(), n);
}
