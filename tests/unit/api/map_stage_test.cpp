// Jobs that run the map side of a shuffle alone (contract C2.18).
#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using ByInt = Partitioner<int>;

class MapStageTest : public test::CountingTest {
 protected:
  // n pairs of a key from 0 to keys - 1, key k in partition k.
  Rdd<std::pair<int, std::string>> spread(int n, int keys) {
    return context()
        .range(0, n, 1, 3)
        .map([](int i, int k) { return std::pair(i % k, std::string(1000, 'a')); }, keys)
        .partition_by(ByInt::custom([](int key) { return key; }, keys));
  }
};

TEST_F(MapStageTest, T037_C2_18_ItRunsTheMapSideAloneAndALaterJobFindsItDone) {
  const auto rdd = spread(90, 4);
  start_counting();
  const auto bytes = rdd.run_map_stage();
  EXPECT_THAT(tasks_per_job_since(), ElementsAre(3)) << "the map tasks";
  EXPECT_THAT(bytes, SizeIs(4));
  for (const uint64_t size : bytes) EXPECT_GT(size, 0u);
  start_counting();
  EXPECT_EQ(rdd.count(), 90u);
  EXPECT_THAT(tasks_per_job_since(), ElementsAre(4)) << "the reduce side";
  start_counting();
  EXPECT_EQ(rdd.run_map_stage(), bytes);
  EXPECT_EQ(stages_since(), 0u) << "done already";
}

TEST_F(MapStageTest, C2_18_BytesAreThoseOfEachReducePartition) {
  // Nothing in partition 2: no key is 2.
  const auto rdd = context()
                       .parallelize(std::vector<std::pair<int, int>>{{0, 1}, {1, 1}, {1, 2}}, 2)
                       .partition_by(ByInt::custom([](int key) { return key; }, 3));
  const auto bytes = rdd.run_map_stage();
  ASSERT_THAT(bytes, SizeIs(3));
  EXPECT_GT(bytes[0], 0u);
  EXPECT_GT(bytes[1], 0u);
  EXPECT_EQ(bytes[2], 0u);
}

TEST_F(MapStageTest, C2_18_WhatFollowsWithinTheStageIsNotRun) {
  const auto rdd = spread(30, 2).map_values([](const std::string& s) { return s.size(); });
  EXPECT_THAT(rdd.run_map_stage(), SizeIs(2));
  EXPECT_EQ(rdd.count(), 30u);
}

TEST_F(MapStageTest, C2_18_AsyncGivesTheSame) {
  const auto rdd = spread(60, 3);
  auto future = rdd.run_map_stage_async();
  auto again = rdd.run_map_stage_async();
  const auto bytes = future.get();
  EXPECT_THAT(bytes, SizeIs(3));
  EXPECT_EQ(again.get(), bytes) << "two jobs wait for one stage";
  EXPECT_TRUE(future.completed());
}

TEST_F(MapStageTest, C2_18_AFailureIsTheJobs) {
  const auto rdd = context()
                       .range(0, 4, 1, 2)
                       .map([](int i) -> std::pair<int, int> {
                         if (i == 3) throw FatalError("three is refused");
                         return {i, i};
                       })
                       .partition_by(2);
  const auto failed = test::caught([&] { static_cast<void>(rdd.run_map_stage()); });
  EXPECT_EQ(failed.kind, ErrorKind::job_failed);
  EXPECT_THAT(failed.text, HasSubstr("three is refused"));
  expect_usable();
}

TEST_F(MapStageTest, C2_18_WhatReadsNoShuffleOrSeveralIsRefused) {
  const auto rdd = context().parallelize(std::vector<std::pair<int, int>>{{1, 1}}, 2);
  for (const auto& act : std::vector<std::function<void()>>{
           [&] { static_cast<void>(rdd.run_map_stage()); },
           [&] { static_cast<void>(rdd.join(rdd).run_map_stage()); }}) {
    const auto refused = test::caught(act);
    EXPECT_EQ(refused.kind, ErrorKind::invalid_argument);
    EXPECT_THAT(refused.text, HasSubstr("run_map_stage: the Rdd must read one shuffle"));
  }
  const std::string empty = folder().write("empty", "");
  const auto none =
      context().text_file(empty).map([](const std::string& s) { return std::pair(s, 1); });
  EXPECT_EQ(test::caught([&] { static_cast<void>(none.partition_by(2).run_map_stage()); }).kind,
            ErrorKind::invalid_argument);
  expect_usable();
}

}  // namespace
}  // namespace tenon
