#include "executor/executor.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "harness.hpp"
#include "tenon/error.hpp"

namespace tenon::executor {
namespace {

using namespace testing;  // NOLINT: the harness of this folder
using namespace std::chrono_literals;
using task::TaskState;
using ::testing::HasSubstr;

TEST(Executor, S000_062_RunsTasksOverTheirPartitionsData) {
  Harness h;
  h.add_stage(3, pass(1, numbers()), sum_action());
  const task::StatusUpdate first = h.run(h.task(1, 3, 0));
  ASSERT_EQ(first.state, TaskState::finished);
  EXPECT_EQ(value_of(first), "6");
  EXPECT_EQ(value_of(h.run(h.task(2, 3, 1))), "9");
  const task::TaskResult& result = *reason_of<task::Success>(first)->result;
  EXPECT_FALSE(result.map_status);
  EXPECT_EQ(result.metrics.result_bytes, 1U);
  EXPECT_GT(result.metrics.deserialize_ns, 0);
  EXPECT_GT(result.metrics.run_ns, 0);
  EXPECT_EQ(h.driver.binary_fetches, 1);  // once for all tasks of the stage
}

TEST(Executor, ATaskMayBringItsStagesCode) {
  Harness h;
  h.add_stage(3, numbers(), sum_action());
  const std::string binary = std::exchange(h.driver.binaries["stage 3.0"], "");
  const auto data = rdd::partition_data(h.nodes[3], 0);
  TaskDescription description;
  description.task_id = 1;
  description.stage_id = 3;
  description.binary_id = "stage 3.0";
  description.binary = binary;
  description.data = *data;
  EXPECT_EQ(value_of(h.run({1, 1, plugin::Buffer(encode(description))})), "6");
  EXPECT_EQ(h.driver.binary_fetches, 0);
}

TEST(Executor, TheTaskSeesItsContext) {
  Harness h;
  h.add_stage(3, numbers(0, "look"), sum_action());
  std::atomic<int> looked{0};
  set_hook("look", [&](const TaskContext& task) {
    EXPECT_EQ(TaskContext::current(), &task);
    EXPECT_EQ(task.task_id(), 7U);
    EXPECT_EQ(task.stage_id(), 3);
    EXPECT_EQ(task.partition(), 1);
    EXPECT_EQ(task.executor_id(), "1");
    EXPECT_EQ(task.app_id(), "app-1");
    EXPECT_EQ(task.local_property("tenon.job.description"), "test");
    EXPECT_EQ(task.local_property("other"), std::nullopt);
    EXPECT_FALSE(task.killed());
    ++looked;
  });
  h.run(h.task(7, 3, 1));
  EXPECT_EQ(looked, 1);
  EXPECT_EQ(TaskContext::current(), nullptr);
}

TEST(Executor, T149_BytesThatAreNoTaskFailTheTaskAlone) {
  Harness h;
  h.add_stage(3, numbers(), sum_action());
  h.add_stage(4, make_node(0, source_operator("cannot be made"), {}, {"1"}), sum_action());
  h.add_stage(5, make_node(0, {12345, ""}, {}, {"1"}, "text_file"), sum_action());
  {
    const std::lock_guard lock(h.driver.mutex);
    h.driver.binaries["stage 6.0"] = "garbage";
  }
  h.nodes[6] = h.nodes[3];
  h.nodes[7] = h.nodes[3];
  LaunchedTask cut = h.task(10, 3);
  const auto bytes = cut.payload.bytes();
  const std::string half(reinterpret_cast<const char*>(bytes.data()), bytes.size() - 1);
  struct Case {
    LaunchedTask task;
    const char* text;
  };
  std::vector<Case> cases;
  cases.push_back({{1, 1, plugin::Buffer(std::string())}, "Cannot decode a task"});
  cases.push_back({{2, 1, plugin::Buffer(std::string(500, 'x'))}, "version is unknown"});
  cases.push_back({{3, 1, plugin::Buffer(half)}, "do not add up"});
  cases.push_back({{4, 1, std::move(cut.payload)}, "launched as 4"});
  cases.push_back({h.task(5, 4), "bytes that do not fit"});
  cases.push_back({h.task(6, 5), "not registered"});
  cases.push_back({h.task(7, 6), "cannot be read"});
  cases.push_back({h.task(8, 7), "no binary stage 7.0"});
  for (Case& c : cases) {
    const uint64_t id = c.task.task_id;
    const task::StatusUpdate end = h.run(std::move(c.task));
    EXPECT_EQ(end.state, TaskState::failed) << id;
    const auto* failure = reason_of<task::ExceptionFailure>(end);
    ASSERT_NE(failure, nullptr) << id;
    std::string text = failure->message;
    for (const auto& [type, message] : failure->causes) text += " / " + message;
    EXPECT_THAT(text, HasSubstr(c.text)) << id;
    EXPECT_FALSE(failure->no_retry);
  }
  // The executor lives and takes tasks.
  EXPECT_EQ(value_of(h.run(h.task(9, 3))), "6");
}

// ---- results

TEST(Executor, C11_1_LargeResultsGoByBlockAndTooLargeOnesAreDropped) {
  Harness h(2, 0, [](ExecutorOptions& options) {
    options.max_direct_result_bytes = 100;
    options.max_result_bytes = 1000;
  });
  const std::pair<std::string, int32_t> sizes[] = {
      {"100", 1}, {"101", 2}, {"1000", 3}, {"1001", 4}};
  for (const auto& [size, stage] : sizes) {
    h.add_stage(stage, make_node(0, source_operator(), {}, {size}), sum_action("large"));
  }
  const auto result = [&](int32_t stage) {
    const task::StatusUpdate end = h.run(h.task(static_cast<uint64_t>(stage), stage));
    EXPECT_EQ(end.state, TaskState::finished);
    return *reason_of<task::Success>(end)->result;
  };
  const task::TaskResult direct = result(1);
  EXPECT_EQ(direct.value.size(), 100U);
  EXPECT_EQ(direct.missing_value_bytes, 0U);
  EXPECT_FALSE(direct.stored_at);
  for (const int32_t stage : {2, 3}) {
    const task::TaskResult indirect = result(stage);
    EXPECT_EQ(indirect.value, "");
    EXPECT_EQ(indirect.missing_value_bytes, stage == 2 ? 101U : 1000U);
    ASSERT_TRUE(indirect.stored_at);
    EXPECT_EQ(indirect.stored_at->executor_id, "1");
    const auto stored = h.blocks.take_result(static_cast<uint64_t>(stage));
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->size(), indirect.missing_value_bytes);
  }
  const task::TaskResult dropped = result(4);
  EXPECT_EQ(dropped.value, "");
  EXPECT_EQ(dropped.missing_value_bytes, 1001U);
  EXPECT_FALSE(dropped.stored_at);
  EXPECT_EQ(h.blocks.take_result(4), std::nullopt);
}

// ---- heartbeats

TEST(Executor, C17_6_HeartbeatsCarryTheRunningTasks) {
  Harness h(1, 0, [](ExecutorOptions& options) { options.heartbeat_interval = 5ms; });
  h.add_stage(3, numbers(0, "beat"), sum_action());
  Signal running, go;
  set_hook("beat", [&](const TaskContext&) {
    running.set();
    ASSERT_TRUE(go.wait());
  });
  h.launch(h.task(1, 3));
  ASSERT_TRUE(running.wait());
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  bool seen = false;
  while (!seen && std::chrono::steady_clock::now() < deadline) {
    const std::lock_guard lock(h.driver.mutex);
    for (const auto& heartbeat : h.driver.heartbeats) {
      EXPECT_EQ(heartbeat.executor_id, "1");
      seen = seen || (heartbeat.running.size() == 1 && heartbeat.running[0].first == 1 &&
                      heartbeat.running[0].second.run_ns > 0);
    }
  }
  EXPECT_TRUE(seen);
  go.set();
  h.sink.wait(1);
  set_hook("beat", nullptr);
}

TEST(Executor, C17_6_AnswersAskForTheBlocksOrEndTheExecutor) {
  std::vector<storage::BlockUpdate> reported;
  std::mutex mutex;
  storage::BlockManager blocks(100, [&](const storage::BlockUpdate& update) {
    const std::lock_guard lock(mutex);
    reported.push_back(update);
  });
  FakeDriver driver;
  std::atomic<int> answers{0};
  driver.answer = [&](const service::DriverClient::HeartbeatAnswered& answered) {
    const int n = ++answers;
    answered(n == 1 || n == 4, n == 4);  // ok; two failures; ok, all blocks please; failures
  };
  struct Empty final : detail::CachedPartition {
    [[nodiscard]] uint64_t bytes() const override { return 10; }
    void encode(const detail::ByteSink&) const override {}
  };
  ASSERT_TRUE(blocks.memory().put({1, 2}, std::make_shared<const Empty>()));
  TaskServices services(blocks, driver);
  RecordingSink sink;
  ExecutorOptions options;
  options.location.executor_id = "1";
  options.heartbeat_interval = 2ms;
  options.heartbeat_max_failures = 3;
  Signal failed;
  std::atomic<int> failures{0};
  int answers_at_failure = 0;
  {
    const Executor executor(options, services, sink, [&] {
      if (++failures == 1) answers_at_failure = answers;
      failed.set();
    });
    ASSERT_TRUE(failed.wait());
    while (answers < 10) std::this_thread::yield();
  }
  EXPECT_EQ(answers_at_failure, 7);  // three in a row, the two before the answer not counted
  EXPECT_EQ(failures, 1);
  ASSERT_EQ(reported.size(), 2U);  // stored, and once more when the driver asked
  EXPECT_EQ(reported[1].id, (storage::RddBlockId{1, 2}));
  EXPECT_TRUE(reported[1].stored);
}

}  // namespace
}  // namespace tenon::executor
