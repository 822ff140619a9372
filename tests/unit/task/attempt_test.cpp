#include "task/attempt.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace tenon::task {
namespace {

TEST(AttemptTable, AgreesWithAMapOverRandomLives) {
  std::mt19937_64 random(7);
  AttemptTable table;
  std::unordered_map<uint64_t, Attempt*> expected;
  uint64_t next = 0;
  for (int step = 0; step < 200000; ++step) {
    const bool add = expected.size() < 5 || (expected.size() < 3000 && random() % 100 < 52);
    if (add) {
      next += 1 + (random() % 50 == 0 ? random() % 1000 : 0);  // ids have gaps
      Attempt& attempt = table.add(next);
      EXPECT_EQ(attempt.info.id, next);
      EXPECT_EQ(attempt.set, nullptr);  // a used one is as new
      attempt.started = true;
      expected[next] = &attempt;
    } else {
      const uint64_t around = random() % (next + 1);
      const auto it = expected.find(around);
      EXPECT_EQ(table.find(around), it == expected.end() ? nullptr : it->second);
      if (it == expected.end()) continue;
      table.remove(*it->second);
      expected.erase(it);
      EXPECT_EQ(table.find(around), nullptr);
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  size_t seen = 0;
  table.for_each([&](const Attempt& attempt) { seen += expected.contains(attempt.info.id); });
  EXPECT_EQ(seen, expected.size());
  for (const auto& [id, attempt] : expected) ASSERT_EQ(table.find(id), attempt);
}

TEST(AttemptList, KeepsTheOrderThroughInsertionsAndRemovals) {
  std::deque<Attempt> attempts(4);
  SetAttempts list;
  for (Attempt& attempt : attempts) list.push_back(attempt);
  list.erase(attempts[1]);
  EXPECT_EQ(list.snapshot(), (std::vector<Attempt*>{&attempts[0], &attempts[2], &attempts[3]}));
  list.erase(attempts[3]);
  list.erase(attempts[0]);
  list.push_back(attempts[1]);
  EXPECT_EQ(list.snapshot(), (std::vector<Attempt*>{&attempts[2], &attempts[1]}));
  EXPECT_EQ(list.last(), &attempts[1]);
  EXPECT_EQ(SetAttempts::prev(attempts[1]), &attempts[2]);
  list.erase(attempts[2]);
  list.erase(attempts[1]);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.first(), nullptr);
  EXPECT_EQ(list.last(), nullptr);
}

}  // namespace
}  // namespace tenon::task
