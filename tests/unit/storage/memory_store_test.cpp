#include "storage/memory_store.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <random>
#include <thread>

#include "executor/attempt.hpp"
#include "fakes.hpp"

namespace tenon::storage {
namespace {

using namespace testing;  // NOLINT: the fakes of this folder
using namespace std::chrono_literals;
using Claim = MemoryStore::Claim;
using Found = std::variant<detail::CachedPtr, Claim>;

constexpr auto kDeadline = 30s;

std::vector<RddBlockId> ids(std::initializer_list<std::pair<int, int>> list) {
  std::vector<RddBlockId> result;
  for (const auto& [rdd, partition] : list) result.push_back({rdd, partition});
  return result;
}

// Blocks of different Rdds, as only those make room for each other.
TEST(MemoryStore, T183_LeastRecentlyUsedGoesFirst) {
  MemoryStore store(200);
  EXPECT_TRUE(store.put({1, 0}, partition(100)));
  EXPECT_TRUE(store.put({2, 0}, partition(100)));
  EXPECT_TRUE(store.put({3, 0}, partition(100)));
  EXPECT_EQ(store.get({1, 0}), nullptr);
  EXPECT_NE(store.get({2, 0}), nullptr);
  EXPECT_NE(store.get({3, 0}), nullptr);
  EXPECT_NE(store.get({2, 0}), nullptr);
  EXPECT_TRUE(store.put({1, 0}, partition(100)));
  EXPECT_EQ(store.get({3, 0}), nullptr);
  EXPECT_NE(store.get({1, 0}), nullptr);
  EXPECT_NE(store.get({2, 0}), nullptr);
  EXPECT_EQ(store.used_bytes(), 200U);
}

TEST(MemoryStore, T185_PinnedBlocksStay) {
  MemoryStore store(200);
  ASSERT_TRUE(store.put({1, 0}, partition(100, 1)));
  ASSERT_TRUE(store.put({2, 0}, partition(100, 2)));
  detail::CachedPtr first = store.get({1, 0});
  detail::CachedPtr second = store.get({2, 0});
  detail::CachedPtr second_again = second;
  EXPECT_FALSE(store.put({3, 0}, partition(100, 3)));
  EXPECT_EQ(store.get({3, 0}), nullptr);
  second.reset();
  EXPECT_FALSE(store.put({3, 0}, partition(100, 3)));  // still read by the copy
  second_again.reset();
  EXPECT_TRUE(store.put({3, 0}, partition(100, 3)));
  EXPECT_EQ(store.get({2, 0}), nullptr);
  EXPECT_EQ(value_of(store.get({1, 0})), 1);
  EXPECT_EQ(value_of(store.get({3, 0})), 3);
}

TEST(MemoryStore, C15_4_ABlockDoesNotPushOutItsOwnRdd) {
  MemoryStore store(200);
  ASSERT_TRUE(store.put({1, 0}, partition(100)));
  ASSERT_TRUE(store.put({1, 1}, partition(100)));
  EXPECT_FALSE(store.put({1, 2}, partition(100)));
  EXPECT_EQ(store.blocks(), ids({{1, 0}, {1, 1}}));
  // Part of the room comes from another Rdd, the rest would have to come from its own: nothing is
  // evicted.
  MemoryStore mixed(200);
  ASSERT_TRUE(mixed.put({1, 0}, partition(100)));
  ASSERT_TRUE(mixed.put({2, 0}, partition(50)));
  EXPECT_FALSE(mixed.put({1, 1}, partition(120)));
  EXPECT_EQ(mixed.blocks(), ids({{1, 0}, {2, 0}}));
}

TEST(MemoryStore, C15_5_ABlockBiggerThanTheMemoryEvictsNothing) {
  MemoryStore store(200);
  ASSERT_TRUE(store.put({1, 0}, partition(150)));
  EXPECT_FALSE(store.put({2, 0}, partition(201)));
  EXPECT_EQ(store.blocks(), ids({{1, 0}}));
  EXPECT_TRUE(store.put({2, 0}, partition(200)));
}

TEST(MemoryStore, C15_3_OneTaskComputesWhileOthersWait) {
  MemoryStore store(1000);
  const FakeTask task;
  Found found = store.get_or_claim({1, 0}, task);
  ASSERT_TRUE(std::holds_alternative<Claim>(found));
  std::atomic<int> started{0};
  std::vector<std::future<int>> others;
  for (int i = 0; i < 3; ++i) {
    others.push_back(std::async(std::launch::async, [&] {
      ++started;
      const FakeTask other;
      Found there = store.get_or_claim({1, 0}, other);
      return value_of(std::get<detail::CachedPtr>(there));
    }));
  }
  while (started < 3) std::this_thread::yield();
  for (const auto& other : others) EXPECT_EQ(other.wait_for(5ms), std::future_status::timeout);
  {
    Claim claim = std::get<Claim>(std::move(found));
    const detail::CachedPtr stored = claim.store(partition(10, 7));
    EXPECT_EQ(value_of(stored), 7);
  }
  for (auto& other : others) EXPECT_EQ(other.get(), 7);
}

TEST(MemoryStore, C15_3_AClaimThatDiesUnusedGoesToTheNext) {
  MemoryStore store(1000);
  const FakeTask task;
  auto found = std::make_unique<Found>(store.get_or_claim({1, 0}, task));
  auto other = std::async(std::launch::async, [&] {
    const FakeTask waiting;
    return std::holds_alternative<Claim>(store.get_or_claim({1, 0}, waiting));
  });
  EXPECT_EQ(other.wait_for(5ms), std::future_status::timeout);
  found.reset();
  ASSERT_EQ(other.wait_for(kDeadline), std::future_status::ready);
  EXPECT_TRUE(other.get());
  EXPECT_TRUE(store.blocks().empty());
}

TEST(MemoryStore, AKilledTaskStopsWaiting) {
  MemoryStore store(1000);
  const FakeTask task;
  const Found found = store.get_or_claim({1, 0}, task);
  FakeTask waiting;
  auto other = std::async(std::launch::async,
                          [&] { static_cast<void>(store.get_or_claim({1, 0}, waiting)); });
  EXPECT_EQ(other.wait_for(5ms), std::future_status::timeout);
  waiting.kill();
  ASSERT_EQ(other.wait_for(kDeadline), std::future_status::ready);
  EXPECT_THROW(other.get(), executor::TaskKilledError);
}

TEST(MemoryStore, C15_7_UnpersistForgetsAllAndTheRddCanBeKeptAgain) {
  MemoryStore store(1000);
  const FakeTask task;
  ASSERT_TRUE(store.put({1, 0}, partition(100, 1)));
  ASSERT_TRUE(store.put({2, 0}, partition(100, 2)));
  detail::CachedPtr read = store.get({1, 0});
  Found computing = store.get_or_claim({1, 1}, task);
  store.remove_rdd(1);
  EXPECT_EQ(store.blocks(), ids({{2, 0}}));
  EXPECT_EQ(value_of(read), 1);         // whoever reads it reads on
  EXPECT_EQ(store.used_bytes(), 200U);  // and it is counted as long
  read.reset();
  EXPECT_EQ(store.used_bytes(), 100U);
  // What was being computed is given to its task and not kept.
  EXPECT_EQ(value_of(std::get<Claim>(computing).store(partition(100, 3))), 3);
  EXPECT_EQ(store.blocks(), ids({{2, 0}}));
  computing = detail::CachedPtr();
  Found again = store.get_or_claim({1, 1}, task);
  static_cast<void>(std::get<Claim>(again).store(partition(100, 4)));
  EXPECT_EQ(store.blocks(), ids({{2, 0}, {1, 1}}));
}

TEST(MemoryStore, APartitionThatHasNoRoomIsGivenToItsTaskAlone) {
  MemoryStore store(50);
  const FakeTask task;
  Found found = store.get_or_claim({1, 0}, task);
  EXPECT_EQ(value_of(std::get<Claim>(found).store(partition(51, 9))), 9);
  EXPECT_EQ(store.used_bytes(), 0U);
  EXPECT_TRUE(store.blocks().empty());
}

TEST(MemoryStore, EveryChangeIsReportedInOrder) {
  std::vector<std::string> news;
  MemoryStore store(200, [&](const BlockUpdate& update) {
    news.push_back((update.stored ? "+" : "-") + std::to_string(update.id.rdd) + "_" +
                   std::to_string(update.id.partition) + ":" + std::to_string(update.bytes));
  });
  store.put({1, 0}, partition(100));
  store.put({2, 0}, partition(60));
  store.put({2, 0}, partition(60));  // there already
  store.put({3, 0}, partition(150));
  store.remove_rdd(3);
  store.put({4, 4}, partition(10));
  store.report_all();
  EXPECT_EQ(news, (std::vector<std::string>{"+1_0:100", "+2_0:60", "-1_0:100", "-2_0:60",
                                            "+3_0:150", "-3_0:150", "+4_4:10", "+4_4:10"}));
}

// Many tasks over few blocks: never over the limit, each value right, nothing counted in the end.
TEST(MemoryStore, ManyTasksAtOnce) {
  MemoryStore store(500);
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      const FakeTask task;
      for (int i = 0; i < 2000; ++i) {
        const RddBlockId id{static_cast<int32_t>(random() % 5), static_cast<int32_t>(random() % 3)};
        const int value = id.rdd * 10 + id.partition;
        Found found = store.get_or_claim(id, task);
        detail::CachedPtr there;
        if (auto* claim = std::get_if<Claim>(&found)) {
          if (random() % 8 == 0) continue;  // the task fails
          there = claim->store(partition(60 + random() % 100, value));
        } else {
          there = std::get<detail::CachedPtr>(found);
        }
        if (value_of(there) != value || store.used_bytes() > 500) wrong = true;
        if (random() % 50 == 0) store.remove_rdd(id.rdd);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(wrong);
  for (int rdd = 0; rdd < 5; ++rdd) store.remove_rdd(rdd);
  EXPECT_EQ(store.used_bytes(), 0U);
}

}  // namespace
}  // namespace tenon::storage
