#include "task/task_set_manager.hpp"

#include <gmock/gmock.h>

#include "unit/task/support.hpp"

namespace tenon::task::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

using TaskSetManagerTest = TaskSchedulerTest;

TEST_F(TaskSetManagerTest, T072_ASetWithoutPreferences) {
  submit(make_set(1));
  EXPECT_TRUE(manager()->levels().has(Locality::no_pref));
  EXPECT_EQ(manager()->levels().list(), (std::vector<Locality>{Locality::no_pref, Locality::any}));
  const auto tasks = offer("exec1", "host1", 1);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].name, "task 0.0 in stage 0.0 (TID 0)");
  ASSERT_EQ(dag.started.size(), 1U);
  EXPECT_EQ(dag.started[0].executor_id, "exec1");
  EXPECT_EQ(dag.started[0].host, "host1");
  EXPECT_EQ(dag.started[0].locality, Locality::process_local);  // C10.6
  finish(tasks[0]);
  ASSERT_EQ(dag.ended.size(), 1U);
  EXPECT_EQ(kind_name(dag.ended[0].reason), "Success");
  EXPECT_EQ(std::get<Success>(dag.ended[0].reason).result->value, "value");
  EXPECT_EQ(dag.ended[0].info.status, TaskStatus::succeeded);
  EXPECT_EQ(manager(), nullptr);
  expect_nothing_kept();
}

TEST_F(TaskSetManagerTest, T076_ResultLost) {
  submit(make_set(1));
  const auto tasks = offer("exec1", "host1", 1);
  status(tasks[0], TaskState::finished, TaskResultLost{});
  const auto again = offer("exec1", "host1", 1);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].name, "task 0.1 in stage 0.0 (TID 1)");
  EXPECT_THAT(dag.end_kinds(), ElementsAre("TaskResultLost"));
}

TEST_F(TaskSetManagerTest, T077_RepeatedFailures) {
  submit(make_set(1));
  for (int failure = 1; failure <= 4; ++failure) {
    EXPECT_EQ(dag.failed.size(), 0U) << failure;
    const auto tasks = offer("exec1", "host1", 1);
    ASSERT_EQ(tasks.size(), 1U) << failure;
    status(tasks[0], TaskState::finished, TaskResultLost{});
  }
  ASSERT_EQ(dag.failed.size(), 1U);
  EXPECT_EQ(dag.failed[0].reason,
            "Task 0 in stage 0.0 failed 4 times, most recent failure: Lost task 0.3 in stage 0.0 "
            "(TID 3) (host1 executor exec1): TaskResultLost (result lost from block manager)");
  expect_nothing_kept();
}

TEST_F(TaskSetManagerTest, C9_3_FailuresCountForEachIndexApart) {
  submit(make_set(2));
  auto tasks = offer("exec1", "host1", 2);
  for (int round = 0; round < 3; ++round) {
    fail(tasks[0]);
    fail(tasks[1]);
    tasks = offer("exec1", "host1", 2);
    ASSERT_EQ(tasks.size(), 2U);
  }
  EXPECT_EQ(dag.failed.size(), 0U);
  fail(tasks[0], "the last");
  ASSERT_EQ(dag.failed.size(), 1U);
  EXPECT_THAT(dag.failed[0].reason,
              HasSubstr("(host1 executor exec1): std::runtime_error: the last"));
  ASSERT_NE(dag.failed[0].cause, nullptr);
  EXPECT_EQ(dag.failed[0].cause->kind(), ErrorKind::user_function);
  EXPECT_TRUE(manager()->zombie());
  fail(tasks[1]);  // a zombie's failures count for nothing
  EXPECT_EQ(dag.failed.size(), 1U);
  expect_nothing_kept();
}

TEST_F(TaskSetManagerTest, S004_103_TheBackendsLimitOfFailuresWins) {
  Registration registration;
  registration.max_task_failures = 2;
  scheduler().registered(registration);
  submit(make_set(1));
  fail(offer("exec1", "host1", 1)[0]);
  EXPECT_EQ(dag.failed.size(), 0U);
  fail(offer("exec1", "host1", 1)[0]);
  ASSERT_EQ(dag.failed.size(), 1U);
  EXPECT_THAT(dag.failed[0].reason, HasSubstr("failed 2 times"));
}

TEST_F(TaskSetManagerTest, T080_UnrelatedExecutorExit) {
  settings.max_task_failures = 1;
  submit(make_set(1));
  const auto first = offer("execA", "host1", 1);
  running(first[0]);
  LossReason exit = loss(LossReason::Kind::exited, false);
  exit.exit_code = 143;
  exit.has_exit_code = true;
  scheduler().executor_removed("execA", exit);
  EXPECT_EQ(dag.failed.size(), 0U);
  const auto second = offer("execC", "host2", 1);
  ASSERT_EQ(second.size(), 1U);
  running(second[0]);
  exit = loss(LossReason::Kind::exited, true);
  exit.exit_code = 1;
  exit.has_exit_code = true;
  scheduler().executor_removed("execC", exit);
  ASSERT_EQ(dag.failed.size(), 1U);
  EXPECT_THAT(dag.failed[0].reason, HasSubstr("Executor exited with code 1"));
}

TEST_F(TaskSetManagerTest, C9_4_ALossBeforeRunningDoesNotCount) {
  settings.max_task_failures = 1;
  submit(make_set(1));
  offer("execA", "host1", 1);
  scheduler().executor_removed("execA", loss(LossReason::Kind::exited, true));
  EXPECT_EQ(dag.failed.size(), 0U);
  EXPECT_EQ(offer("execB", "host1", 1).size(), 1U);
}

TEST_F(TaskSetManagerTest, C9_4_WhatDoesNotCount) {
  settings.max_task_failures = 1;
  submit(make_set(1));
  killed(offer("exec1", "host1", 1)[0]);
  status(offer("exec1", "host1", 1)[0], TaskState::failed, TaskCommitDenied{1, 2, 3});  // C9.11
  status(offer("exec1", "host1", 1)[0], TaskState::killed, UnknownReason{"no bytes"});
  EXPECT_EQ(dag.failed.size(), 0U);
  EXPECT_THAT(dag.end_kinds(), ElementsAre("TaskKilled", "TaskCommitDenied", "TaskKilled"));
  status(offer("exec1", "host1", 1)[0], TaskState::failed, UnknownReason{"no bytes"});
  ASSERT_EQ(dag.failed.size(), 1U);
  EXPECT_THAT(dag.failed[0].reason, HasSubstr("Lost task"));
  EXPECT_THAT(dag.failed[0].reason, HasSubstr("UnknownReason"));
}

TEST_F(TaskSetManagerTest, UR15_OneAllowedFailureIsOneRun) {
  settings.max_task_failures = 1;
  submit(make_set(1));
  const auto tasks = offer("exec1", "host1", 1);
  running(tasks[0]);
  status(tasks[0], TaskState::lost);
  EXPECT_EQ(offer("exec2", "host2", 1).size(), 0U);  // not before it is known whose fault it was
  scheduler().executor_removed("exec1", loss(LossReason::Kind::exited, true));
  EXPECT_EQ(offer("exec2", "host2", 1).size(), 0U);
  EXPECT_EQ(dag.failed.size(), 1U);
  EXPECT_EQ(dag.started.size(), 1U);
}

TEST_F(TaskSetManagerTest, UR16_PreemptionsDoNotCountButCrashesDo) {
  submit(make_set(1));
  const auto lose = [&](int number, LossReason::Kind kind) {
    const std::string id = "exec" + std::to_string(number);
    const auto tasks = offer(id, "host1", 1);
    ASSERT_EQ(tasks.size(), 1U) << number;
    running(tasks[0]);
    scheduler().executor_removed(id, loss(kind, true));  // the kind alone excuses the task
  };
  for (int i = 0; i < 5; ++i) lose(i, LossReason::Kind::preempted);
  lose(5, LossReason::Kind::decommissioned);
  lose(6, LossReason::Kind::killed);
  for (int i = 7; i < 10; ++i) lose(i, LossReason::Kind::exited);
  EXPECT_EQ(dag.failed.size(), 0U);
  lose(10, LossReason::Kind::exited);
  EXPECT_EQ(dag.failed.size(), 1U);
}

TEST_F(TaskSetManagerTest, T082_LargeTaskWarning) {
  encode = [](const TaskSet& set, const TaskSpec&, uint64_t, int, bool) {
    return std::string(set.stage_id == 0 ? 1000 * 1024 : 1000 * 1024 + 1, 'x');
  };
  submit(make_set(1, 0)).submit(make_set(2, 1));
  EXPECT_EQ(offer("exec1", "host1", 1).size(), 1U);
  EXPECT_EQ(logged(LogLevel::warn, "very large size"), 0);
  EXPECT_EQ(offer("exec1", "host1", 1).size(), 1U);
  EXPECT_EQ(logged(LogLevel::warn, "Stage 1 contains a task of very large size (1000 KiB)"), 1);
  EXPECT_EQ(offer("exec1", "host1", 1).size(), 1U);
  EXPECT_EQ(logged(LogLevel::warn, "very large size"), 1);
}

TEST_F(TaskSetManagerTest, C9_2_TheStagesBinaryIsNotTheTasksSize) {
  auto set = make_set(1);
  set->binary =
      std::make_shared<const StageBinary>(StageBinary{"stage 0.0", std::string(2 << 20, 'b')});
  encode = [](const TaskSet&, const TaskSpec&, uint64_t, int, bool with_binary) {
    return std::string(with_binary ? (2 << 20) + 100 : 100, 'x');
  };
  submit(set);
  EXPECT_EQ(offer("exec1", "host1", 1).size(), 1U);
  EXPECT_EQ(logged(LogLevel::warn, "very large size"), 0);
}

TEST_F(TaskSetManagerTest, T095_NotRetriedAtAll) {
  for (const char* message :
       {"output file exists: /out/part-0", "result of type Socket has no encoding"}) {
    SCOPED_TRACE(message);
    dag.failed.clear();
    dag.ended.clear();
    dag.log.clear();
    const int32_t stage = message[0] == 'o' ? 1 : 2;
    submit(make_set(1, stage));
    const auto tasks = offer("exec1", "host1", 1);
    ExceptionFailure failure;
    failure.type = "tenon::Error";
    failure.message = message;
    failure.no_retry = true;
    status(tasks[0], TaskState::failed, failure);
    ASSERT_EQ(dag.failed.size(), 1U);
    EXPECT_THAT(dag.failed[0].reason, HasSubstr("not retrying"));
    EXPECT_THAT(dag.failed[0].reason, HasSubstr(message));
    EXPECT_THAT(dag.end_kinds(), ElementsAre("ExceptionFailure"));
    ASSERT_EQ(dag.log.size(), 3U);  // start, end, abort
    EXPECT_THAT(dag.log[1], StartsWith("end "));
    EXPECT_EQ(dag.log[2], "failed TaskSet_" + std::to_string(stage) + ".0");
    EXPECT_EQ(offer("exec1", "host1", 1).size(), 0U);
    expect_nothing_kept();
  }
}

TEST_F(TaskSetManagerTest, C9_1_LowIndicesFirstThenFailedOnes) {
  submit(make_set(5));
  auto tasks = offer("exec1", "host1", 2);
  fail(tasks[0]);
  fail(tasks[1]);
  offer("exec1", "host1", 5);
  std::vector<int32_t> order;
  for (const TaskInfo& info : dag.started) order.push_back(info.index);
  EXPECT_THAT(order, ElementsAre(0, 1, 1, 0, 2, 3, 4));
}

TEST_F(TaskSetManagerTest, C9_2_AttemptNumbersAndEventsOfALaunch) {
  submit(make_set(1, 3, 1));
  fail(offer("exec1", "host1", 1)[0]);
  killed(offer("exec1", "host1", 1)[0]);
  const auto tasks = offer("exec1", "host1", 1);
  EXPECT_EQ(tasks[0].name, "task 0.2 in stage 3.1 (TID 2)");
  EXPECT_EQ(tasks[0].attempt, 2U);
  EXPECT_EQ(dag.started.back().attempt, 2);
  EXPECT_EQ(manager(3, 1)->running(), 1);
  EXPECT_EQ(scheduler().root_pool().running(), 1);
  EXPECT_THAT(dag.log, ElementsAre("start 0", "end 0", "start 1", "end 1", "start 2"));
}

TEST_F(TaskSetManagerTest, C9_6_TheFirstSuccessKillsOtherAttempts) {
  submit(make_set(2));
  const auto first = offer("exec1", "host1", 2);
  manager()->request_copy(0);
  EXPECT_EQ(offer("exec9", "host1", 1).size(), 0U);  // never on a host that has an attempt
  const auto copy = offer("exec2", "host2", 5);
  ASSERT_EQ(copy.size(), 1U);
  EXPECT_TRUE(dag.started.back().speculative);
  EXPECT_EQ(copy[0].attempt, 1U);
  EXPECT_EQ(manager()->running(), 3);
  finish(copy[0]);
  ASSERT_EQ(backend.kills.size(), 1U);
  EXPECT_EQ(backend.kills[0].task_id, first[0].task_id);
  EXPECT_EQ(backend.kills[0].executor_id, "exec1");
  EXPECT_TRUE(backend.kills[0].interrupt);
  EXPECT_EQ(backend.kills[0].reason, "another attempt succeeded");
  finish(first[0]);  // too late: C9.7
  ASSERT_EQ(dag.ended.size(), 2U);
  EXPECT_EQ(describe(dag.ended[1].reason),
            "TaskKilled (Finish but did not commit due to another attempt succeeded)");
  EXPECT_EQ(dag.ended[1].info.status, TaskStatus::killed);
  EXPECT_FALSE(manager()->zombie());
  finish(first[1]);
  expect_nothing_kept();
}

TEST_F(TaskSetManagerTest, C9_6_ALoserThatFailsCountsForNothing) {
  settings.max_task_failures = 1;
  submit(make_set(2));
  const auto first = offer("exec1", "host1", 2);
  manager()->request_copy(0);
  const auto copy = offer("exec2", "host2", 1);
  finish(first[0]);
  killed(copy[0]);
  EXPECT_EQ(dag.failed.size(), 0U);
  EXPECT_EQ(offer("exec3", "host3", 4).size(), 0U);
  manager()->request_copy(0);  // done: nothing to copy
  EXPECT_EQ(offer("exec3", "host3", 4).size(), 0U);
  EXPECT_FALSE(manager()->schedulable());
}

TEST_F(TaskSetManagerTest, S004_124_C9_6_ZombieWhenAllAreDoneAndGoneWithTheLastAttempt) {
  submit(make_set(2));
  const auto tasks = offer("exec1", "host1", 2);
  finish(tasks[0]);
  EXPECT_FALSE(manager()->zombie());
  finish(tasks[1]);
  EXPECT_EQ(manager(), nullptr);
  EXPECT_EQ(dag.failed.size(), 0U);
}

TEST_F(TaskSetManagerTest, C4_8_AFetchFailureMakesTheSetZombieAndCountsForNothing) {
  settings.max_task_failures = 1;
  submit(make_set(3));
  const auto tasks = offer("exec1", "host1", 2);
  status(tasks[0], TaskState::failed, FetchFailed{std::nullopt, 0, 0, 0, 0, "gone"});
  EXPECT_TRUE(manager()->zombie());
  EXPECT_EQ(dag.failed.size(), 0U);
  EXPECT_EQ(offer("exec1", "host1", 3).size(), 0U);
  finish(tasks[1]);  // C4.9: what runs goes on
  EXPECT_THAT(dag.end_kinds(), ElementsAre("FetchFailed", "Success"));
  expect_nothing_kept();
}

TEST_F(TaskSetManagerTest, C11_5_AResultThatCannotBeReadAbortsTheSet) {
  submit(make_set(1));
  const auto tasks = offer("exec1", "host1", 1);
  status(tasks[0], TaskState::finished, UnknownReason{"cut after 3 bytes"});
  ASSERT_EQ(dag.failed.size(), 1U);
  EXPECT_EQ(dag.failed[0].reason, "Exception while getting task result: cut after 3 bytes");
  EXPECT_THAT(dag.end_kinds(), ElementsAre("UnknownReason"));
  expect_nothing_kept();
}

TEST_F(TaskSetManagerTest, C9_8_TheSameTextIsLoggedInFullOnceInTenSeconds) {
  settings.max_task_failures = 100;
  submit(make_set(1));
  for (int i = 0; i < 3; ++i) fail(offer("exec1", "host1", 1)[0], "same");
  fail(offer("exec1", "host1", 1)[0], "other");
  EXPECT_EQ(logged(LogLevel::warn, "same"), 1);
  EXPECT_EQ(logged(LogLevel::warn, "other"), 1);
  EXPECT_EQ(logged(LogLevel::info, "std::runtime_error (same) [duplicate 1]"), 1);
  EXPECT_EQ(logged(LogLevel::info, "std::runtime_error (same) [duplicate 2]"), 1);
  loop.advance(std::chrono::milliseconds(10001));
  fail(offer("exec1", "host1", 1)[0], "same");
  EXPECT_EQ(logged(LogLevel::warn, "same"), 2);
}

TEST_F(TaskSetManagerTest, TheAccumulatorsOfFailedAttemptsReachTheDagScheduler) {
  submit(make_set(1));
  ExceptionFailure failure;
  failure.accumulators = {{1, "x"}};
  status(offer("exec1", "host1", 1)[0], TaskState::failed, failure);
  status(offer("exec1", "host1", 1)[0], TaskState::killed, TaskKilled{"k", {{2, "y"}}});
  ASSERT_EQ(dag.ended.size(), 2U);
  EXPECT_EQ(std::get<ExceptionFailure>(dag.ended[0].reason).accumulators.size(), 1U);
  EXPECT_EQ(std::get<TaskKilled>(dag.ended[1].reason).accumulators.size(), 1U);
}

TEST_F(TaskSetManagerTest, C9_13_ASetThatTheUserChangesLaterIsNotAffected) {
  auto set = make_set(1);
  const std::shared_ptr<const Properties> properties = set->properties;
  std::vector<std::shared_ptr<const Properties>> seen;
  encode = [&](const TaskSet& of, const TaskSpec&, uint64_t, int, bool) {
    seen.push_back(of.properties);
    return std::string("task");
  };
  submit(set);
  fail(offer("exec1", "host1", 1)[0]);
  offer("exec1", "host1", 1);
  EXPECT_THAT(seen, ElementsAre(properties, properties));
}

}  // namespace
}  // namespace tenon::task::test
