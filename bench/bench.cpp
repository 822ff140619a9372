#include "bench.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

namespace tenon_bench {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void JsonLine::key(const std::string& name) {
  if (out_.size() > 1) out_ += ',';
  out_ += '"' + name + "\":";
}
JsonLine& JsonLine::text(const std::string& name, const std::string& value) {
  key(name);
  out_ += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') out_ += '\\';
    out_ += c;
  }
  out_ += '"';
  return *this;
}
JsonLine& JsonLine::number(const std::string& name, double value) {
  key(name);
  char text[64];
  std::snprintf(text, sizeof text, "%.6g", value);
  out_ += text;
  return *this;
}
JsonLine& JsonLine::whole(const std::string& name, uint64_t value) {
  key(name);
  out_ += std::to_string(value);
  return *this;
}
void JsonLine::print() {
  std::printf("%s}\n", out_.c_str());
  std::fflush(stdout);
}

namespace {
uint64_t status_kib(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stoull(line.substr(field.size()));
  }
  return 0;
}
}  // namespace

uint64_t resident_bytes() { return status_kib("VmRSS:") * 1024; }
uint64_t peak_bytes() { return status_kib("VmHWM:") * 1024; }
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace tenon_bench
