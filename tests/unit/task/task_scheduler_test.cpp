#include "task/task_scheduler.hpp"

#include <gmock/gmock.h>

#include "unit/task/support.hpp"

namespace tenon::task::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(TaskSchedulerTest, T055_ANewerAttemptMakesOlderOnesZombie) {
  submit(make_set(1, 0, 0));
  EXPECT_FALSE(manager(0, 0)->zombie());
  offer("exec1", "host1", 1);
  submit(make_set(1, 0, 1));
  EXPECT_TRUE(manager(0, 0)->zombie());
  EXPECT_FALSE(manager(0, 1)->zombie());
  offer("exec1", "host1", 1);
  submit(make_set(1, 0, 2));
  EXPECT_TRUE(manager(0, 0)->zombie());
  EXPECT_TRUE(manager(0, 1)->zombie());
  EXPECT_FALSE(manager(0, 2)->zombie());
}

TEST_F(TaskSchedulerTest, S004_105_TwoSetsOfOneAttemptAreAnError) {
  submit(make_set(1, 7, 0));
  try {
    submit(make_set(1, 7, 0));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), StartsWith("more than one active taskSet for stage 7"));
  }
  EXPECT_EQ(scheduler().sizes().task_sets, 1U);
}

TEST_F(TaskSchedulerTest, T057_AnOldAttemptThatFinishesKeepsTheNewOne) {
  submit(make_set(10, 0, 0));
  const auto old = offer("exec1", "host1", 1);
  manager()->make_zombie();
  submit(make_set(10, 0, 1));
  finish(old[0]);
  EXPECT_EQ(manager(0, 0), nullptr);
  const auto tasks = offer("exec1", "host1", 10);
  ASSERT_EQ(tasks.size(), 10U);
  for (const Launch& task : tasks) EXPECT_THAT(task.name, HasSubstr("in stage 0.1"));
}

TEST_F(TaskSchedulerTest, T061_CancelTasks) {
  submit(make_set(10));
  const auto tasks = offer("exec1", "host1", 2);
  ASSERT_EQ(tasks.size(), 2U);
  scheduler().cancel_tasks(0, "test message");
  ASSERT_EQ(backend.kills.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(backend.kills[i].task_id, tasks[i].task_id);
    EXPECT_EQ(backend.kills[i].executor_id, "exec1");
    EXPECT_EQ(backend.kills[i].reason, "Stage cancelled: test message");
    EXPECT_FALSE(backend.kills[i].if_queued);
  }
  ASSERT_NE(manager(), nullptr);
  EXPECT_TRUE(manager()->zombie());
  killed(tasks[0]);
  EXPECT_EQ(manager()->running(), 1);
  killed(tasks[1]);
  EXPECT_EQ(manager(), nullptr);
  EXPECT_THAT(dag.end_kinds(), ElementsAre("TaskKilled", "TaskKilled"));
  expect_nothing_kept();
}

TEST_F(TaskSchedulerTest, C7_10_ASetWithoutRunningAttemptsIsRemovedAtOnce) {
  submit(make_set(3));
  scheduler().cancel_tasks(0, "no reason");
  EXPECT_EQ(dag.failed.size(), 1U);
  EXPECT_EQ(backend.kills.size(), 0U);
  expect_nothing_kept();
  scheduler().cancel_tasks(0, "again");
  scheduler().kill_all_task_attempts(99, "unknown");
  EXPECT_EQ(dag.failed.size(), 1U);
}

TEST_F(TaskSchedulerTest, T062_KillAllTaskAttempts) {
  submit(make_set(10));
  const auto tasks = offer("exec1", "host1", 2);
  scheduler().kill_all_task_attempts(0, "test message");
  ASSERT_EQ(backend.kills.size(), 2U);
  EXPECT_EQ(backend.kills[0].reason, "Stage cancelled: test message");
  EXPECT_EQ(backend.kills[1].reason, "Stage cancelled: test message");
  killed(tasks[0]);
  killed(tasks[1]);
  ASSERT_NE(manager(), nullptr);
  EXPECT_FALSE(manager()->zombie());
  EXPECT_EQ(manager()->running(), 0);
  EXPECT_EQ(dag.failed.size(), 0U);
  // They run again, and it counted for nothing.
  EXPECT_EQ(offer("exec1", "host1", 10).size(), 10U);
}

TEST_F(TaskSchedulerTest, C2_12_ABackendThatCannotKillLeavesTheSetsAlone) {
  submit(make_set(2));
  offer("exec1", "host1", 1);
  backend.throw_on_kill = true;
  EXPECT_THROW(scheduler().cancel_tasks(0, "x"), Error);
  EXPECT_THROW(scheduler().kill_all_task_attempts(0, "x"), Error);
  EXPECT_FALSE(manager()->zombie());
  EXPECT_EQ(dag.failed.size(), 0U);
  EXPECT_EQ(offer("exec1", "host1", 1).size(), 1U);
}

TEST_F(TaskSchedulerTest, C2_14_InterruptOnCancelReachesTheBackend) {
  auto set = make_set(1);
  set->properties =
      std::make_shared<const Properties>(Properties{{"tenon.job.interruptOnCancel", "true"}});
  submit(set).submit(make_set(1, 1));
  offer("exec1", "host1", 2);
  scheduler().cancel_tasks(0, "x");
  scheduler().cancel_tasks(1, "x");
  ASSERT_EQ(backend.kills.size(), 2U);
  EXPECT_TRUE(backend.kills[0].interrupt);
  EXPECT_FALSE(backend.kills[1].interrupt);
}

TEST_F(TaskSchedulerTest, T068_UnsupportedSchedulingMode) {
  for (const std::string mode : {"NONE", "", "FIFOO"}) {
    settings.mode = mode;
    try {
      scheduler();
      FAIL() << mode;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.message(), HasSubstr("Unsupported tenon.scheduler.mode: " + mode + " ("));
    }
  }
}

TEST_F(TaskSchedulerTest, S004_112_ModesInAnyCase) {
  EXPECT_EQ(Settings{}.mode, "FIFO");
  EXPECT_EQ(scheduler_mode("fifo"), SchedulingMode::fifo);
  EXPECT_EQ(scheduler_mode(" Fair "), SchedulingMode::fair);
  settings.mode = "fair";
  EXPECT_EQ(scheduler().root_pool().mode(), SchedulingMode::fair);
}

TEST_F(TaskSchedulerTest, C7_1_SubmitEndsWithOneRevival) {
  submit(make_set(1, 0));
  EXPECT_EQ(backend.revived, 0);  // not on the caller's stack
  loop.run();
  EXPECT_EQ(backend.revived, 1);
  submit(make_set(1, 1)).submit(make_set(1, 2));
  loop.run();
  EXPECT_EQ(backend.revived, 2);  // one for what came in one turn
}

TEST_F(TaskSchedulerTest, C7_11_KillTaskAttempt) {
  settings.max_task_failures = 1;
  submit(make_set(1));
  auto tasks = offer("exec1", "host1", 1);
  EXPECT_FALSE(scheduler().kill_task_attempt(99, "no"));
  EXPECT_TRUE(scheduler().kill_task_attempt(tasks[0].task_id, "by hand"));
  ASSERT_EQ(backend.kills.size(), 1U);
  EXPECT_EQ(backend.kills[0].reason, "by hand");
  killed(tasks[0], "by hand");
  EXPECT_EQ(dag.failed.size(), 0U);
  tasks = offer("exec1", "host1", 1);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].attempt, 1U);
  EXPECT_FALSE(scheduler().kill_task_attempt(0, "ended"));
}

TEST_F(TaskSchedulerTest, C7_14_DefaultParallelism) {
  EXPECT_EQ(scheduler().default_parallelism(), 2);
  Executor executor;
  executor.id = "exec1";
  executor.host = "host1";
  executor.cores = 6;
  scheduler().executor_added(executor);
  EXPECT_EQ(scheduler().default_parallelism(), 6);
  Registration registration;
  registration.default_parallelism = 3;
  scheduler().registered(registration);
  EXPECT_EQ(scheduler().default_parallelism(), 3);
}

TEST_F(TaskSchedulerTest, C7_14_TheSettingWins) {
  settings.default_parallelism = 17;
  Registration registration;
  registration.default_parallelism = 3;
  scheduler().registered(registration);
  EXPECT_EQ(scheduler().default_parallelism(), 17);
}

TEST_F(TaskSchedulerTest, S004_102_123_LogLinesOfASetAndOfALaunch) {
  submit(make_set(1));
  EXPECT_EQ(logged(LogLevel::info, "Adding task set TaskSet_0.0 with 1 tasks"), 1);  // S004-102
  offer("exec1", "host1", 1);
  EXPECT_EQ(logged(LogLevel::debug,
                   "Launching task 0.0 in stage 0.0 (TID 0) on executor id: exec1 "
                   "hostname: host1"),
            1);
}

TEST_F(TaskSchedulerTest, AfterStopNoTimerIsLeft) {
  submit(make_set(1));
  loop.run();
  EXPECT_GT(loop.timers(), 0U);
  scheduler().stop();
  EXPECT_EQ(loop.timers(), 0U);
}

TEST_F(TaskSchedulerTest, C3_11_APartitionThatAnOlderAttemptFinished) {
  submit(make_set(3));
  const auto tasks = offer("exec1", "host1", 1);
  scheduler().partition_completed(0, 0);  // runs
  scheduler().partition_completed(0, 1);  // waits
  scheduler().partition_completed(0, 1);
  scheduler().partition_completed(0, 77);
  EXPECT_EQ(manager()->pending(), 1U);
  finish(tasks[0]);
  const auto last = offer("exec1", "host1", 5);
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(dag.started.back().partition, 2);
  scheduler().partition_completed(0, 2);
  EXPECT_TRUE(manager()->zombie());
  finish(last[0]);
  EXPECT_THAT(dag.end_kinds(), ElementsAre("Success", "Success"));
  expect_nothing_kept();
}

TEST_F(TaskSchedulerTest, AnEmptySetLeavesNothing) {
  submit(make_set(0));
  expect_nothing_kept();
}

TEST_F(TaskSchedulerTest, C24_2_WhatRunsAtTheStopEndsAsKilled) {
  submit(make_set(2)).submit(make_set(1, 1));
  const auto tasks = offer("exec1", "host1", 2);
  ASSERT_EQ(tasks.size(), 2U);
  scheduler().stop();
  EXPECT_THAT(dag.end_kinds(), testing::ElementsAre("TaskKilled", "TaskKilled"));
  EXPECT_EQ(dag.ended[0].info.status, TaskStatus::killed);
  EXPECT_TRUE(dag.failed.empty());
  finish(tasks[0]);
  EXPECT_EQ(scheduler().ignored_statuses(), 0U);
  EXPECT_TRUE(offer("exec1", "host1", 2).empty());
  scheduler().stop();
  EXPECT_EQ(dag.ended.size(), 2U);
  EXPECT_EQ(loop.timers(), 0U);
  expect_nothing_kept();
}

// C11.3: the task is over on its executor, which may run another; its end follows the fetch.
TEST_F(TaskSchedulerTest, C11_3_AResultThatIsBeingFetchedTakesNoCore) {
  Executor one_core;
  one_core.id = "exec1";
  one_core.host = "host1";
  one_core.cores = 1;
  scheduler().executor_added(one_core);
  loop.advance(std::chrono::seconds(1));
  submit(make_set(2));
  const auto first = offer("exec1", "host1", 1);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_FALSE(scheduler().getting_result(first[0].task_id, "other"));
  EXPECT_FALSE(scheduler().getting_result(4711, "exec1"));
  EXPECT_TRUE(scheduler().getting_result(first[0].task_id, "exec1"));
  EXPECT_FALSE(scheduler().getting_result(first[0].task_id, "exec1")) << "a repeated status";
  const auto second = offer("exec1", "host1", 1);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_THAT(scheduler().check_invariants(), testing::IsEmpty());
  finish(first[0]);
  finish(second[0]);
  const std::string id = std::to_string(first[0].task_id);
  EXPECT_EQ(std::ranges::count(dag.log, "getting " + id), 1);
  EXPECT_LT(std::ranges::find(dag.log, "getting " + id), std::ranges::find(dag.log, "end " + id));
  EXPECT_GT(dag.ended[0].info.getting_result_ms, 0);
  EXPECT_EQ(dag.ended[1].info.getting_result_ms, 0);
  expect_nothing_kept();
}

}  // namespace
}  // namespace tenon::task::test
