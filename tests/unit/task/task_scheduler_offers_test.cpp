// Which tasks go out on which offers.
#include <gmock/gmock.h>

#include <set>

#include "task/task_scheduler.hpp"
#include "unit/task/support.hpp"

namespace tenon::task::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
