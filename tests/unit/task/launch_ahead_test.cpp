// C29.12: short tasks are queued on executors beyond their free cores.
#include <gmock/gmock.h>

#include "unit/task/support.hpp"

namespace tenon::task::test {
namespace {

using testing::ElementsAre;
using LaunchAheadTest = TaskSchedulerTest;

constexpr int64_t kMs = 1'000'000;

TEST_F(LaunchAheadTest, C29_12_OnlyOnceAFinishedTaskHasShownThatTheyAreShort) {
  submit(make_set(100));
  const auto first = offer("exec1", "host1", 2, 8);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_FALSE(first[0].queued);
  finish(first[0], 2 * kMs);
  const auto next = offer("exec1", "host1", 1, 8);
  ASSERT_EQ(next.size(), 9U);
  EXPECT_FALSE(next[0].queued);
  for (size_t i = 1; i < 9; ++i) EXPECT_TRUE(next[i].queued);
  EXPECT_EQ(scheduler().sizes().queued, 8U);
  EXPECT_EQ(scheduler().running_on("exec1"), 2U);
}

TEST_F(LaunchAheadTest, C29_12_NotForTasksOverTheLimit) {
  submit(make_set(100));
  const auto first = offer("exec1", "host1", 2, 8);
  finish(first[0], 10 * kMs);
  EXPECT_EQ(offer("exec1", "host1", 1, 8).size(), 1U);
  finish(first[1], 0);  // the mean is what counts
  EXPECT_EQ(offer("exec1", "host1", 1, 8).size(), 5U);
}

// No more than runs in twice the limit.
TEST_F(LaunchAheadTest, C29_12_TheDepthGoesByTheMeasuredTime) {
  submit(make_set(100));
  finish(offer("exec1", "host1", 1, 64)[0], 4 * kMs);
  EXPECT_EQ(offer("exec1", "host1", 1, 64).size(), 1U + 5U);
  EXPECT_EQ(offer("exec1", "host1", 0, 64).size(), 0U);
  EXPECT_EQ(offer("exec2", "host2", 0, 64).size(), 5U);
}

TEST_F(LaunchAheadTest, C29_12_TheLimitIsASetting) {
  settings.launch_ahead_max_task_time = std::chrono::milliseconds(50);
  submit(make_set(100));
  finish(offer("exec1", "host1", 1, 8)[0], 11 * kMs);
  EXPECT_EQ(offer("exec1", "host1", 1, 8).size(), 9U);
}

TEST_F(LaunchAheadTest, C29_12_ZeroTurnsItOff) {
  settings.launch_ahead_max_task_time = std::chrono::milliseconds(0);
  submit(make_set(100));
  finish(offer("exec1", "host1", 1, 8)[0], 0);
  EXPECT_EQ(offer("exec1", "host1", 1, 8).size(), 1U);
}

TEST_F(LaunchAheadTest, C29_12_FreeCoresOfAllExecutorsComeFirst) {
  submit(make_set(4));
  finish(offer("exec1", "host1", 1, 8)[0]);
  const auto tasks = offer({offer_of("exec1", "host1", 1, 8), offer_of("exec2", "host2", 1, 8)});
  ASSERT_EQ(tasks.size(), 3U);
  int at_once = 0;
  for (const Launch& task : tasks) at_once += task.queued ? 0 : 1;
  EXPECT_EQ(at_once, 2);
}

TEST_F(LaunchAheadTest, C29_12_NoExecutorQueuesMoreThanItsShareOfWhatWaits) {
  submit(make_set(13));
  finish(offer({offer_of("exec1", "host1", 1, 64)})[0]);
  offer({offer_of("exec2", "host2", 1), offer_of("exec3", "host3", 1)});
  const auto tasks = offer("exec1", "host1", 1, 64);  // 10 wait, 3 executors
  EXPECT_EQ(tasks.size(), 1U + 3U);
}

TEST_F(LaunchAheadTest, C29_12_AQueuedTaskThatRunsLeavesTheQueue) {
  submit(make_set(3));
  finish(offer("exec1", "host1", 1, 8)[0]);
  const auto tasks = offer("exec1", "host1", 1, 8);
  ASSERT_EQ(tasks.size(), 2U);
  finish(tasks[0]);
  EXPECT_EQ(scheduler().sizes().queued, 1U);
  running(tasks[1]);
  EXPECT_EQ(scheduler().sizes().queued, 0U);
  EXPECT_EQ(scheduler().running_on("exec1"), 1U);
  finish(tasks[1]);
  expect_nothing_kept();
}

TEST_F(LaunchAheadTest, C29_12_AReturnedTaskWaitsAgainAndCountsForNothing) {
  settings.max_task_failures = 1;
  submit(make_set(3));
  finish(offer("exec1", "host1", 1, 8)[0]);
  const auto tasks = offer("exec1", "host1", 1, 8);
  status(tasks[1], TaskState::returned);
  EXPECT_EQ(dag.failed.size(), 0U);
  EXPECT_THAT(dag.end_kinds(), ElementsAre("Success", "TaskKilled"));
  const int before = backend.revived;
  loop.run();
  EXPECT_GT(backend.revived, before);
  const auto again = offer("exec2", "host2", 1);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].attempt, 1U);
  EXPECT_EQ(scheduler().sizes().queued, 0U);
}

TEST_F(LaunchAheadTest, C29_12_AnIdleExecutorGetsWhatAnotherHoldsQueued) {
  submit(make_set(6));
  finish(offer("exec1", "host1", 1, 8)[0]);
  const auto tasks = offer("exec1", "host1", 1, 8);
  ASSERT_EQ(tasks.size(), 5U);
  EXPECT_EQ(offer("exec2", "host2", 2).size(), 0U);
  ASSERT_EQ(backend.kills.size(), 2U);  // as many as it has cores, the last of the queue first
  EXPECT_EQ(backend.kills[0].task_id, tasks[4].task_id);
  EXPECT_EQ(backend.kills[1].task_id, tasks[3].task_id);
  EXPECT_TRUE(backend.kills[0].if_queued);
  EXPECT_FALSE(backend.kills[0].interrupt);
  // Asked once only; the next ones are asked for the next offer.
  offer("exec2", "host2", 1);
  ASSERT_EQ(backend.kills.size(), 3U);
  EXPECT_EQ(backend.kills[2].task_id, tasks[2].task_id);
  status(tasks[4], TaskState::returned);
  EXPECT_EQ(offer("exec2", "host2", 1).size(), 1U);
  // One that had started all the same runs to its end.
  running(tasks[3]);
  finish(tasks[3]);
  EXPECT_EQ(dag.failed.size(), 0U);
  EXPECT_EQ(scheduler().sizes().queued, 1U);
}

TEST_F(LaunchAheadTest, C29_12_NothingIsTakenFromTheOffersOwnQueueOrWhileTasksWait) {
  submit(make_set(10));
  finish(offer("exec1", "host1", 1, 2)[0]);
  ASSERT_EQ(offer("exec1", "host1", 1, 2).size(), 3U);
  ASSERT_EQ(offer("exec2", "host2", 3).size(), 3U);  // three more wait
  ASSERT_EQ(offer("exec2", "host2", 4).size(), 3U);  // and are all gone now, with a core left
  EXPECT_EQ(backend.kills.size(), 1U);
  backend.kills.clear();
  offer("exec1", "host1", 5);
  EXPECT_EQ(backend.kills.size(), 0U);
}

TEST_F(LaunchAheadTest, C29_12_TheLossOfAnExecutorWithAQueueCountsForNothing) {
  settings.max_task_failures = 1;
  submit(make_set(4));
  finish(offer("exec1", "host1", 1, 8)[0]);
  ASSERT_EQ(offer("exec1", "host1", 1, 8).size(), 3U);
  scheduler().executor_removed("exec1", loss(LossReason::Kind::exited, true));
  EXPECT_EQ(dag.failed.size(), 0U);
  EXPECT_EQ(scheduler().sizes().queued, 0U);
  EXPECT_EQ(manager()->pending(), 3U);
}

}  // namespace
}  // namespace tenon::task::test
