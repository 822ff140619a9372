// Statuses of tasks, and executors that come and go.
#include <gmock/gmock.h>

#include "task/task_scheduler.hpp"
#include "unit/task/support.hpp"

namespace tenon::task::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(TaskSchedulerTest, T059_StateOfALostExecutorIsCleaned) {
  submit(make_set(1));
  const auto tasks = offer("exec1", "host1", 1);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_TRUE(scheduler().is_executor_alive("exec1"));
  EXPECT_EQ(scheduler().executors_on_host("host1"), 1U);
  EXPECT_EQ(scheduler().running_on("exec1"), 1U);
  scheduler().executor_removed("exec1", loss(LossReason::Kind::exited, true));
  EXPECT_FALSE(scheduler().is_executor_alive("exec1"));
  EXPECT_EQ(scheduler().executors_on_host("host1"), 0U);
  EXPECT_EQ(scheduler().running_on("exec1"), 0U);
  EXPECT_EQ(scheduler().sizes().attempts, 0U);
  EXPECT_EQ(scheduler().sizes().running, 0U);
  EXPECT_EQ(scheduler().sizes().executors, 0U);
  EXPECT_THAT(dag.end_kinds(), ElementsAre("ExecutorLostFailure"));
  EXPECT_THAT(dag.lost, ElementsAre(StartsWith("exec1: ")));
}

TEST_F(TaskSchedulerTest, T060_TaskStateLostKillsTheExecutor) {
  submit(make_set(2));
  const auto tasks = offer("exec1", "host1", 2);
  ASSERT_EQ(tasks.size(), 2U);
  status(tasks[0], TaskState::lost);
  EXPECT_FALSE(scheduler().is_executor_alive("exec1"));
  EXPECT_EQ(offer("exec1", "host1", 2).size(), 0U);
  // Its reason does not come.
  loop.advance(settings.loss_reason_wait);
  EXPECT_EQ(scheduler().executors_on_host("host1"), 0U);
  EXPECT_EQ(scheduler().sizes().attempts, 0U);
  EXPECT_EQ(scheduler().sizes().running, 0U);
  EXPECT_EQ(scheduler().sizes().executors, 0U);
  EXPECT_THAT(dag.end_kinds(), ElementsAre("ExecutorLostFailure", "ExecutorLostFailure"));
  ASSERT_EQ(dag.lost.size(), 1U);
  EXPECT_THAT(dag.lost[0], HasSubstr("Task 0 was lost, so marking the executor as lost as well"));
  // Both run elsewhere.
  EXPECT_EQ(offer("exec2", "host2", 2).size(), 2U);
}

// The reason of a loss counts, whichever message comes first.
TEST_F(TaskSchedulerTest, C7_6_LostBeforeTheExecutorsRemovalTakesItsReason) {
  settings.max_task_failures = 1;
  submit(make_set(1));
  auto task = offer("exec1", "host1", 1);
  running(task[0]);
  status(task[0], TaskState::lost);
  scheduler().executor_removed("exec1", loss(LossReason::Kind::preempted, false));
  EXPECT_EQ(dag.failed.size(), 0U);
  EXPECT_EQ(dag.lost.size(), 1U);
  task = offer("exec2", "host2", 1);
  ASSERT_EQ(task.size(), 1U);
  running(task[0]);
  scheduler().executor_removed("exec2", loss(LossReason::Kind::exited, true));
  status(task[0], TaskState::lost);  // after the removal: nothing new
  EXPECT_EQ(dag.failed.size(), 1U);
  EXPECT_EQ(dag.ended.size(), 2U);
  loop.advance(std::chrono::seconds(1));
  EXPECT_EQ(dag.lost.size(), 2U);
  expect_nothing_kept();
}

TEST_F(TaskSchedulerTest, C7_6_UnknownAndRepeatedStatusesAreIgnored) {
  submit(make_set(1));
  const auto tasks = offer("exec1", "host1", 1);
  Launch strange = tasks[0];
  strange.task_id = 4711;
  finish(strange);
  strange = tasks[0];
  strange.executor_id = "exec9";
  finish(strange);
  EXPECT_EQ(dag.ended.size(), 0U);
  finish(tasks[0]);
  finish(tasks[0]);
  fail(tasks[0]);
  running(tasks[0]);
  EXPECT_THAT(dag.end_kinds(), ElementsAre("Success"));
  EXPECT_EQ(scheduler().ignored_statuses(), 5U);
  expect_nothing_kept();
}

// Statuses of attempts 0 and 1, late, twice and out of order: one result.
TEST_F(TaskSchedulerTest, UR11_StatusesLateTwiceAndOutOfOrder) {
  submit(make_set(1));
  const auto first = offer("exec1", "host1", 1);
  fail(first[0]);
  const auto second = offer("exec2", "host2", 1);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].attempt, 1U);
  EXPECT_NE(second[0].task_id, first[0].task_id);
  finish(first[0]);   // late, and its attempt has failed
  running(first[0]);  // out of order
  fail(first[0]);     // twice
  finish(second[0]);
  running(second[0]);
  fail(second[0]);
  finish(second[0]);
  EXPECT_THAT(dag.end_kinds(), ElementsAre("ExceptionFailure", "Success"));
  EXPECT_EQ(dag.failed.size(), 0U);
  EXPECT_EQ(scheduler().ignored_statuses(), 6U);
  expect_nothing_kept();
}

TEST_F(TaskSchedulerTest, C7_8_NoExceptionEscapes) {
  submit(make_set(2));
  backend.throw_on_launch = true;
  offer("exec1", "host1", 2);
  EXPECT_EQ(backend.launched.size(), 0U);
  // None was launched: both wait again, uncounted, and each start has its end.
  EXPECT_EQ(dag.started.size(), 2U);
  EXPECT_THAT(dag.end_kinds(), ElementsAre("TaskKilled", "TaskKilled"));
  EXPECT_EQ(scheduler().sizes().attempts, 0U);
  EXPECT_EQ(logged(LogLevel::error, "cannot launch"), 1);
  backend.throw_on_launch = false;
  backend.throw_on_revive = true;
  loop.advance(std::chrono::seconds(2));
  EXPECT_GE(logged(LogLevel::error, "no revival"), 2);
  const auto tasks = offer("exec1", "host1", 2);
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].payload, "with binary");  // the executor has seen nothing so far
  StatusUpdate odd{tasks[0].task_id, "exec1", TaskState::failed, Success{}};
  scheduler().status_update({odd});
  EXPECT_EQ(kind_name(dag.ended.back().reason), "UnknownReason");
}

TEST_F(TaskSchedulerTest, C9_10_NothingIsFailedUntilTheReasonComes) {
  submit(make_set(1));
  const auto tasks = offer("exec1", "host1", 1);
  running(tasks[0]);
  scheduler().executor_loss_pending("exec1", "connection closed");
  status(tasks[0], TaskState::lost);
  loop.advance(std::chrono::minutes(1));
  EXPECT_EQ(dag.ended.size(), 0U);
  scheduler().executor_removed("exec1", loss(LossReason::Kind::exited, true));
  EXPECT_EQ(dag.ended.size(), 1U);
  EXPECT_EQ(offer("exec2", "host2", 1).size(), 1U);
}

TEST_F(TaskSchedulerTest, AnExecutorOfTheSameIdReplacesTheOldOne) {
  submit(make_set(1));
  Executor executor;
  executor.id = "exec1";
  executor.host = "host1";
  scheduler().executor_added(executor);
  offer("exec1", "host1", 1);
  executor.incarnation = 1;
  executor.host = "host2";
  scheduler().executor_added(executor);
  EXPECT_THAT(dag.end_kinds(), ElementsAre("ExecutorLostFailure"));
  EXPECT_THAT(dag.lost, ElementsAre(HasSubstr("another executor of the same id")));
  EXPECT_THAT(dag.added, ElementsAre("exec1@host1", "exec1@host2"));
  const auto tasks = offer("exec1", "host2", 1);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].payload, "with binary");
}

TEST_F(TaskSchedulerTest, ARegistrationWithResetDropsAllExecutors) {
  submit(make_set(2));
  offer({offer_of("exec1", "host1", 1), offer_of("exec2", "host2", 1)});
  Registration registration;
  registration.reset = true;
  scheduler().registered(registration);
  EXPECT_EQ(dag.lost.size(), 2U);
  EXPECT_EQ(scheduler().sizes().executors, 0U);
  EXPECT_EQ(scheduler().sizes().attempts, 0U);
  EXPECT_EQ(manager()->pending(), 2U);
}

TEST_F(TaskSchedulerTest, C18_6_RemovalOfAnUnknownExecutorIsStillTold) {
  scheduler().executor_removed("ghost", loss(LossReason::Kind::exited, true));
  EXPECT_EQ(dag.lost.size(), 1U);
  scheduler().worker_removed("w1", "host1", "gone");
  EXPECT_THAT(dag.workers, ElementsAre("w1@host1: gone"));
}

}  // namespace
}  // namespace tenon::task::test
