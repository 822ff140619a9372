// Sorts N lines of 100 bytes by their first 10, from a file to files.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "compare.hpp"

namespace tenon_bench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKeyBytes = 10, kLineBytes = 100;  // with the end of the line

// A folder that goes at the end.
class Folder {
 public:
  explicit Folder(const std::string& in) {
    std::string path =
        (fs::path(in.empty() ? fs::temp_directory_path() : fs::path(in)) / "tenon-bench-XXXXXX")
            .string();
    if (::mkdtemp(path.data()) == nullptr)
      throw std::runtime_error("cannot make the folder " + path);
    path_ = path;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string at(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// Lines gathered on their way to a file.
class LineWriter {
 public:
  explicit LineWriter(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
    if (file_ < 0) throw std::runtime_error("cannot make the file " + path);
    buffer_.reserve(kBytes + kLineBytes);
  }
  ~LineWriter() { ::close(file_); }
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  void add(const char* line) {
    buffer_.insert(buffer_.end(), line, line + kLineBytes);
    if (buffer_.size() >= kBytes) flush();
  }
  void flush() {
    for (size_t done = 0; done < buffer_.size();) {
      const ssize_t n = ::write(file_, buffer_.data() + done, buffer_.size() - done);
      if (n < 0) throw std::runtime_error("cannot write");
      done += static_cast<size_t>(n);
    }
    buffer_.clear();
  }

 private:
  static constexpr size_t kBytes = size_t{1} << 20;
  int file_;
  std::vector<char> buffer_;
};

void generate(const std::string& path, uint64_t n) {
  LineWriter out(path);
  std::array<char, kLineBytes> line{};
  for (uint64_t i = 0; i < n; ++i) {
    line.fill(static_cast<char>('A' + i % 26));
    uint64_t random = scrambled(i + 1);
    for (size_t k = 0; k < kKeyBytes; ++k, random /= 64)
      line[k] = static_cast<char>('0' + random % 64);
    std::snprintf(line.data() + kKeyBytes, 23, " %020llu ", static_cast<unsigned long long>(i));
    line[kKeyBytes + 22] = 'x';
    line.back() = '\n';
    out.add(line.data());
  }
  out.flush();
}

// ------------------------------------------------------------------------------- ours

using Key = std::array<unsigned char, kKeyBytes>;
using Rest = std::array<unsigned char, kLineBytes - kKeyBytes - 1>;
using Record = std::pair<Key, Rest>;

Record record_of(std::string_view line) {
  if (line.size() != kLineBytes - 1) throw tenon::FatalError("a line of another size");
  Record record;
  std::memcpy(record.first.data(), line.data(), kKeyBytes);
  std::memcpy(record.second.data(), line.data() + kKeyBytes, record.second.size());
  return record;
}

std::string line_of(const Record& record) {
  std::string line;
  line.reserve(kLineBytes);
  line.append(record.first.begin(), record.first.end())
      .append(record.second.begin(), record.second.end());
  return line;
}

// ------------------------------------------------------------------------------- by hand

// A line by its key: its first bytes as a number, of equal lines the earlier one first.
struct Entry {
  uint64_t prefix;
  uint32_t rest;  // of the key
  uint32_t line;  // its number
  friend bool operator<(const Entry& a, const Entry& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    return a.rest != b.rest ? a.rest < b.rest : a.line < b.line;
  }
};
Entry entry_at(const char* text, uint64_t line) {
  const char* key = text + line * kLineBytes;
  uint64_t prefix = 0;
  uint16_t rest = 0;
  std::memcpy(&prefix, key, 8);
  std::memcpy(&rest, key + 8, 2);
  return {__builtin_bswap64(prefix), __builtin_bswap16(rest), static_cast<uint32_t>(line)};
}

constexpr size_t kBuckets = 256;

// The last key's prefix of each bucket but the last, from a sample.
std::vector<uint64_t> bounds_of(const char* text, uint64_t lines) {
  constexpr uint64_t kSample = 32 * kBuckets;
  std::vector<uint64_t> sample;
  for (uint64_t i = 0; i < kSample && lines != 0; ++i)
    sample.push_back(entry_at(text, lines * i / kSample).prefix);
  std::sort(sample.begin(), sample.end());
  std::vector<uint64_t> bounds;
  for (size_t b = 1; b < kBuckets && !sample.empty(); ++b)
    bounds.push_back(sample[sample.size() * b / kBuckets]);
  return bounds;
}

// Entries go to buckets of a cache's size, which the threads sort and write: one file each.
void sort_by_hand(const std::string& input, const std::string& output) {
  const MappedFile file(input);
  const uint64_t lines = file.size() / kLineBytes;
  const auto bounds = bounds_of(file.data(), lines);
  std::array<std::vector<std::vector<Entry>>, kThreads> parts;
  in_parallel([&](size_t t) {
    std::vector<std::vector<Entry>> buckets(kBuckets);
    for (auto& bucket : buckets) bucket.reserve(lines / kThreads / kBuckets * 5 / 4);
    for (uint64_t i = part_begin(lines, t); i < part_begin(lines, t + 1); ++i) {
      const Entry entry = entry_at(file.data(), i);
      const auto bucket =
          std::lower_bound(bounds.begin(), bounds.end(), entry.prefix) - bounds.begin();
      buckets[static_cast<size_t>(bucket)].push_back(entry);
    }
    parts[t] = std::move(buckets);
  });
  in_parallel([&](size_t t) {
    LineWriter out(output + "/part-" + std::to_string(t));
    std::vector<Entry> entries;
    for (size_t b = part_begin(kBuckets, t); b < part_begin(kBuckets, t + 1); ++b) {
      entries.clear();
      for (const auto& part : parts) entries.insert(entries.end(), part[b].begin(), part[b].end());
      std::sort(entries.begin(), entries.end());
      for (size_t i = 0; i < entries.size(); ++i) {
        constexpr size_t kAhead = 16;
        if (i + kAhead < entries.size()) {
          const char* ahead = file.data() + uint64_t{entries[i + kAhead].line} * kLineBytes;
          __builtin_prefetch(ahead);
          __builtin_prefetch(ahead + kLineBytes - 1);
        }
        out.add(file.data() + uint64_t{entries[i].line} * kLineBytes);
      }
    }
    out.flush();
  });
}

// ------------------------------------------------------------------------------- comparison

// Of all lines of the files, in order.
Checksum checksum_of(const std::vector<std::string>& files) {
  Checksum sum;
  for (const std::string& path : files) {
    const MappedFile file(path);
    for (size_t at = 0; at + kLineBytes <= file.size(); at += kLineBytes) {
      ++sum.rows;
      sum.sum = scrambled(sum.sum ^ tenon::hash_bytes({file.data() + at, kLineBytes}));
    }
    if (file.size() % kLineBytes != 0) sum.sum = 0;
  }
  return sum;
}

// The files in a folder that are parts of the output, in order.
std::vector<std::string> parts_in(const std::string& folder) {
  std::vector<std::string> parts;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("part-"))
      parts.push_back(entry.path().string());
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

}  // namespace

int sort(const Options& options) {
  const uint64_t n = options.size_or(10'000'000);
  const Folder folder(options.folder);
  const std::string input = folder.at("input"), output = folder.at("output");
  generate(input, n);
  tenon::Context ctx(conf_for(options), {.app = "bench-sort"});
  // What was written is looked at, and removed, while no time is taken.
  const auto sorted = [&](const auto& work) {
    const auto [seconds, nothing] = timed(work);
    const Checksum sum = checksum_of(parts_in(output));
    fs::remove_all(output);
    return std::pair(seconds, sum);
  };
  JsonLine line("sort");
  line.text("master", options.master).whole("lines", n).whole("bytes", n * kLineBytes);
  return compare(
      std::move(line), options,
      [&] {
        return sorted([&] {
          ctx.text_file<std::string_view>(input, options.partitions)
              .map(tenon::fn<record_of>)
              .sort_by_key()
              .map(tenon::fn<line_of>)
              .save_as_text_file(output);
          return true;
        });
      },
      [&] {
        return sorted([&] {
          fs::create_directory(output);
          sort_by_hand(input, output);
          return true;
        });
      });
}

}  // namespace tenon_bench
