// Map-stage jobs (C2.18) and accumulators (C14).
#include "unit/dag/harness.hpp"

namespace tenon::dag::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using MapStageJobs = DagTest;

TEST_F(MapStageJobs, T037_AloneThenReuse) {
  const auto dependency = shuffle(node(2), 1);
  const auto first = submit_map_stage(dependency);
  EXPECT_EQ(set(0).kind, task::TaskKind::shuffle_map);
  complete_maps(0, {"A", "B"});
  EXPECT_TRUE(first->succeeded);
  EXPECT_THAT(first->results, ElementsAre(Pair(0, "4 ")));
  expect_all_empty();
  const auto reduce = submit(node(1, {dependency}), {0});
  ASSERT_EQ(submitter_.sets.size(), 2u);
  EXPECT_EQ(set(1).kind, task::TaskKind::result);
  end(1, 0, value("42"));
  EXPECT_TRUE(reduce->succeeded);
  expect_all_empty();
  const auto again = submit_map_stage(dependency);
  EXPECT_TRUE(again->succeeded);
  EXPECT_THAT(again->results, ElementsAre(Pair(0, "4 ")));
  EXPECT_EQ(submitter_.sets.size(), 2u);
  EXPECT_EQ(sink_.of<event::JobEnd>().size(), 3u);
  expect_all_empty();
}

TEST_F(MapStageJobs, C2_18_ZeroPartitionsIsAnErrorInTheCaller) {
  MapStageRequest request;
  request.shuffle = shuffle(node(0), 1);
  request.listener = std::make_shared<RecordingListener>();
  try {
    scheduler_->submit_map_stage(std::move(request));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_THAT(error.message(), HasSubstr("0 partitions"));
  }
  loop_.run();
  EXPECT_THAT(sink_.events, IsEmpty());
}

TEST_F(MapStageJobs, C2_18_SeveralJobsShareTheStage) {
  const auto dependency = shuffle(node(2), 1);
  const auto reduce = submit(node(1, {dependency}), {0});
  const auto first = submit_map_stage(dependency);
  const auto second = submit_map_stage(dependency);
  EXPECT_EQ(submitter_.sets.size(), 1u);
  complete_maps(0, {"A", "B"});
  EXPECT_TRUE(first->succeeded);
  EXPECT_TRUE(second->succeeded);
  EXPECT_EQ(reduce->ends, 0);
  ASSERT_EQ(submitter_.sets.size(), 2u);
  end(1, 0, value("42"));
  EXPECT_TRUE(reduce->succeeded);
}

TEST_F(MapStageJobs, C2_18_CancelOneOfTwo) {
  const auto dependency = shuffle(node(1), 1);
  const auto first = submit_map_stage(dependency);
  const auto second = submit_map_stage(dependency);
  cancel(0);
  EXPECT_EQ(first->failure_text(), "Job 0 cancelled");
  complete_maps(0, {"A"});
  EXPECT_TRUE(second->succeeded);
}

TEST_F(MapStageJobs, C2_18_CompletionIsReportedOnlyWhenAllOutputsAreThere) {
  const auto dependency = shuffle(node(2), 1);
  const auto listener = submit_map_stage(dependency);
  end(0, 0, map_output("A", 1));
  lose_executor("A");
  end(0, 1, map_output("B", 1));
  EXPECT_EQ(listener->ends, 0);
  complete_maps(1, {"C"});
  EXPECT_TRUE(listener->succeeded);
  EXPECT_THAT(listener->results, ElementsAre(Pair(0, "4 ")));
}

TEST_F(MapStageJobs, C2_18_FetchFailureInAParentIsRecovered) {
  const auto first = shuffle(node(2), 2);
  const auto second = shuffle(node(2, {first}), 1);
  const auto listener = submit_map_stage(second);
  complete_maps(0, {"A", "B"});
  complete(1, {map_output("A", 1), fetch_failure("A", first->shuffle_id, 0, 1)});
  EXPECT_EQ(listener->ends, 0);
  resubmit();
  complete_maps(2, {"C"});
  ASSERT_EQ(set(3).stage_id, 1);
  EXPECT_THAT(partitions_of(3), ElementsAre(0, 1));  // partition 0's output went with A
  complete_maps(3, {"D"});
  EXPECT_TRUE(listener->succeeded);
}

TEST_F(MapStageJobs, C2_18_StageFailure) {
  const auto listener = submit_map_stage(shuffle(node(1), 1));
  fail_set(0, "some failure");
  EXPECT_THAT(listener->failure_text(), HasSubstr("some failure"));
}

class AccumulatorJobs : public DagTest {
 protected:
  void add(uint64_t id, const std::string& name, bool throws = false) {
    Accumulator accumulator;
    accumulator.id = id;
    accumulator.name = name;
    accumulator.merge = [this, id, throws](std::string_view bytes) {
      if (throws) throw std::runtime_error("bad merge");
      values_[id] += std::stoi(std::string(bytes));
    };
    accumulator.text = [this, id] { return std::to_string(values_[id]); };
    scheduler_->accumulators().add(std::move(accumulator));
  }
  std::map<uint64_t, int> values_;
};

TEST_F(AccumulatorJobs, T032_OncePerResultPosition) {
  add(5, "seen");
  const auto listener = submit(node(2), {0, 1});
  end(0, 0, with_updates(value("1"), {{5, "1"}}));
  end(0, 0, with_updates(value("1"), {{5, "1"}}));
  EXPECT_EQ(values_[5], 1);
  EXPECT_THAT(listener->results, ElementsAre(Pair(0, "1")));
  end(0, 1, value("2"));
  EXPECT_THAT(sink_.of<event::StageCompleted>()[0].stage->accumulables,
              ElementsAre(Pair("seen", "1")));
}

TEST_F(AccumulatorJobs, T033_FailedAndKilledAttempts) {
  for (const uint64_t id : {1U, 2U, 3U}) add(id, "");
  submit(node(1), {0});
  task::ExceptionFailure failure;
  failure.accumulators = {{1, "15"}, {2, "13"}};
  end(0, 0, failure);
  end(0, 0, task::TaskKilled{"test", {{3, "18"}}});
  EXPECT_EQ(values_[1], 15);
  EXPECT_EQ(values_[2], 13);
  EXPECT_EQ(values_[3], 18);
  end(0, 0, value("42"));
  EXPECT_THAT(sink_.of<event::StageCompleted>()[0].stage->accumulables, IsEmpty());  // no names
}

TEST_F(AccumulatorJobs, T034_C14_2_BadAccumulatorHurtsNothingElse) {
  add(1, "bad", true);
  add(2, "good");
  const auto listener = submit(node(1), {0});
  end(0, 0, with_updates(value("42"), {{1, "1"}, {99, "1"}, {2, "7"}}));
  EXPECT_TRUE(listener->succeeded);
  EXPECT_EQ(values_[2], 7);
  EXPECT_TRUE(logged("accumulator 1 was left out: bad merge"));
  EXPECT_TRUE(logged("accumulator 99 was left out: it exists no more"));
  EXPECT_THAT(sink_.of<event::StageCompleted>()[0].stage->accumulables,
              ElementsAre(Pair("good", "7")));
  const auto next = submit(node(1), {0});
  end(1, 0, value("42"));
  EXPECT_TRUE(next->succeeded);
}

TEST_F(AccumulatorJobs, C14_1_MapStagesApplyPerSuccessfulAttempt) {
  add(1, "");
  submit(node(1, {shuffle(node(1), 1)}), {0});
  lose_executor("A");
  end(0, 0, with_updates(map_output("A", 1), {{1, "1"}}));  // bogus, runs again
  end(1, 0, with_updates(map_output("B", 1), {{1, "1"}}));
  EXPECT_EQ(values_[1], 2);
  end(2, 0, value("42"));
  end(2, 0, with_updates(value("42"), {{1, "1"}}));  // the stage is gone
  EXPECT_EQ(values_[1], 2);
}

TEST_F(AccumulatorJobs, C14_1_UpdatesAreInBeforeTheTaskEndEvent) {
  add(1, "n");
  submit(node(1), {0});
  end(0, 0, with_updates(value("42"), {{1, "3"}}));
  EXPECT_EQ(values_[1], 3);
  scheduler_->accumulators().remove(1);
  EXPECT_EQ(scheduler_->accumulators().size(), 0u);
}

}  // namespace
}  // namespace tenon::dag::testing
