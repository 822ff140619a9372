#include "executor/stage_plan.hpp"

#include <atomic>
#include <thread>

#include "harness.hpp"

namespace tenon::executor {
namespace {

using namespace testing;  // NOLINT: the harness of this folder

std::string binary_of(int32_t stage, int32_t attempt) {
  return rdd::encode_stage({"app-1", "", stage, attempt, {}},
                           make_node(0, source_operator(), {}, {"1"}), sum_action());
}

struct Source {
  std::map<std::string, std::string> binaries;
  std::atomic<int> fetched{0};
  StagePlanCache::Fetch fetch() {
    return [this](const std::string& id) {
      ++fetched;
      return std::make_shared<const std::string>(binaries.at(id));
    };
  }
};

TEST(StagePlanCache, MakesAPlanOnceForAllTasks) {
  Source source{{{"a", binary_of(1, 0)}}};
  StagePlanCache cache(source.fetch());
  std::vector<StagePlanPtr> plans(4);
  std::vector<std::thread> threads;
  for (auto& plan : plans) threads.emplace_back([&] { plan = cache.get("a", std::nullopt); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& plan : plans) EXPECT_EQ(plan, plans[0]);
  EXPECT_EQ(source.fetched, 1);
  EXPECT_EQ(plans[0]->graph().header.app_id, "app-1");
  EXPECT_NE(plans[0]->action(), nullptr);
  EXPECT_EQ(plans[0]->writer(), nullptr);
}

TEST(StagePlanCache, WhatFailsIsTriedAgain) {
  Source source;
  StagePlanCache cache(source.fetch());
  EXPECT_THROW(static_cast<void>(cache.get("a", std::nullopt)), std::out_of_range);
  EXPECT_THROW(static_cast<void>(cache.get("a", "garbage")), Error);
  source.binaries["a"] = binary_of(1, 0);
  EXPECT_NE(cache.get("a", std::nullopt), nullptr);
}

TEST(StagePlanCache, KeepsTheMostRecentlyUsed) {
  Source source{{{"a", binary_of(1, 0)}, {"b", binary_of(2, 0)}, {"c", binary_of(3, 0)}}};
  StagePlanCache cache(source.fetch(), 2);
  for (const char* id : {"a", "b", "a", "c", "a"}) static_cast<void>(cache.get(id, std::nullopt));
  EXPECT_EQ(source.fetched, 3);
  EXPECT_EQ(cache.size(), 2U);
  static_cast<void>(cache.get("b", std::nullopt));
  EXPECT_EQ(source.fetched, 4);
}

TEST(StagePlanCache, ANewerAttemptReplacesTheOlder) {
  Source source{{{"stage 1.0", binary_of(1, 0)},
                 {"stage 1.1", binary_of(1, 1)},
                 {"stage 2.0", binary_of(2, 0)}}};
  StagePlanCache cache(source.fetch());
  const StagePlanPtr old = cache.get("stage 1.0", std::nullopt);
  static_cast<void>(cache.get("stage 2.0", std::nullopt));
  static_cast<void>(cache.get("stage 1.1", std::nullopt));
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_NE(old->action(), nullptr);  // who has it keeps it
}

TEST(StagePlan, AnOperatorOfAnotherKindThanItsPlaceIsRefused) {
  const auto make = [](const rdd::Operator& op, const rdd::Operator& action) {
    return StagePlan(rdd::decode_stage_graph(
        rdd::encode_stage({"app-1", "", 1, 0, {}}, make_node(0, op, {}, {"1"}), action)));
  };
  EXPECT_NO_THROW(make(source_operator(), sum_action()));
  for (const auto& [op, action] :
       {std::pair{sum_action(), sum_action()}, std::pair{source_operator(), source_operator()}}) {
    try {
      make(op, action);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("of another kind"));
      EXPECT_THAT(error.what(), ::testing::HasSubstr("Operator"));
    }
  }
}

}  // namespace
}  // namespace tenon::executor
