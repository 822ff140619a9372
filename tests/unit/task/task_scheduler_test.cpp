#include "task/task_scheduler.hpp"

#include <gmock/gmock.h>

#include <set>

#include "unit/task/support.hpp"

namespace tenon::task::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(TaskSchedulerTest, T052_PlacementIsRandomOverEqualWorkers) {
  settings.shuffle_offers = true;
  std::map<std::string, int> chosen;
  for (int32_t stage = 0; stage < 1000; ++stage) {
    submit(make_set(1, stage));
    const auto tasks = offer({offer_of("exec1", "host1", 1), offer_of("exec2", "host2", 1)});
    ASSERT_EQ(tasks.size(), 1U);
    ++chosen[tasks[0].executor_id];
    finish(tasks[0]);
  }
  // Not only both: a fair coin misses these bounds once in 10^9 runs.
  EXPECT_EQ(chosen.size(), 2U);
  EXPECT_GT(chosen["exec1"], 400);
  EXPECT_GT(chosen["exec2"], 400);
  expect_nothing_kept();
}

TEST_F(TaskSchedulerTest, T053_TwoCpusPerTask) {
  settings.task_cpus = 2;
  submit(make_set(1));
  EXPECT_EQ(offer({offer_of("exec1", "host1", 0), offer_of("exec2", "host2", 0)}).size(), 0U);
  EXPECT_EQ(offer({offer_of("exec1", "host1", 1), offer_of("exec2", "host2", 1)}).size(), 0U);
  const auto tasks = offer({offer_of("exec1", "host1", 2), offer_of("exec2", "host2", 1)});
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].executor_id, "exec1");
  EXPECT_EQ(tasks[0].cores, 2U);
}

TEST_F(TaskSchedulerTest, S004_122_FourCoresRunTwoTasksOfTwoCpus) {
  settings.task_cpus = 2;
  submit(make_set(5));
  EXPECT_EQ(offer("exec1", "host1", 4).size(), 2U);
  EXPECT_EQ(offer("exec1", "host1", 1).size(), 0U);
}

TEST_F(TaskSchedulerTest, T054_SetsThatCannotBeEncoded) {
  encode = [](const TaskSet& set, const TaskSpec&, uint64_t, int, bool) -> std::string {
    if (set.stage_id % 2 == 1) throw Error(ErrorKind::codec, "no codec for Socket");
    return "task";
  };
  submit(make_set(1, 1));
  EXPECT_EQ(offer("exec1", "host1", 1).size(), 0U);
  ASSERT_EQ(dag.failed.size(), 1U);
  EXPECT_EQ(dag.failed[0].set, "TaskSet_1.0");
  EXPECT_THAT(dag.failed[0].reason, HasSubstr("Failed to serialize task"));
  EXPECT_THAT(dag.failed[0].reason, HasSubstr("no codec for Socket"));
  ASSERT_NE(dag.failed[0].cause, nullptr);
  EXPECT_EQ(dag.failed[0].cause->message(), "no codec for Socket");
  expect_nothing_kept();

  // A bad set before and one after the good one.
  submit(make_set(1, 3, 0, 0)).submit(make_set(1, 4, 0, 1)).submit(make_set(2, 5, 0, 2));
  const auto tasks = offer({offer_of("exec1", "host1", 1), offer_of("exec2", "host2", 1)});
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_THAT(tasks[0].name, HasSubstr("stage 4.0"));
  ASSERT_EQ(dag.failed.size(), 3U);
  EXPECT_EQ(dag.failed[1].set, "TaskSet_3.0");
  EXPECT_EQ(dag.failed[2].set, "TaskSet_5.0");
  EXPECT_EQ(dag.started.size(), 1U);  // a task that was never sent has not started
  EXPECT_EQ(scheduler().sizes().task_sets, 1U);
}

TEST_F(TaskSchedulerTest, C9_2_AnythingThatTheEncoderThrowsAbortsItsSetOnly) {
  encode = [](const TaskSet& set, const TaskSpec&, uint64_t, int, bool) -> std::string {
    if (set.stage_id == 0) throw 42;
    return "task";
  };
  submit(make_set(1, 0)).submit(make_set(1, 1));
  EXPECT_EQ(offer("exec1", "host1", 2).size(), 1U);
  ASSERT_EQ(dag.failed.size(), 1U);
  EXPECT_THAT(dag.failed[0].reason, HasSubstr("of unknown type"));
}

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

TEST_F(TaskSchedulerTest, T056_AZombieLaunchesNothing) {
  submit(make_set(10, 0, 0));
  const auto first = offer("exec1", "host1", 1);
  ASSERT_EQ(first.size(), 1U);
  manager()->make_zombie();
  EXPECT_EQ(offer("exec1", "host1", 1).size(), 0U);
  submit(make_set(10, 0, 1));
  const auto second = offer("exec1", "host1", 1);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_THAT(second[0].name, HasSubstr("in stage 0.1"));
  // C9.12: the zombie's attempt is followed to its end.
  finish(first[0]);
  ASSERT_EQ(dag.ended.size(), 1U);
  EXPECT_EQ(dag.ended[0].set, "TaskSet_0.0");
  EXPECT_EQ(manager(0, 0), nullptr);
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

// ---- C7 without a row of its own

TEST_F(TaskSchedulerTest, C7_1_SubmitEndsWithOneRevival) {
  submit(make_set(1, 0));
  EXPECT_EQ(backend.revived, 0);  // not on the caller's stack
  loop.run();
  EXPECT_EQ(backend.revived, 1);
  submit(make_set(1, 1)).submit(make_set(1, 2));
  loop.run();
  EXPECT_EQ(backend.revived, 2);  // one for what came in one turn
}

TEST_F(TaskSchedulerTest, C7_3_LoadSpreadsBreadthFirst) {
  submit(make_set(4));
  const auto tasks = offer({offer_of("exec1", "host1", 4), offer_of("exec2", "host2", 4),
                            offer_of("exec3", "host3", 1)});
  std::map<std::string, int> on;
  for (const Launch& task : tasks) ++on[task.executor_id];
  EXPECT_EQ(on, (std::map<std::string, int>{{"exec1", 2}, {"exec2", 1}, {"exec3", 1}}));
}

TEST_F(TaskSchedulerTest, C7_3_LocalTasksGetTheirChanceOnAllOffersFirst) {
  auto set = make_set(2);
  set->tasks[1].preferred = {{"host1", "exec1"}};
  set->tasks[0].preferred = {{"host2", ""}};
  submit(set);
  const auto tasks = offer({offer_of("exec1", "host1", 1), offer_of("exec2", "host2", 1)});
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(dag.started[0].index, 1);
  EXPECT_EQ(dag.started[0].locality, Locality::process_local);
  EXPECT_EQ(dag.started[0].executor_id, "exec1");
  EXPECT_EQ(dag.started[1].index, 0);
  EXPECT_EQ(dag.started[1].locality, Locality::node_local);
  EXPECT_EQ(dag.started[1].executor_id, "exec2");
}

TEST_F(TaskSchedulerTest, C7_3_NewExecutorsAreNotedOnce) {
  offer({offer_of("exec1", "host1", 1), offer_of("exec2", "host1", 1)});
  offer("exec1", "host1", 1);
  Executor executor;
  executor.id = "exec2";
  executor.host = "host1";
  executor.cores = 3;
  scheduler().executor_added(executor);
  EXPECT_THAT(dag.added, ElementsAre("exec1@host1", "exec2@host1"));
  EXPECT_EQ(scheduler().executors_on_host("host1"), 2U);
}

TEST_F(TaskSchedulerTest, S000_053_AssignGivesTheTasksOfEachOffer) {
  submit(make_set(3));
  const auto tasks = scheduler().assign(
      OfferScope::all_free, {offer_of("exec1", "host1", 0), offer_of("exec2", "host2", 2),
                             offer_of("exec3", "host3", 1)});
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[0].size(), 0U);
  EXPECT_EQ(tasks[1].size(), 2U);
  EXPECT_EQ(tasks[2].size(), 1U);
  EXPECT_EQ(tasks[2][0].executor_id, "exec3");
}

TEST_F(TaskSchedulerTest, S000_054_EachOfferIsAnsweredOnceAlsoWithNothing) {
  offer("exec1", "host1", 1);
  offer(std::vector<WorkerOffer>{});
  submit(make_set(1));
  offer("exec1", "host1", 1);
  EXPECT_EQ(backend.answers, (std::vector<std::pair<uint64_t, size_t>>{{1, 0}, {2, 0}, {3, 1}}));
}

TEST_F(TaskSchedulerTest, S000_055_TheTasksOfAllOffersAreSentInOneAnswer) {
  submit(make_set(5, 0)).submit(make_set(5, 1));
  const auto tasks = offer({offer_of("exec1", "host1", 3), offer_of("exec2", "host2", 2),
                            offer_of("exec3", "host3", 4)});
  EXPECT_EQ(tasks.size(), 9U);
  EXPECT_EQ(backend.answers.size(), 1U);
}

TEST_F(TaskSchedulerTest, C7_4_AddressesAreHandedOutExclusivelyAndInParts) {
  settings.task_resources = {{"gpu", 1000}, {"disk", 500}};
  submit(make_set(10));
  WorkerOffer rich = offer_of("exec1", "host1", 8, 8);
  rich.resources = {{"gpu", "0", 1000}, {"gpu", "1", 1000}, {"gpu", "2", 400}, {"disk", "d", 1000}};
  const auto tasks = offer({rich});
  ASSERT_EQ(tasks.size(), 2U);  // gpu 2 is not whole, and tasks with addresses are never queued
  std::set<std::string> gpus;
  for (const Launch& task : tasks) {
    ASSERT_EQ(task.resources.size(), 2U);
    EXPECT_EQ(task.resources[0].amount, 1000U);
    gpus.insert(task.resources[0].address);
    EXPECT_EQ(task.resources[1].name, "disk");
    EXPECT_EQ(task.resources[1].amount, 500U);
    finish(task);
  }
  EXPECT_EQ(gpus, (std::set<std::string>{"0", "1"}));
  EXPECT_EQ(offer("exec1", "host1", 8, 8).size(), 0U);
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

TEST_F(TaskSchedulerTest, C18_10_MaxConcurrentTasks) {
  settings.task_cpus = 2;
  for (const std::string id : {"exec1", "exec2", "exec3"}) {
    Executor executor;
    executor.id = id;
    executor.host = "host1";
    executor.cores = 5;
    scheduler().executor_added(executor);
  }
  EXPECT_EQ(scheduler().max_concurrent_tasks(), 6U);
  scheduler().executor_decommissioning("exec2");
  EXPECT_EQ(scheduler().max_concurrent_tasks(), 4U);
}

TEST_F(TaskSchedulerTest, S000_049_NothingGoesToExecutorsThatAreOnTheirWayOut) {
  submit(make_set(10));
  ASSERT_EQ(offer("exec1", "host1", 1).size(), 1U);
  scheduler().executor_loss_pending("exec1", "connection closed");
  EXPECT_EQ(offer("exec1", "host1", 1).size(), 0U);
  ASSERT_EQ(offer("exec2", "host1", 1).size(), 1U);
  scheduler().executor_decommissioning("exec2");
  EXPECT_EQ(offer("exec2", "host1", 1).size(), 0U);
  // S004-118: an offer that was on its way when the executor went.
  scheduler().executor_removed("exec2", loss(LossReason::Kind::killed, false));
  EXPECT_EQ(offer("exec2", "host1", 1).size(), 0U);
  EXPECT_EQ(dag.added.size(), 2U);
  Executor again;
  again.id = "exec2";
  again.host = "host1";
  scheduler().executor_added(again);
  EXPECT_EQ(offer("exec2", "host1", 1).size(), 1U);
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

TEST_F(TaskSchedulerTest, S000_057_ATaskOverTheMessageLimitAbortsOnlyItsSet) {
  settings.rpc_message_max_bytes = 1000;
  encode = [](const TaskSet& set, const TaskSpec&, uint64_t, int, bool) {
    return std::string(set.stage_id == 0 ? 1000 : 999, 'x');
  };
  submit(make_set(3, 0)).submit(make_set(3, 1));
  const auto tasks = offer("exec1", "host1", 2);
  ASSERT_EQ(tasks.size(),
            2U);  // the executor's cores are not consumed by the set that is too large
  EXPECT_THAT(tasks[0].name, HasSubstr("stage 1.0"));
  ASSERT_EQ(dag.failed.size(), 1U);
  EXPECT_EQ(dag.failed[0].reason,
            "Serialized task 0:0 was 1000 bytes, which exceeds max allowed: "
            "tenon.rpc.message.maxSize (1000 bytes). Consider increasing tenon.rpc.message.maxSize "
            "or using broadcast variables for large values.");
}

TEST_F(TaskSchedulerTest, S000_058_TheSmallestOfTheLimitsHolds) {
  backend.max_payload = 500;
  Registration registration;
  registration.max_payload_bytes = 100;
  encode = [](const TaskSet&, const TaskSpec&, uint64_t, int, bool) {
    return std::string(100, 'x');
  };
  submit(make_set(1, 0));
  EXPECT_EQ(offer("exec1", "host1", 1).size(), 1U);
  scheduler().registered(registration);
  submit(make_set(1, 1));
  EXPECT_EQ(offer("exec1", "host1", 1).size(), 0U);
  EXPECT_EQ(dag.failed.size(), 1U);
}

TEST_F(TaskSchedulerTest, TheBinaryRidesAlongOnceForEachExecutor) {
  submit(make_set(6));
  const auto tasks = offer({offer_of("exec1", "host1", 3), offer_of("exec2", "host2", 1)});
  std::map<std::string, std::vector<std::string>> payloads;
  for (const Launch& task : tasks) payloads[task.executor_id].push_back(task.payload);
  EXPECT_THAT(payloads["exec1"], ElementsAre("with binary", "task", "task"));
  EXPECT_THAT(payloads["exec2"], ElementsAre("with binary"));
  EXPECT_EQ(offer("exec2", "host2", 1)[0].payload, "task");
}

TEST_F(TaskSchedulerTest, S004_126_TheReviveTimerRunsWhileTasksWait) {
  submit(make_set(1));
  loop.advance(std::chrono::milliseconds(3500));
  EXPECT_EQ(backend.revived, 4);  // at once, and after 1, 2 and 3 s
  const auto tasks = offer("exec1", "host1", 1);
  loop.advance(std::chrono::seconds(10));
  EXPECT_EQ(backend.revived, 4);
  fail(tasks[0]);  // waits again
  loop.advance(std::chrono::milliseconds(1500));
  EXPECT_EQ(backend.revived, 6);
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

TEST_F(TaskSchedulerTest, C2_1_TaskIdsRiseAndAreNeverUsedAgain) {
  submit(make_set(2, 0)).submit(make_set(1, 1));
  std::vector<uint64_t> ids;
  for (int round = 0; round < 3; ++round) {
    for (const Launch& task : offer("exec1", "host1", 3)) {
      ids.push_back(task.task_id);
      fail(task);
    }
  }
  std::vector<uint64_t> expected(9);
  for (size_t i = 0; i < 9; ++i) expected[i] = i;
  EXPECT_EQ(ids, expected);
}

}  // namespace
}  // namespace tenon::task::test
