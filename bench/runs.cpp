// The benchmarks: each a job of Tenon's, and with --vs-bare the yardstick measured in turn with it.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "compare.hpp"

namespace tenon_bench {

tenon::Conf conf_for(const Options& options) {
  tenon::Conf conf;
  conf.set("tenon.master", options.master);
  return conf;
}

namespace {

struct Nothing {
  void operator()(tenon::Records<int64_t>& records) const { static_cast<void>(records); }
};

// One partition is one task, with its own id, payload, events and status.
double run_noop(tenon::Context& ctx, uint64_t tasks) {
  const auto count = static_cast<int32_t>(tasks);
  const auto rdd = ctx.range<int64_t>(0, count, 1, count);
  std::vector<int32_t> partitions(tasks);
  for (size_t i = 0; i < partitions.size(); ++i) partitions[i] = static_cast<int32_t>(i);
  uint64_t handled = 0;
  const double begin = now_s();
  ctx.run_job(rdd, Nothing{}, std::move(partitions), [&](int32_t, std::monostate) { ++handled; });
  const double seconds = now_s() - begin;
  if (handled != tasks) std::abort();
  return seconds;
}

}  // namespace

int noop(const Options& options) {
  tenon::Context ctx(conf_for(options), {.app = "bench-noop"});
  run_noop(ctx, std::min<uint64_t>(options.tasks, 10'000));
  const uint64_t before = resident_bytes();
  reset_peak();
  std::vector<double> ours, bare;
  uint64_t peak = 0;
  for (int round = 0; round < options.rounds; ++round) {
    ours.push_back(static_cast<double>(options.tasks) / run_noop(ctx, options.tasks));
    if (round == 0) peak = peak_bytes();
    if (options.vs_bare) bare.push_back(bare_pool_tasks_per_s(options.tasks));
  }
  JsonLine line("noop");
  line.text("master", options.master)
      .whole("tasks", options.tasks)
      .number("tasks_per_s", median(ours));
  line.number("rss_bytes_per_task", static_cast<double>(peak > before ? peak - before : 0) /
                                        static_cast<double>(options.tasks));
  if (options.vs_bare) {
    line.number("bare_tasks_per_s", median(bare))
        .number("ratio_to_bare", median(ours) / median(bare));
  }
  line.print();
  return 0;
}

int job_latency(const Options& options) {
  tenon::Context ctx(conf_for(options), {.app = "bench-job-latency"});
  constexpr int kJobs = 500;
  const auto one = ctx.range<int64_t>(0, 1, 1, 1);
  for (int i = 0; i < 100; ++i) static_cast<void>(one.count());
  std::vector<double> ours, trips;
  for (int round = 0; round < options.rounds; ++round) {
    trips.push_back(condvar_round_trip_s());
    std::vector<double> jobs;
    for (int i = 0; i < kJobs; ++i) {
      const double begin = now_s();
      static_cast<void>(one.count());
      jobs.push_back(now_s() - begin);
    }
    ours.push_back(median(std::move(jobs)));
  }
  JsonLine line("job-latency");
  line.text("master", options.master).number("job_us", median(ours) * 1e6);
  line.number("condvar_round_trip_us", median(trips) * 1e6);
  line.number("round_trips", median(ours) / median(trips)).print();
  return 0;
}

int shuffle_latency(const Options& options) {
  tenon::Context ctx(conf_for(options), {.app = "bench-shuffle-latency"});
  std::vector<double> seconds;
  for (int i = 0; i < 20 * options.rounds; ++i) {
    const auto sums = ctx.range<int64_t>(0, 64, 1, 8)
                          .map([](int64_t x) { return std::pair(x % 16, x); })
                          .reduce_by_key(std::plus<>{}, 8);
    const double begin = now_s();
    if (sums.count() != 16) std::abort();
    seconds.push_back(now_s() - begin);
  }
  JsonLine("shuffle-latency")
      .text("master", options.master)
      .whole("maps", 8)
      .whole("reduces", 8)
      .number("job_ms", median(std::move(seconds)) * 1e3)
      .print();
  return 0;
}

int startup_program(const Options& options) {
  tenon::Context ctx({}, {.app = "bench-startup", .master = options.master});
  return ctx.range<int64_t>(0, 8, 1, 2).count() == 8 ? 0 : 1;
}

namespace {

double time_process(const std::vector<std::string>& argv) {
  std::vector<char*> raw;
  raw.reserve(argv.size() + 1);
  for (const std::string& arg : argv) raw.push_back(const_cast<char*>(arg.c_str()));
  raw.push_back(nullptr);
  const double begin = now_s();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execv(raw[0], raw.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "startup: %s failed\n", argv[0].c_str());
    std::exit(1);
  }
  return now_s() - begin;
}

}  // namespace

int startup(const Options& options) {
  const std::string tool = options.program.substr(0, options.program.rfind('/')) + "/tenon";
  const std::vector<std::string> direct = {options.program, "startup-program", "--master",
                                           options.master};
  std::vector<std::string> submitted = {tool, "submit", "--master", options.master};
  submitted.insert(submitted.end(), direct.begin(), direct.begin() + 2);
  std::vector<double> direct_s, submitted_s;
  for (int round = 0; round < 2 * options.rounds + 1; ++round) {
    direct_s.push_back(time_process(direct));
    submitted_s.push_back(time_process(submitted));
  }
  JsonLine("startup")
      .text("master", options.master)
      .number("direct_ms", median(direct_s) * 1e3)
      .number("submit_ms", median(submitted_s) * 1e3)
      .print();
  return 0;
}

int wordcount(const Options& options) {
  if (options.args.size() != 1) {
    std::fputs("usage: tenon-bench wordcount FILE [--master URL] [--vs-bare]\n", stderr);
    return 2;
  }
  const std::string& path = options.args[0];
  tenon::Context ctx(conf_for(options), {.app = "bench-wordcount"});
  std::vector<double> ours, bare;
  WordCount count;
  for (int round = 0; round < options.rounds; ++round) {
    const double begin = now_s();
    const auto parts = ctx.text_file<std::string_view>(path)
                           .flat_map(tenon::fn<tenon::words>)
                           .map([](std::string_view word) { return std::pair(word, uint64_t{1}); })
                           .reduce_by_key(std::plus<>{})
                           .aggregate(
                               std::pair<uint64_t, uint64_t>(),
                               [](std::pair<uint64_t, uint64_t> sum,
                                  const std::pair<std::string, uint64_t>& word) {
                                 return std::pair(sum.first + word.second, sum.second + 1);
                               },
                               [](const auto& a, const auto& b) {
                                 return std::pair(a.first + b.first, a.second + b.second);
                               });
    ours.push_back(now_s() - begin);
    count = {parts.first, parts.second};
    if (!options.vs_bare) continue;
    const double bare_begin = now_s();
    const WordCount same = bare_wordcount(path);
    bare.push_back(now_s() - bare_begin);
    if (same.total != count.total || same.distinct != count.distinct) {
      std::fprintf(stderr, "wordcount: results differ\n");
      return 1;
    }
  }
  JsonLine line("wordcount");
  line.text("master", options.master).whole("total", count.total).whole("distinct", count.distinct);
  line.number("seconds", median(ours)).whole("peak_rss_bytes", peak_bytes());
  if (options.vs_bare) {
    line.number("bare_seconds", median(bare)).number("ratio_to_bare", median(ours) / median(bare));
  }
  line.print();
  return 0;
}

}  // namespace tenon_bench
