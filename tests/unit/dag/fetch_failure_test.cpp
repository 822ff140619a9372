// Fetch failures and what they make run again (C4).
#include <algorithm>

#include "unit/dag/harness.hpp"

namespace tenon::dag::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using FetchFailure = DagTest;

TEST_F(FetchFailure, T006_FetchFailureThenRecovery) {
  const auto dependency = shuffle(node(2), 2);
  const auto listener = submit(node(2, {dependency}), {0, 1});
  complete_maps(0, {"A", "B"});
  complete(1, {value("42"), fetch_failure("A", dependency->shuffle_id, 0, 1)});
  EXPECT_THAT(blocks_.removed, ElementsAre("A-exec"));
  EXPECT_EQ(submitter_.sets.size(), 2u);  // not before the delay
  loop_.advance(199ms);
  EXPECT_EQ(submitter_.sets.size(), 2u);
  loop_.advance(1ms);
  ASSERT_EQ(submitter_.sets.size(), 3u);
  EXPECT_EQ(set(2).stage_id, 0);
  EXPECT_EQ(set(2).stage_attempt, 1);
  EXPECT_THAT(partitions_of(2), ElementsAre(0));
  EXPECT_GT(set(2).epoch, set(1).epoch);
  complete_maps(2, {"A"});
  EXPECT_THAT(output_hosts(dependency), ElementsAre("A", "B"));
  ASSERT_EQ(submitter_.sets.size(), 4u);
  EXPECT_THAT(partitions_of(3), ElementsAre(1));
  EXPECT_EQ(set(3).tasks[0].output, 1);
  EXPECT_EQ(set(3).stage_attempt, 1);
  end(3, 0, value("43"));
  EXPECT_THAT(listener->results, ElementsAre(Pair(0, "42"), Pair(1, "43")));
  EXPECT_THAT(blocks_.removed, ElementsAre("A-exec"));
  EXPECT_TRUE(listener->succeeded);
  expect_all_empty();
}

TEST_F(FetchFailure, T007_SeveralFetchFailuresOfOneAttempt) {
  const auto dependency = shuffle(node(2), 2);
  submit(node(2, {dependency}), {0, 1});
  complete_maps(0, {"A", "B"});
  end(1, 0, fetch_failure("A", dependency->shuffle_id, 0, 0, "first message"));
  EXPECT_THAT(failed_stages(), ElementsAre(1));
  end(1, 1, fetch_failure("A", dependency->shuffle_id, 0, 1, "second message"));
  EXPECT_THAT(failed_stages(), ElementsAre(1));
  EXPECT_THAT(sink_.of<event::StageCompleted>().back().stage->failure, HasSubstr("first message"));
  EXPECT_EQ(sink_.of<event::TaskEnd>().size(), 4u);
  EXPECT_EQ(scheduler_->sizes().timers, 1u);
  cancel(0);
}

TEST_F(FetchFailure, T008_OneFetchFailureDoesNotAbort) {
  const auto dependency = shuffle(node(8), 8);
  const auto listener = submit(node(8, {dependency}), {0, 1, 2, 3, 4, 5, 6, 7});
  complete_maps(0, {"A", "B", "C", "D", "E", "F", "G", "H"});
  for (size_t i = 0; i < 8; ++i) {
    const auto map = static_cast<int32_t>(i);
    end(1, i,
        fetch_failure(std::string(1, static_cast<char>('A' + i)), dependency->shuffle_id, map,
                      map));
  }
  EXPECT_EQ(listener->ends, 0);
  resubmit();
  ASSERT_EQ(submitter_.sets.size(), 3u);
  EXPECT_EQ(set(2).tasks.size(), 8u);
  complete_maps(2, {"I", "J"});
  ASSERT_EQ(submitter_.sets.size(), 4u);
  EXPECT_EQ(set(3).tasks.size(), 8u);
  for (size_t i = 0; i < 8; ++i) end(3, i, value("42"));
  EXPECT_TRUE(listener->succeeded);
  EXPECT_EQ(listener->results.size(), 8u);
}

TEST_F(FetchFailure, T009_FourConsecutiveFailedAttemptsAbort) {
  const auto dependency = shuffle(node(2), 2);
  const auto listener = submit(node(2, {dependency}), {0, 1});
  for (int32_t attempt = 0; attempt < 4; ++attempt) {
    const size_t map = static_cast<size_t>(attempt) * 2, reduce = map + 1;
    ASSERT_EQ(submitter_.sets.size(), reduce);
    complete_maps(map, {"A", "B"});
    ASSERT_EQ(set(reduce).stage_attempt, attempt);
    EXPECT_EQ(listener->ends, 0);
    end(reduce, 0, fetch_failure("A", dependency->shuffle_id, 0, 0, "the reason"));
    EXPECT_EQ(listener->ends, attempt == 3 ? 1 : 0);
    resubmit();
  }
  EXPECT_EQ(submitter_.sets.size(), 8u);
  EXPECT_THAT(listener->failure_text(), HasSubstr("ResultStage 1 () has failed the maximum"));
  EXPECT_THAT(listener->failure_text(), HasSubstr("allowable number of times: 4"));
  EXPECT_THAT(listener->failure_text(), HasSubstr("Most recent failure reason:\nthe reason"));
  expect_all_empty();
}

TEST_F(FetchFailure, T010_CountIsPerStage) {
  const auto first = shuffle(node(2), 2);
  const auto second = shuffle(node(2, {first}), 1);
  const auto listener = submit(node(1, {second}), {0});
  size_t next = 0;
  for (int i = 0; i < 2; ++i) {
    complete_maps(next++, {"A", "B"});
    ASSERT_EQ(set(next).stage_id, 1);
    end(next++, 0, fetch_failure("A", first->shuffle_id, 0, 0));
    resubmit();
  }
  complete_maps(next++, {"A", "B"});
  complete_maps(next++, {"A", "B"});
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(set(next).stage_id, 2);
    end(next++, 0, fetch_failure("A", second->shuffle_id, 0, 0));
    resubmit();
    EXPECT_EQ(listener->ends, 0);
    ASSERT_EQ(set(next).stage_id, 0);  // A took the first shuffle's output too
    complete_maps(next++, {"A", "B"});
    ASSERT_EQ(set(next).stage_id, 1);
    complete_maps(next++, {"A", "B"});
  }
  end(next, 0, value("42"));
  EXPECT_THAT(listener->results, ElementsAre(Pair(0, "42")));
  EXPECT_TRUE(listener->succeeded);
}

TEST_F(FetchFailure, C3_14_SuccessClearsTheCount) {
  // The map stage in the middle fails three times, succeeds, and fails three times again.
  const auto first = shuffle(node(1), 1);
  const auto second = shuffle(node(1, {first}), 1);
  const auto listener = submit(node(1, {second}), {0});
  size_t next = 0;
  const auto fail_three_times = [&] {
    for (int i = 0; i < 3; ++i) {
      complete_maps(next++, {"A"});
      ASSERT_EQ(set(next).stage_id, 1);
      end(next++, 0, fetch_failure("A", first->shuffle_id, 0, 0));
      resubmit();
      ASSERT_EQ(listener->ends, 0);
    }
    complete_maps(next++, {"A"});
    complete_maps(next++, {"A"});
  };
  fail_three_times();
  ASSERT_EQ(set(next).stage_id, 2);
  end(next++, 0, fetch_failure("A", second->shuffle_id, 0, 0));
  resubmit();
  fail_three_times();
  ASSERT_EQ(set(next).stage_id, 2);
  end(next, 0, value("42"));
  EXPECT_TRUE(listener->succeeded);
}

TEST_F(FetchFailure, T013_ExtremelyLateFetchFailure) {
  const auto dependency = shuffle(node(2), 2);
  submit(node(2, {dependency}), {0, 1});
  complete_maps(0, {"A", "B"});
  end(1, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
  resubmit();
  complete_maps(2, {"A", "B"});
  ASSERT_EQ(set(3).stage_id, 1);
  ASSERT_EQ(set(3).stage_attempt, 1);
  end(1, 1, fetch_failure("B", dependency->shuffle_id, 1, 1));
  resubmit();
  EXPECT_EQ(submitter_.sets.size(), 4u);
  EXPECT_THAT(submitted_stages(), ElementsAre(Pair(0, 0), Pair(1, 0), Pair(0, 1), Pair(1, 1)));
  EXPECT_EQ(scheduler_->sizes().failed, 0u);
  EXPECT_THAT(output_hosts(dependency), ElementsAre("A", "B"));
  EXPECT_THAT(blocks_.removed, ElementsAre("A-exec"));
  complete(3, {value("1"), value("2")});
}

TEST_F(FetchFailure, C4_7_LateFailureWhileTheMapStageRunsAgain) {
  const auto dependency = shuffle(node(2), 2);
  const auto listener = submit(node(2, {dependency}), {0, 1});
  complete_maps(0, {"A", "B"});
  end(1, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
  resubmit();
  ASSERT_EQ(submitter_.sets.size(), 3u);  // the map stage runs, the reduce stage waits
  end(1, 1, fetch_failure("B", dependency->shuffle_id, 1, 1));
  resubmit();
  EXPECT_EQ(submitter_.sets.size(), 3u);  // no second attempt beside the running one
  complete_maps(2, {"C"});                // output 1 is missing now
  ASSERT_EQ(submitter_.sets.size(), 4u);
  EXPECT_EQ(set(3).stage_id, 0);
  EXPECT_EQ(set(3).stage_attempt, 2);
  EXPECT_THAT(partitions_of(3), ElementsAre(1));
  complete_maps(3, {"D"});
  ASSERT_EQ(set(4).stage_id, 1);
  complete(4, {value("1"), value("2")});
  EXPECT_TRUE(listener->succeeded);
}

TEST_F(FetchFailure, C4_3_FailuresInTheWindowShareOneResubmit) {
  const auto left = shuffle(node(1), 1), right = shuffle(node(1), 1);
  submit(node(1, {left}), {0});
  submit(node(1, {right}), {0});
  complete_maps(0, {"A"});
  complete_maps(1, {"B"});
  end(2, 0, fetch_failure("A", left->shuffle_id, 0, 0));
  loop_.advance(100ms);
  end(3, 0, fetch_failure("B", right->shuffle_id, 0, 0));
  EXPECT_EQ(loop_.timers(), 1u);
  loop_.advance(100ms);
  ASSERT_EQ(submitter_.sets.size(), 6u);
  EXPECT_EQ(set(4).priority, 0);  // C4.7: by smallest first job
  EXPECT_EQ(set(5).priority, 1);
  EXPECT_EQ(loop_.timers(), 0u);
  post(AllJobsCancelled{});
}

TEST_F(FetchFailure, C4_3_OnlyTheOutputAtThatAddressIsUnregistered) {
  Settings settings;
  settings.external_shuffle_service = true;
  make_scheduler(settings);
  const auto dependency = shuffle(node(2), 1);
  submit(node(1, {dependency}), {0});
  complete_maps(0, {"A", "B"});
  const uint64_t epoch = tracker_->epoch();
  end(1, 0, fetch_failure("C", dependency->shuffle_id, 0, 0));
  EXPECT_THAT(output_hosts(dependency), ElementsAre("A", "B"));
  EXPECT_GT(tracker_->epoch(), epoch);
  cancel(0);
}

TEST_F(FetchFailure, C4_5_MetadataFailureTouchesNoExecutor) {
  const auto dependency = shuffle(node(2), 1);
  const auto listener = submit(node(1, {dependency}), {0});
  complete_maps(0, {"A", "B"});
  end(1, 0, task::FetchFailed{std::nullopt, dependency->shuffle_id, -1, -1, 0, "no location"});
  EXPECT_THAT(blocks_.removed, IsEmpty());
  EXPECT_THAT(output_hosts(dependency), ElementsAre("A", "B"));
  resubmit();
  ASSERT_EQ(submitter_.sets.size(), 3u);  // nothing is missing: the reduce stage itself
  EXPECT_EQ(set(2).stage_id, 1);
  end(2, 0, value("42"));
  EXPECT_TRUE(listener->succeeded);
}

TEST_F(FetchFailure, C4_5_OutputsOfAllShufflesGoOncePerEpoch) {
  const auto left = shuffle(node(2), 1), right = shuffle(node(2), 1);
  submit(node(1, {left, right}), {0});
  complete_maps(0, {"A", "B"});
  complete_maps(1, {"A", "B"});
  end(2, 0, fetch_failure("A", left->shuffle_id, 0, 0));
  EXPECT_THAT(output_hosts(left), ElementsAre("", "B"));
  EXPECT_THAT(output_hosts(right), ElementsAre("", "B"));
  end(2, 0, fetch_failure("A", right->shuffle_id, 0, 0));
  EXPECT_THAT(blocks_.removed, ElementsAre("A-exec"));
  cancel(0);
}

TEST_F(FetchFailure, C4_6_UnregisterOutputsOfTheWholeHost) {
  for (const bool on : {false, true}) {
    Settings settings;
    settings.external_shuffle_service = true;
    settings.unregister_output_on_host = on;
    make_scheduler(settings);
    const auto dependency = shuffle(node(3), 1);
    const size_t first = submitter_.sets.size();
    submit(node(1, {dependency}), {0});
    end(first, 0, map_output("A", 1));
    task::EndReason other = map_output("A", 1);
    std::get<task::Success>(other).result->map_status->location.executor_id = "A-other";
    end(first, 1, other);
    end(first, 2, map_output("B", 1));
    end(first + 1, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
    EXPECT_THAT(output_hosts(dependency), ElementsAre("", on ? "" : "A", "B"));
    post(AllJobsCancelled{});
  }
}

TEST_F(FetchFailure, T016_RecursiveFailure) {
  const auto first = shuffle(node(2), 2);
  const auto second = shuffle(node(2, {first}), 1);
  const auto listener = submit(node(1, {second}), {0});
  complete_maps(0, {"A", "B"});
  complete_maps(1, {"A", "C"});
  end(2, 0, fetch_failure("A", second->shuffle_id, 0, 0));
  resubmit();
  ASSERT_EQ(submitter_.sets.size(), 4u);
  EXPECT_EQ(set(3).stage_id, 0);
  EXPECT_THAT(partitions_of(3), ElementsAre(0));
  complete_maps(3, {"A"});
  EXPECT_EQ(set(4).stage_id, 1);
  EXPECT_THAT(partitions_of(4), ElementsAre(0));
  complete_maps(4, {"A"});
  EXPECT_EQ(set(5).stage_id, 2);
  end(5, 0, value("42"));
  EXPECT_THAT(listener->results, ElementsAre(Pair(0, "42")));
  expect_all_empty();
}

TEST_F(FetchFailure, T017_CachedPostShuffleDataShortensRecovery) {
  const auto first_node = node(2);
  const auto first = shuffle(first_node, 2);
  const auto second_node = node(2, {first});
  second_node->set_level(StorageLevel::memory);
  const auto second = shuffle(second_node, 1);
  const auto listener = submit(node(1, {second}), {0});
  blocks_.cached[{second_node->id(), 0}] = {{"D", "D-exec"}};
  blocks_.cached[{second_node->id(), 1}] = {{"C", "C-exec"}};
  complete_maps(0, {"A", "B"});
  complete_maps(1, {"A", "B"});
  end(2, 0, fetch_failure("A", second->shuffle_id, 0, 0));
  resubmit();
  ASSERT_EQ(submitter_.sets.size(), 4u);
  EXPECT_EQ(set(3).stage_id, 1);
  ASSERT_EQ(set(3).tasks.size(), 1u);
  EXPECT_THAT(set(3).tasks[0].preferred, ElementsAre(task::Location{"D", "D-exec"}));
  complete_maps(3, {"D"});
  end(4, 0, value("42"));
  EXPECT_THAT(listener->results, ElementsAre(Pair(0, "42")));
}

TEST_F(FetchFailure, T018_ReusedShuffleWithFetchFailure) {
  const auto dependency = shuffle(node(2), 2);
  const auto first = submit(node(2, {dependency}), {0, 1});
  complete_maps(0, {"A", "B"});
  complete(1, {value("1"), value("2")});
  EXPECT_TRUE(first->succeeded);
  const auto second = submit(node(2, {dependency}), {0, 1});
  ASSERT_EQ(submitter_.sets.size(), 3u);
  EXPECT_EQ(set(2).stage_id, 3);
  end(2, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
  resubmit();
  ASSERT_EQ(submitter_.sets.size(), 4u);
  EXPECT_EQ(set(3).stage_id, 2);
  EXPECT_EQ(set(3).stage_attempt, 1);
  complete_maps(3, {"A"});
  EXPECT_EQ(set(4).stage_id, 3);
  EXPECT_EQ(set(4).stage_attempt, 1);
  complete(4, {value("1"), value("2")});
  EXPECT_TRUE(second->succeeded);
  expect_all_empty();
}

TEST_F(FetchFailure, T019_FailureOfAStageUsedByTwoJobs) {
  const auto shared = shuffle(node(2), 2), own = shuffle(node(2), 2);
  const auto first = submit(node(2, {shared}), {0, 1});
  const auto second = submit(node(2, {shared, own}), {0, 1});
  ASSERT_EQ(submitter_.sets.size(), 2u);  // stage 0, stage 2
  EXPECT_EQ(set(1).stage_id, 2);
  fail_set(0, "the shared stage failed");
  EXPECT_EQ(first->failure_text(), "Job aborted due to stage failure: the shared stage failed");
  EXPECT_EQ(second->failure_text(), first->failure_text());
  EXPECT_THAT(submitter_.cancelled_stages(), UnorderedElementsAre(0, 2));
  EXPECT_THAT(failed_stages(), UnorderedElementsAre(0, 2));
  EXPECT_THAT(completed_stages(), UnorderedElementsAre(0, 2));
  expect_all_empty();
}

TEST_F(FetchFailure, T024_ZombieCompletionsHelp) {
  const auto first = shuffle(node(2), 2);
  const auto second = shuffle(node(4, {first}), 1);
  submit(node(1, {second}), {0});
  complete_maps(0, {"A", "B"});
  end(1, 0, map_output("C", 1));
  end(1, 1, fetch_failure("A", first->shuffle_id, 0, 1));
  resubmit();
  complete_maps(2, {"A"});
  ASSERT_EQ(set(3).stage_id, 1);
  EXPECT_EQ(set(3).stage_attempt, 1);
  EXPECT_THAT(partitions_of(3), ElementsAre(1, 2, 3));
  end(3, 0, map_output("D", 1));
  EXPECT_THAT(submitter_.completed, IsEmpty());
  end(1, 2, map_output("D", 1));
  end(1, 3, map_output("D", 1));
  EXPECT_THAT(submitter_.completed, ElementsAre(Pair(1, 2), Pair(1, 3)));
  ASSERT_EQ(submitter_.sets.size(), 5u);
  EXPECT_EQ(set(4).kind, task::TaskKind::result);
  end(4, 0, value("42"));
}

TEST_F(FetchFailure, C3_11_ResultOfAnOlderAttemptCountsAndIsTold) {
  const auto dependency = shuffle(node(1), 2);
  const auto listener = submit(node(2, {dependency}), {1, 0});
  complete_maps(0, {"A"});
  end(1, 0, fetch_failure("A", dependency->shuffle_id, 0, 1));
  resubmit();
  complete_maps(2, {"B"});
  ASSERT_EQ(set(3).tasks.size(), 2u);
  end(1, 1, value("old"));
  EXPECT_THAT(submitter_.completed, ElementsAre(Pair(1, 0)));  // the partition, not the position
  end(3, 0, value("new"));
  EXPECT_THAT(listener->results, ElementsAre(Pair(0, "new"), Pair(1, "old")));
  EXPECT_TRUE(listener->succeeded);
}

TEST_F(FetchFailure, C3_11_RepeatedPartitionsAreNotTold) {
  const auto dependency = shuffle(node(1), 1);
  const auto listener = submit(node(1, {dependency}), {0, 0});
  complete_maps(0, {"A"});
  end(1, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
  resubmit();
  complete_maps(2, {"B"});
  end(1, 1, value("old"));
  EXPECT_THAT(submitter_.completed, IsEmpty());
  end(3, 0, value("new"));
  EXPECT_TRUE(listener->succeeded);
}

TEST_F(FetchFailure, T041_SpeculativeCopyFetchFailsOriginalSucceeds) {
  const auto dependency = shuffle(node(2), 2);
  const auto listener = submit(node(2, {dependency}), {0, 1});
  complete_maps(0, {"A", "B"});
  end(1, 0, value("0"));
  end(1, 1, fetch_failure("A", dependency->shuffle_id, 0, 1));  // of the copy
  loop_.advance(300ms);
  ASSERT_EQ(submitter_.sets.size(), 3u);
  EXPECT_EQ(set(2).stage_id, 0);
  end(1, 1, value("1"));  // of the original
  EXPECT_TRUE(listener->succeeded);
  EXPECT_THAT(completed_stages(), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(scheduler_->active_jobs(), IsEmpty());
  EXPECT_THAT(submitter_.cancelled_stages(), ElementsAre(0));
}

TEST_F(FetchFailure, T041_OriginalSucceedsBeforeTheResubmit) {
  const auto dependency = shuffle(node(2), 2);
  const auto listener = submit(node(2, {dependency}), {0, 1});
  complete_maps(0, {"A", "B"});
  end(1, 0, value("0"));
  end(1, 1, fetch_failure("A", dependency->shuffle_id, 0, 1));
  end(1, 1, value("1"));
  EXPECT_TRUE(listener->succeeded);
  expect_all_empty();
  EXPECT_EQ(loop_.timers(), 0u);
  resubmit();
  EXPECT_EQ(submitter_.sets.size(), 2u);
}

TEST_F(FetchFailure, T042_TotalAttemptLimit) {
  Settings settings;
  settings.max_consecutive_stage_attempts = 2;
  settings.max_stage_attempts = 2;
  make_scheduler(settings);
  const auto dependency = shuffle(node(1), 1);
  const auto listener = submit(node(1, {dependency}), {0});
  lose_executor("A");
  complete_maps(0, {"A"});  // too late: lost with its executor
  ASSERT_EQ(submitter_.sets.size(), 2u);
  EXPECT_EQ(set(1).stage_attempt, 1);
  EXPECT_EQ(listener->ends, 0);
  lose_executor("B");
  complete_maps(1, {"B"});
  EXPECT_EQ(submitter_.sets.size(), 2u);
  EXPECT_THAT(listener->failure_text(), HasSubstr("maximum allowable number of times: 2"));
  EXPECT_THAT(listener->failure_text(), HasSubstr("tenon.stage.maxAttempts"));
  EXPECT_THAT(listener->failure_text(), HasSubstr("tenon.stage.maxConsecutiveAttempts"));
  expect_all_empty();
}

TEST_F(FetchFailure, C3_3_TheLargerOfBothLimitsCounts) {
  Settings settings;
  settings.max_stage_attempts = 2;  // consecutive: 4
  make_scheduler(settings);
  const auto listener = submit(node(1, {shuffle(node(1), 1)}), {0});
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(listener->ends, 0);
    const std::string host(1, static_cast<char>('A' + i));
    lose_executor(host);
    complete_maps(i, {host});
  }
  EXPECT_EQ(submitter_.sets.size(), 4u);
  EXPECT_THAT(listener->failure_text(), HasSubstr("number of times: 4"));
}

TEST_F(FetchFailure, T044_PersistentFetchFailureThenHealthyJobs) {
  size_t next = 0;
  for (int job = 0; job < 2; ++job) {
    const auto dependency = shuffle(node(1), 1);
    const auto listener = submit(node(1, {dependency}), {0});
    for (int i = 0; listener->ends == 0; ++i) {
      ASSERT_LT(i, 4);
      complete_maps(next++, {"A"});
      end(next++, 0, fetch_failure("A", dependency->shuffle_id, 0, 0, "FetchFailed: always"));
      loop_.advance(2500ms);  // four attempts within 10 s
    }
    EXPECT_THAT(listener->failure_text(), HasSubstr("FetchFailed: always"));
    expect_all_empty();
  }
  const auto dependency = shuffle(node(1), 1);
  const auto listener = submit(node(1, {dependency}), {0});
  complete_maps(next++, {"A"});
  end(next++, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
  resubmit();
  complete_maps(next++, {"A"});
  end(next++, 0, value("42"));
  EXPECT_TRUE(listener->succeeded);
}

TEST_F(FetchFailure, C29_3_FailureOfAStageThatIsGoneIsIgnored) {
  const auto dependency = shuffle(node(1), 1);
  const auto listener = submit(node(1, {dependency}), {0});
  complete_maps(0, {"A"});
  cancel(0);
  end(1, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
  EXPECT_THAT(blocks_.removed, IsEmpty());
  EXPECT_EQ(listener->ends, 1);
  expect_all_empty();
}

TEST_F(FetchFailure, C29_3_FailureOfAShuffleOutsideTheJobFailsIt) {
  const auto listener = submit(node(1), {0});
  end(0, 0, fetch_failure("A", 77, 0, 0, "the block is gone"));
  EXPECT_THAT(listener->failure_text(),
              AllOf(HasSubstr("could not fetch shuffle 77, which none of the stages of its job"),
                    HasSubstr("the block is gone")));
  EXPECT_THAT(blocks_.removed, IsEmpty());
  EXPECT_EQ(sink_.of<event::TaskEnd>().at(0).reason, "FetchFailed");
  expect_all_empty();
}

TEST_F(FetchFailure, C4_3_JobEndEmptiesTheFailedSet) {
  const auto dependency = shuffle(node(1), 1);
  submit(node(1, {dependency}), {0});
  complete_maps(0, {"A"});
  end(1, 0, fetch_failure("A", dependency->shuffle_id, 0, 0));
  cancel(0);
  expect_all_empty();
  EXPECT_EQ(loop_.timers(), 0u);
  post(ResubmitFailedStages{});  // nothing left: nothing happens
  EXPECT_EQ(submitter_.sets.size(), 2u);
}

TEST_F(FetchFailure, S004_078_OtherFailuresAreTheTaskSchedulersBusiness) {
  const auto listener = submit(node(1), {0});
  task::ExceptionFailure exception;
  exception.type = "std::runtime_error";
  exception.message = "boom";
  end(0, 0, exception);
  end(0, 0, task::TaskKilled{"for fun", {}});
  end(0, 0, task::TaskCommitDenied{});
  end(0, 0, task::ExecutorLostFailure{"e", "gone", true});
  end(0, 0, task::TaskResultLost{});
  end(0, 0, task::UnknownReason{});
  end(0, 0, task::Resubmitted{});
  EXPECT_EQ(listener->ends, 0);
  EXPECT_EQ(submitter_.sets.size(), 1u);
  const auto ends = sink_.of<event::TaskEnd>();
  ASSERT_EQ(ends.size(), 7u);
  EXPECT_EQ(ends[0].reason, "ExceptionFailure");
  EXPECT_THAT(ends[0].detail, HasSubstr("boom"));
  EXPECT_EQ(ends[1].reason, "TaskKilled");
  end(0, 0, value("42"));
  EXPECT_TRUE(listener->succeeded);
}

}  // namespace
}  // namespace tenon::dag::testing
