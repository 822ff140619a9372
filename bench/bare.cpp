// The yardsticks: what a good C++ programmer writes by hand for the same work.
#include "bare.hpp"

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench.hpp"

namespace tenon_bench {
namespace {

class Queue {
 public:
  void push(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    changed_.notify_one();
  }
  bool pop(std::function<void()>& work) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || !queue_.empty(); });
    if (queue_.empty()) return false;
    work = std::move(queue_.front());
    queue_.pop_front();
    return true;
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool ended_ = false;
};

}  // namespace

double bare_pool_tasks_per_s(uint64_t tasks) {
  constexpr uint64_t kInFlight = 64;
  Queue work, done;
  const double begin = now_s();
  std::vector<std::thread> threads;
  threads.reserve(2);
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (std::function<void()> task; work.pop(task);) {
        task();
        done.push([] {});
      }
    });
  }
  uint64_t sent = 0;
  for (; sent < kInFlight && sent < tasks; ++sent) work.push([] {});
  std::function<void()> completion;
  for (uint64_t got = 0; got < tasks; ++got) {
    done.pop(completion);
    if (sent < tasks) {
      work.push([] {});
      ++sent;
    }
  }
  work.end();
  for (auto& thread : threads) thread.join();
  return static_cast<double>(tasks) / (now_s() - begin);
}

double condvar_round_trip_s() {
  constexpr int kTrips = 20'000;
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
  std::thread other([&] {
    for (int i = 0; i < kTrips; ++i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return turn == 1; });
      turn = 0;
      changed.notify_one();
    }
  });
  std::vector<double> trips;
  trips.reserve(kTrips);
  for (int i = 0; i < kTrips; ++i) {
    const double begin = now_s();
    std::unique_lock lock(mutex);
    turn = 1;
    changed.notify_one();
    changed.wait(lock, [&] { return turn == 0; });
    trips.push_back(now_s() - begin);
  }
  other.join();
  return median(std::move(trips));
}

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

uint64_t hash_of(const char* text, size_t size) {
  uint64_t hash = size * 0x9e3779b97f4a7c15ULL;
  for (; size >= 8; size -= 8, text += 8) {
    uint64_t part = 0;
    std::memcpy(&part, text, 8);
    hash = (hash ^ part) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
  uint64_t part = 0;
  std::memcpy(&part, text, size);
  hash = (hash ^ part) * 0xc4ceb9fe1a85ec53ULL;
  return hash ^ (hash >> 29);
}

// The first bytes of a word stand in the entry, so that most comparisons touch nothing else.
struct Word {
  uint64_t prefix;
  const char* text;
  uint32_t size, hash;
};
struct Counted {
  Word word;
  uint64_t count;
};

constexpr size_t kBuckets = 64;

bool same(const Word& a, const Word& b) {
  return a.hash == b.hash && a.size == b.size && a.prefix == b.prefix &&
         (a.size <= 8 || std::memcmp(a.text + 8, b.text + 8, a.size - 8) == 0);
}

class Table {
 public:
  void add(const Word& word) {
    size_t at = word.hash & mask_;
    while (slots_[at].count != 0 && !same(slots_[at].word, word)) at = (at + 1) & mask_;
    if (slots_[at].count++ != 0) return;
    slots_[at].word = word;
    if (++size_ * 2 > mask_) grow();
  }
  [[nodiscard]] WordCount sum() const {
    WordCount sum;
    for (const Counted& slot : slots_) {
      sum.total += slot.count;
      sum.distinct += slot.count != 0 ? 1 : 0;
    }
    return sum;
  }

 private:
  void grow() {
    std::vector<Counted> larger(2 * slots_.size());
    mask_ = larger.size() - 1;
    for (const Counted& slot : slots_) {
      if (slot.count == 0) continue;
      size_t at = slot.word.hash & mask_;
      while (larger[at].count != 0) at = (at + 1) & mask_;
      larger[at] = slot;
    }
    slots_.swap(larger);
  }
  size_t mask_ = (size_t{1} << 12) - 1, size_ = 0;
  std::vector<Counted> slots_{mask_ + 1};
};

using Partitioned = std::vector<std::vector<Word>>;

Partitioned cut(const MappedFile& file, size_t thread) {
  const char* text = file.data();
  const size_t size = file.size();
  size_t from = size / kThreads * thread;
  size_t to = thread + 1 == kThreads ? size : size / kThreads * (thread + 1);
  if (thread != 0) {
    while (from < size && !is_space(text[from])) ++from;
  }
  while (to < size && !is_space(text[to])) ++to;
  Partitioned words(kBuckets);
  for (auto& bucket : words) bucket.reserve((to - from) / 12 / kBuckets);
  for (size_t at = from; at < to;) {
    while (at < to && is_space(text[at])) ++at;
    const size_t begin = at;
    while (at < to && !is_space(text[at])) ++at;
    if (at == begin) continue;
    const auto length = static_cast<uint32_t>(at - begin);
    const uint64_t hash = hash_of(text + begin, length);
    uint64_t prefix = 0;
    std::memcpy(&prefix, text + begin, std::min<size_t>(length, 8));
    words[hash % kBuckets].push_back(
        {prefix, text + begin, length, static_cast<uint32_t>(hash >> 6)});
  }
  return words;
}

}  // namespace

// Words are spread by hash first, so that the tables that count them fit the cache and need no
// lock.
WordCount bare_wordcount(const std::string& path) {
  const MappedFile file(path);
  std::vector<Partitioned> words(kThreads);
  in_parallel([&](size_t t) { words[t] = cut(file, t); });
  std::vector<WordCount> sums(kBuckets);
  in_parallel([&](size_t t) {
    for (size_t bucket = t; bucket < kBuckets; bucket += kThreads) {
      Table table;
      for (const Partitioned& part : words) {
        for (const Word& word : part[bucket]) table.add(word);
      }
      sums[bucket] = table.sum();
    }
  });
  WordCount all;
  for (const WordCount& sum : sums) {
    all.total += sum.total;
    all.distinct += sum.distinct;
  }
  return all;
}

}  // namespace tenon_bench
