// Lost and added executors and workers (C5).
#include "unit/dag/harness.hpp"

namespace tenon::dag::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ExecutorLoss = DagTest;

TEST_F(ExecutorLoss, T015_LostBeforeItsMapResultArrives) {
  const auto dependency = shuffle(node(2), 1);
  const auto listener = submit(node(1, {dependency}), {0});
  lose_executor("A");
  complete_maps(0, {"A", "B"});
  ASSERT_EQ(submitter_.sets.size(), 2u);
  EXPECT_EQ(set(1).stage_id, 0);
  EXPECT_THAT(partitions_of(1), ElementsAre(0));
  EXPECT_TRUE(logged("possibly bogus"));
  complete_maps(1, {"C"});
  EXPECT_THAT(output_hosts(dependency), ElementsAre("C", "B"));
  end(2, 0, value("42"));
  EXPECT_THAT(listener->results, ElementsAre(Pair(0, "42")));
  expect_all_empty();
}

TEST_F(ExecutorLoss, C3_10_TasksOfALaterEpochOnTheSameExecutorCount) {
  const auto dependency = shuffle(node(1), 1);
  submit(node(1, {dependency}), {0});
  lose_executor("A");
  complete_maps(0, {"A"});
  complete_maps(1, {"A"});  // the set was made after the loss
  EXPECT_THAT(output_hosts(dependency), ElementsAre("A"));
  end(2, 0, value("42"));
}

TEST_F(ExecutorLoss, T022_ExecutorLostAndResubmitted) {
  const auto first = shuffle(node(1), 3);
  const auto second = shuffle(node(3, {first}), 1);
  submit(node(1, {second}), {0});
  complete_maps(0, {"Z"});
  ASSERT_EQ(set(1).stage_id, 1);
  end(1, 0, map_output("A", 1));
  end(1, 1, map_output("A", 1));
  lose_executor("A");
  end(1, 0, task::Resubmitted{});
  end(1, 1, task::Resubmitted{});
  end(1, 0, map_output("B", 1));
  end(1, 1, map_output("B", 1));
  EXPECT_EQ(submitter_.sets.size(), 2u);
  EXPECT_EQ(set(1).stage_attempt, 0);
  EXPECT_THAT(completed_stages(), ElementsAre(0));
  end(1, 2, map_output("B", 1));
  EXPECT_THAT(output_hosts(second), ElementsAre("B", "B", "B"));
  ASSERT_EQ(submitter_.sets.size(), 3u);
  end(2, 0, value("42"));
}

TEST_F(ExecutorLoss, T022_ResubmittedBeforeTheLossIsHandled) {
  const auto dependency = shuffle(node(2), 1);
  submit(node(1, {dependency}), {0});
  end(0, 0, map_output("A", 1));
  end(0, 0, task::Resubmitted{}, "A-exec");
  lose_executor("A");
  end(0, 1, map_output("B", 1));
  EXPECT_EQ(submitter_.sets.size(), 1u);  // waits for the partition that runs again
  end(0, 0, map_output("C", 1));
  EXPECT_THAT(output_hosts(dependency), ElementsAre("C", "B"));
  ASSERT_EQ(submitter_.sets.size(), 2u);
  EXPECT_EQ(set(1).kind, task::TaskKind::result);
  end(1, 0, value("42"));
}

// The middle stage's attempt 0 fails at partition 1, so that attempt 1 runs beside late tasks of
// attempt 0.
class Resubmits : public DagTest {
 protected:
  void begin(const std::vector<std::string>& first_hosts) {
    first_ = shuffle(node(1), 2);
    second_ = shuffle(node(2, {first_}), 1);
    submit(node(1, {second_}), {0});
    complete_maps(0, {"Z"});
    for (size_t i = 0; i < first_hosts.size(); ++i) end(1, i, map_output(first_hosts[i], 1));
    end(1, 1, fetch_failure("Z", first_->shuffle_id, 0, 1));
    resubmit();
    complete_maps(2, {"Y"});
    ASSERT_EQ(set(3).stage_id, 1);
    ASSERT_EQ(set(3).stage_attempt, 1);
  }
  rdd::ShufflePtr first_, second_;
};

TEST_F(Resubmits, C9_9_NotWaitedForWhenAnEarlierAttemptBroughtTheOutput) {
  begin({});
  end(3, 0, map_output("A", 1), "A-exec");
  // Partition 0 of the old attempt succeeds; the live set is told and will not run it again, though
  // it said so.
  scheduler_->executor_lost("A-exec", {});
  queue_end(1, 0, map_output("C", 1), "C-exec");
  queue_end(3, 0, task::Resubmitted{}, "A-exec");
  loop_.run();
  EXPECT_THAT(submitter_.completed, ElementsAre(Pair(1, 0)));
  end(3, 1, map_output("B", 1));
  EXPECT_THAT(output_hosts(second_), ElementsAre("C", "B"));
  ASSERT_EQ(submitter_.sets.size(), 5u);
  EXPECT_EQ(set(4).kind, task::TaskKind::result);
  end(4, 0, value("42"));
}

TEST_F(Resubmits, C9_9_NotWaitedForOnTheWordOfAnOlderAttempt) {
  begin({"C"});
  EXPECT_THAT(partitions_of(3), ElementsAre(1));
  lose_executor("C");
  end(1, 0, task::Resubmitted{}, "C-exec");  // attempt 1 has no task for it
  end(3, 0, map_output("B", 1));
  ASSERT_EQ(submitter_.sets.size(), 5u);
  EXPECT_EQ(set(4).stage_attempt, 2);
  EXPECT_THAT(partitions_of(4), ElementsAre(0));
  complete_maps(4, {"D"});
  end(5, 0, value("42"));
}

struct LossRow {
  const char* name;
  bool service, host_named;
  const char *other, *same_host,
      *lost;  // hosts that remain for B, the other executor on A, A itself
};

class LostFiles : public DagTest, public ::testing::WithParamInterface<LossRow> {};

TEST_P(LostFiles, T039_S004_075_AreShuffleFilesLost) {
  const LossRow& row = GetParam();
  Settings settings;
  settings.external_shuffle_service = row.service;
  make_scheduler(settings);
  const auto dependency = shuffle(node(3), 1);
  submit(node(1, {dependency}), {0});
  end(0, 0, map_output("A", 1));
  task::EndReason neighbour = map_output("A", 1);
  std::get<task::Success>(neighbour).result->map_status->location.executor_id = "A-other";
  end(0, 1, neighbour);
  end(0, 2, map_output("B", 1));
  const uint64_t epoch = tracker_->epoch();
  lose_executor("A", row.host_named ? "A" : "");
  EXPECT_THAT(blocks_.removed, ElementsAre("A-exec"));
  EXPECT_THAT(output_hosts(dependency), ElementsAre(row.lost, row.same_host, row.other));
  EXPECT_EQ(tracker_->epoch() > epoch, std::string(row.lost).empty());
  if (row.service) {
    const uint64_t before = tracker_->epoch();
    end(1, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
    EXPECT_EQ(output_hosts(dependency)[0], "");
    EXPECT_GT(tracker_->epoch(), before);
    end(1, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
    EXPECT_THAT(blocks_.removed, ElementsAre("A-exec"));
  }
  cancel(0);
}

INSTANTIATE_TEST_SUITE_P(Rows, LostFiles,
                         ::testing::Values(LossRow{"on_a", true, false, "B", "A", "A"},
                                           LossRow{"on_b", true, true, "B", "", ""},
                                           LossRow{"off_a", false, false, "B", "A", ""},
                                           LossRow{"off_b", false, true, "B", "", ""}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_F(ExecutorLoss, C5_2_RepeatedLossOfOneEpochIsHandledOnce) {
  const auto dependency = shuffle(node(2), 1);
  submit(node(1, {dependency}), {0});
  complete_maps(0, {"A", "B"});
  end(1, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
  const uint64_t epoch = tracker_->epoch();
  end(1, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
  EXPECT_EQ(tracker_->epoch(), epoch + 1);  // the one map output; not the executor again
  EXPECT_THAT(blocks_.removed, ElementsAre("A-exec"));
  lose_executor("A");  // of the current epoch: new
  EXPECT_THAT(blocks_.removed, ElementsAre("A-exec", "A-exec"));
  cancel(0);
}

TEST_F(ExecutorLoss, C5_2_WithTheServiceExecutorAndFilesCountApart) {
  Settings settings;
  settings.external_shuffle_service = true;
  make_scheduler(settings);
  const auto dependency = shuffle(node(2), 1);
  submit(node(1, {dependency}), {0});
  complete(0, {map_output("A", 1), map_output("A", 1)});
  lose_executor("A");
  EXPECT_THAT(output_hosts(dependency), ElementsAre("A", "A"));
  end(1, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
  EXPECT_THAT(output_hosts(dependency), ElementsAre("", ""));  // both, not only map 0
  EXPECT_THAT(blocks_.removed, ElementsAre("A-exec"));
  cancel(0);
}

TEST_F(ExecutorLoss, C5_3_LossClearsTheCachedLocations) {
  const auto cached = node(1);
  cached->set_level(StorageLevel::memory);
  blocks_.cached[{cached->id(), 0}] = {{"A", "A-exec"}};
  EXPECT_THAT(scheduler_->preferred_locations(cached, 0),
              ElementsAre(task::Location{"A", "A-exec"}));
  EXPECT_EQ(scheduler_->preferred_locations(cached, 0).size(), 1u);
  EXPECT_EQ(blocks_.lookups, 1);
  blocks_.cached.clear();
  lose_executor("A");
  EXPECT_THAT(scheduler_->preferred_locations(cached, 0), IsEmpty());
  EXPECT_EQ(blocks_.lookups, 2);
}

TEST_F(ExecutorLoss, C5_4_LostCachedPartitionsAreComputedAgain) {
  const auto dependency = shuffle(node(1), 1);
  const auto cached = node(1, {dependency});
  cached->set_level(StorageLevel::memory);
  submit(node(1, {one_to_one(cached)}), {0});
  complete_maps(0, {"A"});
  end(1, 0, value("1"));
  blocks_.cached[{cached->id(), 0}] = {{"A", "A-exec"}};
  submit(node(1, {one_to_one(cached)}), {0});
  ASSERT_EQ(submitter_.sets.size(), 3u);
  end(2, 0, value("2"));
  blocks_.cached.clear();
  lose_executor("A");
  const auto listener = submit(node(1, {one_to_one(cached)}), {0});
  EXPECT_EQ(set(3).kind, task::TaskKind::shuffle_map);  // its files went with the executor
  complete_maps(3, {"B"});
  end(4, 0, value("3"));
  EXPECT_TRUE(listener->succeeded);
}

TEST_F(ExecutorLoss, C5_5_S004_074_AddedExecutorIsTrustedAgain) {
  const auto dependency = shuffle(node(1), 1);
  submit(node(1, {dependency}), {0});
  lose_executor("A");
  scheduler_->executor_added("A-exec", "A");
  complete_maps(0, {"A"});
  EXPECT_THAT(output_hosts(dependency), ElementsAre("A"));
  ASSERT_EQ(submitter_.sets.size(), 2u);
  end(1, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
  EXPECT_THAT(blocks_.removed, ElementsAre("A-exec", "A-exec"));
  cancel(0);
}

TEST_F(ExecutorLoss, C5_6_WorkerRemovedTakesTheHostsOutputs) {
  const auto dependency = shuffle(node(3), 1);
  submit(node(1, {dependency}), {0});
  end(0, 0, map_output("A", 1));
  task::EndReason neighbour = map_output("A", 1);
  std::get<task::Success>(neighbour).result->map_status->location.executor_id = "A-other";
  end(0, 1, neighbour);
  end(0, 2, map_output("B", 1));
  const uint64_t epoch = tracker_->epoch();
  scheduler_->worker_removed("worker-1", "A", "gone");
  loop_.run();
  EXPECT_THAT(output_hosts(dependency), ElementsAre("", "", "B"));
  EXPECT_GT(tracker_->epoch(), epoch);
  EXPECT_THAT(blocks_.removed, IsEmpty());
  cancel(0);
}

TEST_F(ExecutorLoss, OutputsLostWhileTheStageRunsGiveANewAttempt) {
  // Without Resubmitted (another reason than the task set's own): what is missing at the end is run
  // again.
  const auto dependency = shuffle(node(2), 1);
  const auto listener = submit(node(1, {dependency}), {0});
  end(0, 0, map_output("A", 1));
  lose_executor("A");
  end(0, 1, map_output("B", 1));
  ASSERT_EQ(submitter_.sets.size(), 2u);
  EXPECT_EQ(set(1).stage_attempt, 1);
  EXPECT_THAT(partitions_of(1), ElementsAre(0));
  complete_maps(1, {"C"});
  end(2, 0, value("42"));
  EXPECT_TRUE(listener->succeeded);
}

}  // namespace
}  // namespace tenon::dag::testing
