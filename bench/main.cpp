// tenon-bench: measures Tenon beside the best that we can write by hand; prints JSON lines.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "bench.hpp"
#include "tenon/error.hpp"

namespace {

using tenon_bench::Options;

constexpr const char* kUsage =
    "usage: tenon-bench noop|job-latency|shuffle-latency|startup [--master URL] [--tasks N] "
    "[--rounds N] [--vs-bare]\n"
    "       tenon-bench wordcount FILE [--master URL] [--rounds N] [--vs-bare]\n"
    "       tenon-bench reduce|join|sort|kmeans|pagerank [--size N] [--partitions N] [--master "
    "URL] "
    "[--rounds N]\n"
    "                   [--folder DIR]\n"
    "--size: pairs, rows of each side, records of 100 bytes, points, pages\n";

int usage() {
  std::fputs(kUsage, stderr);
  return 2;
}

bool number(const char* text, uint64_t& value) {
  char* end = nullptr;
  value = std::strtoull(text, &end, 10);
  return end != text && *end == '\0' && value > 0;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 2; i < argc; ++i) {
    const std::string arg = argv[i];
    uint64_t value = 0;
    if (arg == "--vs-bare") {
      options.vs_bare = true;
    } else if (arg == "--master" && i + 1 < argc) {
      options.master = argv[++i];
    } else if (arg == "--tasks" && i + 1 < argc && number(argv[i + 1], value) && value < 1u << 30) {
      options.tasks = value;
      ++i;
    } else if (arg == "--rounds" && i + 1 < argc && number(argv[i + 1], value) && value < 1000) {
      options.rounds = static_cast<int>(value);
      ++i;
    } else if (arg == "--size" && i + 1 < argc && number(argv[i + 1], value) && value < 1u << 30) {
      options.size = value;
      ++i;
    } else if (arg == "--partitions" && i + 1 < argc && number(argv[i + 1], value) &&
               value < 1u << 20) {
      options.partitions = static_cast<int32_t>(value);
      ++i;
    } else if (arg == "--folder" && i + 1 < argc) {
      options.folder = argv[++i];
    } else if (arg.starts_with("--")) {
      return false;
    } else {
      options.args.push_back(arg);
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  static const std::map<std::string, int (*)(const Options&)> kBenches = {
      {"noop", tenon_bench::noop},
      {"job-latency", tenon_bench::job_latency},
      {"shuffle-latency", tenon_bench::shuffle_latency},
      {"startup", tenon_bench::startup},
      {"startup-program", tenon_bench::startup_program},
      {"wordcount", tenon_bench::wordcount},
      {"reduce", tenon_bench::reduce},
      {"join", tenon_bench::join},
      {"sort", tenon_bench::sort},
      {"kmeans", tenon_bench::kmeans},
      {"pagerank", tenon_bench::pagerank},
  };
  Options options;
  options.program = argv[0];
  const auto bench = argc > 1 ? kBenches.find(argv[1]) : kBenches.end();
  if (bench == kBenches.end() || !parse(argc, argv, options)) return usage();
  return bench->second(options);
}
