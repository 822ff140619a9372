// Queueing, killing and reporting of tasks.
#include "executor/task_table.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "harness.hpp"
#include "tenon/error.hpp"

namespace tenon::executor {
namespace {

using namespace testing;  // NOLINT: the harness of this folder
using namespace std::chrono_literals;
using task::TaskState;

TEST(Executor, S000_065_C17_4_KillBeforeWhileDecodingAndWhileRunning) {
  Harness h(1);
  h.add_stage(3, numbers(0, "block"), sum_action());
  h.add_stage(4, numbers(), sum_action());
  Signal running, go;
  set_hook("block", [&](const TaskContext& task) {
    running.set();
    ASSERT_TRUE(go.wait());
    if (task.task_id() == 2) task.throw_if_killed();
  });
  // Running; its code takes no notice and returns a value.
  h.launch(h.task(1, 3));
  ASSERT_TRUE(running.wait());
  // Queued: killed before it starts; and one that was queued and goes back.
  h.launch(h.task(4, 4));
  h.launch(h.task(5, 4));
  h.executor->kill_task(4, true, false, "job cancelled");
  const task::StatusUpdate queued = h.sink.wait(4);
  EXPECT_EQ(queued.state, TaskState::killed);
  EXPECT_EQ(reason_of<task::TaskKilled>(queued)->reason, "job cancelled");
  h.executor->kill_task(5, true, true, "wanted elsewhere");
  EXPECT_EQ(h.sink.wait(5).state, TaskState::returned);
  // Only if queued: it runs on.
  h.executor->kill_task(1, true, true, "wanted elsewhere");
  h.executor->kill_task(99, true, false, "unknown");
  h.executor->kill_task(1, true, false, "first");
  h.executor->kill_task(1, true, false, "second");
  go.set();
  const task::StatusUpdate end = h.sink.wait(1);
  EXPECT_EQ(end.state, TaskState::killed);
  EXPECT_EQ(reason_of<task::TaskKilled>(end)->reason, "first");
  // A kill that comes after the end changes nothing; the executor goes on.
  h.executor->kill_task(1, true, false, "late");
  EXPECT_EQ(value_of(h.run(h.task(6, 4))), "6");
  for (const uint64_t id : {1U, 4U, 5U, 6U}) {
    const auto statuses = h.sink.of(id);
    EXPECT_EQ(
        std::ranges::count_if(statuses, [](const Status& s) { return task::is_terminal(s.state); }),
        1);
  }
  set_hook("block", nullptr);
}

// The attempt waits for the stage's code when the kill comes: it is decoding.
TEST(Executor, T147_KillWhileDecodingIsAKill) {
  struct Waiting final : service::DriverClient {
    std::shared_ptr<const std::string> stage_binary(const std::string&) override {
      asked.set();
      EXPECT_TRUE(go.wait());
      throw Error(ErrorKind::internal, "no such binary");
    }
    std::shared_ptr<const std::string> broadcast(uint64_t) override { return nullptr; }
    shuffle::MapOutputsPtr map_outputs(int32_t, uint64_t) override { return nullptr; }
    void heartbeat(const service::Heartbeat&, HeartbeatAnswered) override {}
    void block_update(const storage::BlockUpdate&) override {}
    Signal asked, go;
  } driver;
  storage::BlockManager blocks(0);
  TaskServices services(blocks, driver);
  RecordingSink sink;
  ExecutorOptions options;
  options.location.executor_id = "1";
  Executor executor(options, services, sink);
  TaskDescription description;
  description.task_id = 8;
  description.binary_id = "stage 0.0";
  std::vector<LaunchedTask> tasks;
  tasks.push_back({8, 1, plugin::Buffer(encode(description))});
  executor.launch_tasks(std::move(tasks));
  ASSERT_TRUE(driver.asked.wait());
  executor.kill_task(8, false, false, "stage cancelled");
  driver.go.set();
  const task::StatusUpdate end = sink.wait(8);
  EXPECT_EQ(end.state, TaskState::killed);
  EXPECT_EQ(reason_of<task::TaskKilled>(end)->reason, "stage cancelled");
}

// Kills at random moments: each attempt ends once, and a killed one never as failed.
TEST(Executor, C17_4_EachAttemptEndsOnceUnderRandomKills) {
  Harness h(3);
  h.add_stage(3, numbers(0, "sometimes"), sum_action());
  set_hook("sometimes", [](const TaskContext& task) {
    if (task.task_id() % 3 == 0) std::this_thread::sleep_for(50us);
    task.throw_if_killed();
  });
  constexpr uint64_t kTasks = 3000;
  std::mt19937 random(7);
  for (uint64_t id = 1; id <= kTasks; ++id) {
    h.launch(h.task(id, 3, static_cast<int32_t>(id % 2)));
    for (int i = 0; i < 2; ++i) {
      const uint64_t target = id - std::min<uint64_t>(random() % 8, id - 1);
      h.executor->kill_task(target, true, random() % 4 == 0, "random");
    }
  }
  ASSERT_TRUE(h.sink.wait_for_ends(kTasks));
  h.executor->shutdown("the end");
  h.executor->join();
  set_hook("sometimes", nullptr);
  const std::vector<uint64_t> ended = h.sink.ended();
  EXPECT_EQ(ended.size(), kTasks);
  EXPECT_EQ(std::set<uint64_t>(ended.begin(), ended.end()).size(), kTasks);
  std::map<TaskState, int> states;
  for (uint64_t id = 1; id <= kTasks; ++id) {
    const auto statuses = h.sink.of(id);
    ++states[statuses.back().state];
    EXPECT_TRUE(task::is_terminal(statuses.back().state)) << "a status after the end, task " << id;
    EXPECT_LE(statuses.size(), 2U);
  }
  EXPECT_EQ(states[TaskState::failed], 0);
  EXPECT_GT(states[TaskState::finished], 0);
  EXPECT_GT(states[TaskState::killed], 0);
  EXPECT_GT(states[TaskState::returned], 0);
}

// ---- order and statuses

TEST(Executor, TasksStartInTheOrderOfTheirLaunch) {
  Harness h(1);
  h.add_stage(3, numbers(0, "order"), sum_action());
  std::vector<uint64_t> order;  // by the one thread of the executor
  set_hook("order", [&](const TaskContext& task) { order.push_back(task.task_id()); });
  std::vector<LaunchedTask> tasks;
  for (uint64_t id = 1; id <= 50; ++id) tasks.push_back(h.task(id, 3));
  h.executor->launch_tasks(std::move(tasks));
  ASSERT_TRUE(h.sink.wait_for_ends(50));
  set_hook("order", nullptr);
  ASSERT_EQ(order.size(), 50U);
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_TRUE(std::ranges::is_sorted(h.sink.ended()));
  EXPECT_LT(h.sink.batches(), 50U);  // they went out together
}

TEST(Executor, ATaskWaitsForAllOfItsCores) {
  Harness h(3);
  h.add_stage(3, numbers(0, "cores"), sum_action());
  std::mutex mutex;
  int used = 0, most = 0;
  std::map<uint64_t, int> cores{{1, 2}, {2, 2}, {3, 1}, {4, 7}, {5, 1}};
  set_hook("cores", [&](const TaskContext& task) {
    const int mine = std::min(cores[task.task_id()], 3);
    {
      const std::lock_guard lock(mutex);
      used += mine;
      most = std::max(most, used);
    }
    std::this_thread::yield();
    const std::lock_guard lock(mutex);
    used -= mine;
  });
  for (uint64_t id = 1; id <= 5; ++id) {
    LaunchedTask task = h.task(id, 3);
    task.cores = static_cast<uint32_t>(cores[id]);
    h.launch(std::move(task));
  }
  ASSERT_TRUE(h.sink.wait_for_ends(5));
  set_hook("cores", nullptr);
  EXPECT_LE(most, 3);
}

TEST(Executor, StatusesDoNotWaitBehindALongTask) {
  Harness h(1);
  h.add_stage(3, numbers(0, "long"), sum_action());
  h.add_stage(4, numbers(), sum_action());
  Signal go;
  set_hook("long", [&](const TaskContext&) { ASSERT_TRUE(go.wait()); });
  std::vector<LaunchedTask> tasks;
  tasks.push_back(h.task(1, 4));
  tasks.push_back(h.task(2, 3));
  for (uint64_t id = 3; id <= 20; ++id) tasks.push_back(h.task(id, 4));
  h.executor->launch_tasks(std::move(tasks));
  EXPECT_EQ(h.sink.wait(1).state, TaskState::finished);
  EXPECT_TRUE(h.sink.wait_running(2));
  EXPECT_EQ(h.sink.of(3).size(), 0U);
  const auto running = h.executor->running();
  ASSERT_EQ(running.size(), 1U);
  EXPECT_EQ(running[0].first, 2U);
  EXPECT_GT(running[0].second.run_ns, 0);
  go.set();
  ASSERT_TRUE(h.sink.wait_for_ends(20));
  set_hook("long", nullptr);
  const auto statuses = h.sink.of(2);
  ASSERT_EQ(statuses.size(), 2U);  // RUNNING once, before the end
  EXPECT_EQ(statuses[0].state, TaskState::running);
}

TEST(Executor, ShutdownEndsAllTasksAsKilled) {
  Harness h(1);
  h.add_stage(3, numbers(0, "until killed"), sum_action());
  Signal running;
  set_hook("until killed", [&](const TaskContext& task) {
    running.set();
    while (!task.killed()) std::this_thread::yield();
    task.throw_if_killed();
  });
  h.launch(h.task(1, 3));
  h.launch(h.task(2, 3));
  ASSERT_TRUE(running.wait());
  h.executor->shutdown("driver stops");
  h.executor->shutdown("again");
  h.executor->join();
  h.executor->join();
  h.launch(h.task(3, 3));
  set_hook("until killed", nullptr);
  for (const uint64_t id : {1U, 2U, 3U}) {
    const task::StatusUpdate end = h.sink.wait(id);
    EXPECT_EQ(end.state, TaskState::killed);
    EXPECT_EQ(reason_of<task::TaskKilled>(end)->reason, "driver stops");
  }
}

}  // namespace
}  // namespace tenon::executor
