#include "task/resource_watch.hpp"

#include <gmock/gmock.h>

#include "unit/task/support.hpp"

namespace tenon::task::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using ResourceWatchTest = TaskSchedulerTest;

constexpr const char* kWarning =
    "Initial job has not accepted any resources; check your cluster UI to ensure that workers are "
    "registered and have sufficient resources";

TEST_F(ResourceWatchTest, S004_108_TheStarvationWarningRepeatsUntilTheFirstLaunch) {
  loop.advance(minutes(1));
  submit(make_set(2));
  loop.advance(milliseconds(14999));
  EXPECT_EQ(logged(LogLevel::warn, kWarning), 0);
  loop.advance(milliseconds(1));
  EXPECT_EQ(logged(LogLevel::warn, kWarning), 1);
  offer("exec1", "host1", 0);  // C29.1: an offer without a launch changes nothing
  loop.advance(seconds(30));
  EXPECT_EQ(logged(LogLevel::warn, kWarning), 3);
  const auto tasks = offer("exec1", "host1", 1);
  ASSERT_EQ(tasks.size(), 1U);
  loop.advance(minutes(5));
  EXPECT_EQ(logged(LogLevel::warn, kWarning), 3);
  // It was the first launch of all: later sets do not bring it back.
  finish(tasks[0]);
  submit(make_set(1, 1));
  loop.advance(minutes(5));
  EXPECT_EQ(logged(LogLevel::warn, kWarning), 3);
}

TEST_F(ResourceWatchTest, S004_108_NeverInOneProcess) {
  settings.is_one_process = true;
  submit(make_set(1));
  loop.advance(minutes(5));
  EXPECT_EQ(logged(LogLevel::warn, kWarning), 0);
}

TEST_F(ResourceWatchTest, S004_108_TheTimeoutIsASetting) {
  settings.starvation_timeout = seconds(3);
  submit(make_set(1));
  loop.advance(seconds(7));
  EXPECT_EQ(logged(LogLevel::warn, kWarning), 2);
}

TEST_F(ResourceWatchTest, C29_0_AfterMaxWaitTheJobsFail) {
  submit(make_set(3, 0)).submit(make_set(4, 1));
  loop.advance(minutes(10) - milliseconds(1));
  EXPECT_EQ(dag.failed.size(), 0U);
  loop.advance(milliseconds(1));
  ASSERT_EQ(dag.failed.size(), 2U);
  for (const auto& failed : dag.failed) {
    EXPECT_EQ(failed.reason,
              "No resources within tenon.scheduler.maxWait (600 s), 7 tasks wait and none runs: no "
              "executor is registered");
    ASSERT_NE(failed.cause, nullptr);
    EXPECT_EQ(failed.cause->kind(), ErrorKind::no_resources);
    EXPECT_EQ(failed.cause->code(), 5);
  }
  expect_nothing_kept();
}

TEST_F(ResourceWatchTest, C29_0_ZeroWaitsForEver) {
  settings.max_wait = seconds(0);
  submit(make_set(1));
  loop.advance(std::chrono::hours(24));
  EXPECT_EQ(dag.failed.size(), 0U);
}

TEST_F(ResourceWatchTest, C29_1_TheConstraintIsNamedWithNumbers) {
  settings.max_wait = milliseconds(1500);
  settings.task_cpus = 4;
  submit(make_set(1));
  offer({offer_of("exec1", "host1", 2), offer_of("exec2", "host2", 3)});
  loop.advance(seconds(2));
  ASSERT_EQ(dag.failed.size(), 1U);
  EXPECT_THAT(dag.failed[0].reason, HasSubstr("maxWait (1.5 s)"));
  EXPECT_THAT(dag.failed[0].reason,
              HasSubstr("a task needs 4 cores (tenon.task.cpus) and the largest of 2 executors "
                        "offered 3"));
}

TEST_F(ResourceWatchTest, C29_1_TheBackendsOwnReasonComesFirst) {
  scheduler().pending("queue", "queue root.small is full", {{"asked", "4"}, {"granted", "0"}});
  submit(make_set(1));
  loop.advance(minutes(10));
  ASSERT_EQ(dag.failed.size(), 1U);
  EXPECT_THAT(dag.failed[0].reason,
              HasSubstr("the cluster manager says queue: queue root.small is full, asked=4, "
                        "granted=0"));
  scheduler().pending("", "", {});
  submit(make_set(1, 1));
  loop.advance(minutes(10));
  EXPECT_THAT(dag.failed[1].reason, HasSubstr("no executor is registered"));
}

TEST_F(ResourceWatchTest, C29_1_ResourcesThatNobodyOffersAreNamed) {
  settings.task_resources = {{"gpu", 2000}};
  submit(make_set(1));
  offer("exec1", "host1", 8);
  loop.advance(minutes(10));
  ASSERT_EQ(dag.failed.size(), 1U);
  EXPECT_THAT(dag.failed[0].reason, HasSubstr("no executor offered what a task needs: gpu=2 "
                                              "(tenon.task.resource.gpu.amount; nobody has any)"));
}

TEST_F(ResourceWatchTest, C29_1_TheStarvationWarningSaysWhatIsMissing) {
  settings.task_resources = {{"gpu", 500}};
  submit(make_set(1));
  offer("exec1", "host1", 8);
  loop.advance(seconds(15));
  EXPECT_EQ(logged(LogLevel::warn, std::string(kWarning) +
                                       ": no executor offered what a task needs: gpu=0.5 "
                                       "(tenon.task.resource.gpu.amount; nobody has any)"),
            1);
  WorkerOffer taken = offer_of("exec1", "host1", 8);
  taken.resources = {{"gpu", "0", 100}};
  offer({taken});
  loop.advance(seconds(15));
  EXPECT_EQ(logged(LogLevel::warn, "gpu=0.5 (tenon.task.resource.gpu.amount)"), 1);
  taken.resources = {{"gpu", "0", 1000}};
  EXPECT_EQ(offer({taken}).size(), 1U);
}

TEST_F(ResourceWatchTest, C29_1_InOneProcessNothingElseWillCome) {
  settings.is_one_process = true;
  settings.task_resources = {{"gpu", 1000}};
  submit(make_set(1));
  EXPECT_EQ(dag.failed.size(), 0U);
  offer("exec1", "host1", 8);
  ASSERT_EQ(dag.failed.size(), 1U);
  EXPECT_EQ(dag.failed[0].cause->kind(), ErrorKind::no_resources);
  EXPECT_THAT(dag.failed[0].reason, HasSubstr("gpu=1 (tenon.task.resource.gpu.amount"));
  WorkerOffer with = offer_of("exec1", "host1", 8);
  with.resources = {{"gpu", "0", 1000}};
  submit(make_set(1, 1));
  EXPECT_EQ(offer({with}).size(), 1U);
}

TEST_F(ResourceWatchTest, C29_0_TheWaitBeginsWhenNothingRunsAnyMore) {
  submit(make_set(2));
  const auto tasks = offer("exec1", "host1", 1);
  loop.advance(minutes(30));  // one runs, the other waits for it
  EXPECT_EQ(dag.failed.size(), 0U);
  scheduler().executor_removed("exec1", loss(LossReason::Kind::exited, false));
  loop.advance(minutes(10) - milliseconds(1));
  EXPECT_EQ(dag.failed.size(), 0U);
  loop.advance(milliseconds(1));
  EXPECT_EQ(dag.failed.size(), 1U);
}

TEST_F(ResourceWatchTest, C29_0_ALaunchInTimeStartsTheWaitAnew) {
  submit(make_set(2));
  loop.advance(minutes(9));
  fail(offer("exec1", "host1", 1)[0]);
  loop.advance(minutes(9));
  EXPECT_EQ(dag.failed.size(), 0U);
  loop.advance(minutes(1));
  EXPECT_EQ(dag.failed.size(), 1U);
}

TEST_F(ResourceWatchTest, C29_0_AnIdleApplicationWaitsForNothing) {
  submit(make_set(1));
  finish(offer("exec1", "host1", 1)[0]);
  loop.advance(minutes(60));
  EXPECT_EQ(dag.failed.size(), 0U);
  EXPECT_EQ(loop.timers(), 0U);
}

}  // namespace
}  // namespace tenon::task::test
