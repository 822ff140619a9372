// What the benchmarks share: options, clocks, medians, JSON lines.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tenon_bench {

struct Options {
  std::string master = "local[2]";
  uint64_t tasks = 100'000;
  bool vs_bare = false;
  int rounds = 5;
  uint64_t size = 0;              // of the data; 0: the benchmark's own
  int32_t partitions = 0;         // 0: the context's choice
  std::string folder;             // for files; empty: the system's for temporary ones
  std::vector<std::string> args;  // what is no option
  std::string program;            // this one

  [[nodiscard]] uint64_t size_or(uint64_t own) const { return size == 0 ? own : size; }
};

double now_s();
double median(std::vector<double> values);

// One line: {"bench":"noop","master":"local[2]",...}, in the order of the calls, no blanks after
// colons.
class JsonLine {
 public:
  explicit JsonLine(const std::string& bench) { text("bench", bench); }
  JsonLine& text(const std::string& name, const std::string& value);
  JsonLine& number(const std::string& name, double value);
  JsonLine& whole(const std::string& name, uint64_t value);
  void print();

 private:
  void key(const std::string& name);
  std::string out_ = "{";
};

// Resident bytes now, and the most since reset_peak().
uint64_t resident_bytes();
uint64_t peak_bytes();
void reset_peak();

// Each runs one benchmark and prints its lines; returns the exit code.
int noop(const Options& options);
int job_latency(const Options& options);
int shuffle_latency(const Options& options);
int startup(const Options& options);
int startup_program(const Options& options);  // what startup() times
int wordcount(const Options& options);
// These always run the yardstick too, and compare the results.
int reduce(const Options& options);
int join(const Options& options);
int sort(const Options& options);
int kmeans(const Options& options);
int pagerank(const Options& options);

// The best hand-written C++ for the same work.
double bare_pool_tasks_per_s(uint64_t tasks);  // two threads, a completion queue, 64 in flight
double condvar_round_trip_s();                 // two threads, one condition variable
struct WordCount {
  uint64_t total = 0, distinct = 0;
};
WordCount bare_wordcount(const std::string& path);  // two threads, open-addressing tables

}  // namespace tenon_bench
