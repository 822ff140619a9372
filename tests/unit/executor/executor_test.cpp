#include "executor/executor.hpp"

#include <atomic>
#include <chrono>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

#include "harness.hpp"
#include "shuffle/fetch_failed.hpp"
#include "tenon/error.hpp"

namespace tenon::executor {
namespace {

using namespace testing;  // NOLINT: the harness of this folder
using namespace std::chrono_literals;
using task::TaskState;
using ::testing::HasSubstr;

rdd::NodePtr numbers(int32_t id = 0, const std::string& hook = "") {
  return make_node(id, source_operator(hook), {}, {"1 2 3", "4 5"}, "parallelize");
}

rdd::NodePtr pass(int32_t id, rdd::NodePtr parent, const std::string& hook = "") {
  std::vector<std::string> partitions(parent->partitions().size());
  return make_node(id, pass_operator(hook), {rdd::NarrowDependency{std::move(parent), {}}},
                   std::move(partitions), "map");
}

std::string value_of(const task::StatusUpdate& update) {
  const auto* success = reason_of<task::Success>(update);
  return success == nullptr ? task::describe(update.reason) : success->result->value;
}

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

// ---- failures

struct Nested : std::logic_error {
  using std::logic_error::logic_error;
};

task::ExceptionFailure failure_of(const Hook& hook) {
  Harness h;
  h.add_stage(3, pass(1, numbers(), "fail"), sum_action());
  set_hook("fail", hook);
  const task::StatusUpdate end = h.run(h.task(1, 3));
  set_hook("fail", nullptr);
  EXPECT_EQ(end.state, TaskState::failed);
  const auto* failure = reason_of<task::ExceptionFailure>(end);
  EXPECT_NE(failure, nullptr);
  return failure == nullptr ? task::ExceptionFailure{} : *failure;
}

TEST(Executor, AnExceptionOfAnyKindIsReported) {
  struct Case {
    Hook hook;
    const char *type, *message;
    bool no_retry;
  };
  struct Own {};
  const Case cases[] = {
      {[](const TaskContext&) { throw std::runtime_error("boom"); }, "std::runtime_error", "boom",
       false},
      {[](const TaskContext&) { throw FatalError("give up"); }, "tenon::FatalError", "give up",
       true},
      {[](const TaskContext&) { throw 42; }, "int", "42", false},
      {[](const TaskContext&) { throw "text"; }, "char const*", "text", false},
      {[](const TaskContext&) { throw std::string("text"); }, "std::string", "text", false},
      {[](const TaskContext&) { throw Own(); }, "Own", "no std::exception", false},
      {[](const TaskContext&) { throw std::bad_alloc(); }, "std::bad_alloc", "bad_alloc", false},
  };
  for (const Case& c : cases) {
    const task::ExceptionFailure failure = failure_of(c.hook);
    if (std::string(c.type) == "std::string") {
      EXPECT_THAT(failure.type, HasSubstr("string"));
    } else {
      EXPECT_THAT(failure.type, HasSubstr(c.type));
    }
    EXPECT_THAT(failure.message, HasSubstr(c.message));
    EXPECT_EQ(failure.no_retry, c.no_retry) << c.type;
    EXPECT_EQ(failure.origin, "map at program.cpp:11") << c.type;
    EXPECT_TRUE(failure.causes.empty());
  }
}

TEST(Executor, T172_TheCauseChainIsReported) {
  const task::ExceptionFailure failure = failure_of([](const TaskContext&) {
    try {
      try {
        throw std::runtime_error("failed=2");
      } catch (...) {
        std::throw_with_nested(Nested("oops"));
      }
    } catch (...) {
      std::throw_with_nested(std::invalid_argument("outer"));
    }
  });
  EXPECT_EQ(failure.type, "std::invalid_argument");
  EXPECT_EQ(failure.message, "outer");
  ASSERT_EQ(failure.causes.size(), 2U);
  EXPECT_THAT(failure.causes[0].first, HasSubstr("Nested"));
  EXPECT_EQ(failure.causes[0].second, "oops");
  EXPECT_EQ(failure.causes[1],
            std::make_pair(std::string("std::runtime_error"), std::string("failed=2")));

  const task::ExceptionFailure ours = failure_of([](const TaskContext&) {
    const auto root = std::make_shared<const Error>(ErrorKind::codec, "root");
    const auto middle = std::make_shared<const Error>(ErrorKind::codec, "middle", root);
    throw Error(ErrorKind::user_function, "top", middle);
  });
  EXPECT_EQ(ours.message, "top");
  ASSERT_EQ(ours.causes.size(), 2U);
  EXPECT_EQ(ours.causes[0].second, "middle");
  EXPECT_EQ(ours.causes[1].second, "root");
}

TEST(Executor, AFailureOfTheActionHasNoRddsPlace) {
  Harness h;
  h.add_stage(3, numbers(), sum_action("fail"));
  set_hook("fail", [](const TaskContext&) { throw std::runtime_error("boom"); });
  const task::StatusUpdate end = h.run(h.task(1, 3));
  set_hook("fail", nullptr);
  EXPECT_EQ(reason_of<task::ExceptionFailure>(end)->origin, "");
  EXPECT_EQ(value_of(h.run(h.task(2, 3))), "6");
}

// ---- shuffle

// A map stage (1) over numbers and a result stage (2) that reads it.
void add_shuffle(Harness& h) {
  auto shuffle = std::make_shared<rdd::ShuffleDependency>();
  shuffle->shuffle_id = 5;
  shuffle->parent = numbers();
  shuffle->reduces = 2;
  shuffle->writer = shuffle_writer();
  h.add_map_stage(1, *shuffle);
  h.add_stage(
      2,
      make_node(1, shuffle_read_operator(), {rdd::ShufflePtr(shuffle)}, {"", ""}, "reduce_by_key"),
      sum_action());
}

task::MapStatus run_map(Harness& h, uint64_t task_id, int32_t partition) {
  const task::StatusUpdate end = h.run(h.task(task_id, 1, partition));
  EXPECT_EQ(end.state, TaskState::finished);
  return reason_of<task::Success>(end)->result->map_status.value();
}

void set_outputs(Harness& h, uint64_t epoch, std::vector<std::optional<task::MapStatus>> statuses) {
  const std::lock_guard lock(h.driver.mutex);
  h.driver.outputs[5] = {epoch, std::move(statuses)};
}

TEST(Executor, AMapTaskWritesAndAReduceTaskReads) {
  Harness h;
  add_shuffle(h);
  const task::MapStatus first = run_map(h, 1, 0);
  const task::MapStatus second = run_map(h, 2, 1);
  EXPECT_EQ(first.map_id, 1U);
  EXPECT_EQ(first.location.executor_id, "1");
  EXPECT_EQ(first.location.host, "host-a");
  EXPECT_EQ(first.location.endpoint, "inproc://blocks-1");
  EXPECT_EQ(first.sizes, (std::vector<uint64_t>{2, 4}));
  set_outputs(h, 1, {first, second});
  const task::StatusUpdate even = h.run(h.task(3, 2, 0, 0, 1));
  EXPECT_EQ(value_of(even), "6");  // 2 + 4
  EXPECT_EQ(value_of(h.run(h.task(4, 2, 1, 0, 1))), "9");
  EXPECT_EQ(reason_of<task::Success>(even)->result->metrics.shuffle_read_records, 2U);
  EXPECT_EQ(h.driver.output_fetches, 1);
}

TEST(Executor, C16_2_AMissingMapOutputIsAFetchFailureWithoutAnAddress) {
  Harness h;
  add_shuffle(h);
  set_outputs(h, 1, {run_map(h, 1, 0), std::nullopt});
  const task::StatusUpdate end = h.run(h.task(3, 2, 0, 0, 1));
  EXPECT_EQ(end.state, TaskState::failed);
  const auto* failed = reason_of<task::FetchFailed>(end);
  ASSERT_NE(failed, nullptr);
  EXPECT_FALSE(failed->address);
  EXPECT_EQ(failed->shuffle_id, 5);
  EXPECT_EQ(failed->map_index, 1);
  // Nothing of it is kept: the same epoch is asked for again.
  set_outputs(h, 1, {run_map(h, 4, 0), run_map(h, 5, 1)});
  EXPECT_EQ(value_of(h.run(h.task(6, 2, 0, 0, 1))), "6");
}

// Map output 0 was lost after it had been registered.
void lose_first_output(Harness& h) {
  const task::MapStatus first = run_map(h, 1, 0);
  h.blocks.remove_shuffle(5);
  set_outputs(h, 1, {first, run_map(h, 2, 1)});
}

TEST(Executor, T148_AFetchFailureThatTheProgramHidesIsReported) {
  struct Case {
    const char* name;
    Hook hook;
  };
  const Case cases[] = {
      {"not caught", nullptr},
      {"another one thrown", [](const TaskContext&) { throw std::runtime_error("hidden"); }},
      {"no std::exception thrown", [](const TaskContext&) { throw 1; }},
      {"a fatal one thrown", [](const TaskContext&) { throw FatalError("hidden"); }},
  };
  for (const Case& c : cases) {
    Harness h;
    add_shuffle(h);
    lose_first_output(h);
    set_hook("on fetch failure", c.hook);
    const task::StatusUpdate end = h.run(h.task(3, 2, 0, 0, 1));
    set_hook("on fetch failure", nullptr);
    EXPECT_EQ(end.state, TaskState::failed) << c.name;
    const auto* failed = reason_of<task::FetchFailed>(end);
    ASSERT_NE(failed, nullptr) << c.name;
    EXPECT_EQ(failed->address->executor_id, "1");
    EXPECT_EQ(failed->map_id, 1);
    EXPECT_EQ(failed->map_index, 0);
    EXPECT_EQ(failed->reduce_id, 0);
  }
}

TEST(Executor, C4_1_AFetchFailureThatTheProgramSwallowsCountsAsSuccess) {
  Harness h;
  add_shuffle(h);
  lose_first_output(h);
  set_hook("on fetch failure", [](const TaskContext&) {});
  const task::StatusUpdate end = h.run(h.task(3, 2, 0, 0, 1));
  set_hook("on fetch failure", nullptr);
  EXPECT_EQ(end.state, TaskState::finished);
  EXPECT_EQ(value_of(end), "0");
}

TEST(Executor, C17_4_AFetchFailureOfAKilledTaskIsAKill) {
  Harness h;
  add_shuffle(h);
  lose_first_output(h);
  Signal failed, killed;
  set_hook("on fetch failure", [&](const TaskContext&) {
    failed.set();
    ASSERT_TRUE(killed.wait());
    throw std::runtime_error("hidden");
  });
  h.launch(h.task(3, 2, 0, 0, 1));
  ASSERT_TRUE(failed.wait());
  h.executor->kill_task(3, true, false, "another attempt succeeded");
  killed.set();
  const task::StatusUpdate end = h.sink.wait(3);
  set_hook("on fetch failure", nullptr);
  EXPECT_EQ(end.state, TaskState::killed);
  EXPECT_EQ(reason_of<task::TaskKilled>(end)->reason, "another attempt succeeded");
}

TEST(Executor, C16_4_AKilledMapTaskLeavesNoOutput) {
  Harness h;
  add_shuffle(h);
  Signal written, killed;
  set_hook("after write", [&](const TaskContext&) {
    written.set();
    ASSERT_TRUE(killed.wait());
  });
  h.launch(h.task(1, 1));
  ASSERT_TRUE(written.wait());
  h.executor->kill_task(1, true, false, "no longer needed");
  killed.set();
  EXPECT_EQ(h.sink.wait(1).state, TaskState::killed);
  set_hook("after write", nullptr);
  EXPECT_EQ(h.blocks.map_output(5, 1), nullptr);
  EXPECT_EQ(h.blocks.usage().map_outputs, 0U);
}

// ---- kill

TEST(Executor, C17_4_KillBeforeWhileDecodingAndWhileRunning) {
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
  for (const uint64_t id : {1, 4, 5, 6}) {
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
  for (const uint64_t id : {1, 2, 3}) {
    const task::StatusUpdate end = h.sink.wait(id);
    EXPECT_EQ(end.state, TaskState::killed);
    EXPECT_EQ(reason_of<task::TaskKilled>(end)->reason, "driver stops");
  }
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

// ---- cache

TEST(Executor, C15_3_ACachedPartitionIsComputedOnceAndReadAfterwards) {
  Harness h(2);
  const rdd::NodePtr cached = pass(1, numbers(0, "count"));
  cached->set_cached(true);
  h.add_stage(3, pass(2, cached), sum_action());
  std::atomic<int> computed{0};
  set_hook("count", [&](const TaskContext&) {
    ++computed;
    std::this_thread::sleep_for(2ms);
  });
  std::vector<LaunchedTask> tasks;
  for (uint64_t id = 1; id <= 8; ++id) tasks.push_back(h.task(id, 3));
  h.executor->launch_tasks(std::move(tasks));
  for (uint64_t id = 1; id <= 8; ++id) EXPECT_EQ(value_of(h.sink.wait(id)), "6");
  EXPECT_EQ(computed, 1);
  EXPECT_EQ(h.blocks.memory().blocks(), (std::vector<storage::RddBlockId>{{1, 0}}));
  EXPECT_EQ(h.blocks.memory().used_bytes(), 24U);
  h.blocks.memory().remove_rdd(1);
  EXPECT_EQ(h.blocks.memory().used_bytes(), 0U);  // no task holds it any more (C17.9)
  EXPECT_EQ(value_of(h.run(h.task(9, 3))), "6");
  EXPECT_EQ(computed, 2);
  set_hook("count", nullptr);
}

TEST(Executor, C15_3_APartlyComputedPartitionIsNotKept) {
  Harness h(1);
  const rdd::NodePtr cached = pass(1, numbers(), "stop");
  cached->set_cached(true);
  h.add_stage(3, cached, sum_action());
  set_hook("stop", [](const TaskContext&) { throw std::runtime_error("stopped"); });
  EXPECT_EQ(h.run(h.task(1, 3)).state, TaskState::failed);
  EXPECT_TRUE(h.blocks.memory().blocks().empty());
  // Killed while it computes; its code takes no notice.
  Signal running, killed;
  set_hook("stop", [&](const TaskContext&) {
    running.set();
    ASSERT_TRUE(killed.wait());
  });
  h.launch(h.task(2, 3));
  ASSERT_TRUE(running.wait());
  h.executor->kill_task(2, true, false, "cancelled");
  killed.set();
  EXPECT_EQ(h.sink.wait(2).state, TaskState::killed);
  EXPECT_TRUE(h.blocks.memory().blocks().empty());
  set_hook("stop", nullptr);
  EXPECT_EQ(value_of(h.run(h.task(3, 3))), "6");
  EXPECT_EQ(h.blocks.memory().blocks().size(), 1U);
}

TEST(Executor, C15_4_APartitionThatHasNoRoomIsComputedEachTime) {
  Harness h(1, 20);
  const rdd::NodePtr cached = numbers(1, "count");
  cached->set_cached(true);
  h.add_stage(3, cached, sum_action());
  std::atomic<int> computed{0};
  set_hook("count", [&](const TaskContext&) { ++computed; });
  for (uint64_t round = 0; round < 3; ++round) {
    EXPECT_EQ(value_of(h.run(h.task(2 * round + 1, 3, 0))), "6");  // 24 bytes: no room
    EXPECT_EQ(value_of(h.run(h.task(2 * round + 2, 3, 1))), "9");  // 16 bytes: kept
  }
  set_hook("count", nullptr);
  EXPECT_EQ(computed, 4);
  EXPECT_EQ(h.blocks.memory().blocks(), (std::vector<storage::RddBlockId>{{1, 1}}));
}

// ---- accumulators and broadcasts

struct Count final : detail::AccumulatorState {
  int64_t sum = 0;
  [[nodiscard]] std::string encode() const override { return std::to_string(sum); }
};

void add_to(uint64_t id, int64_t amount) {
  auto* state = detail::task_accumulator(
      id,
      [](const void*) -> std::unique_ptr<detail::AccumulatorState> {
        return std::make_unique<Count>();
      },
      nullptr);
  ASSERT_NE(state, nullptr);
  dynamic_cast<Count&>(*state).sum += amount;
}

std::string text(const std::vector<task::AccumulatorUpdate>& updates) {
  std::string out;
  for (const auto& update : updates) out += std::to_string(update.id) + "=" + update.bytes + " ";
  return out;
}

TEST(Executor, C14_1_AccumulatorUpdatesComeWithSuccessAlone) {
  Harness h(1);
  h.add_stage(3, numbers(0, "add"), sum_action());
  Signal running, killed;
  set_hook("add", [&](const TaskContext& task) {
    add_to(5, 2);
    add_to(6, 1);
    add_to(5, 3);
    if (task.task_id() == 2) throw std::runtime_error("boom");
    if (task.task_id() == 3) {
      running.set();
      ASSERT_TRUE(killed.wait());
    }
  });
  EXPECT_EQ(text(reason_of<task::Success>(h.run(h.task(1, 3)))->result->accumulators), "5=5 6=1 ");
  EXPECT_EQ(text(reason_of<task::ExceptionFailure>(h.run(h.task(2, 3)))->accumulators), "");
  h.launch(h.task(3, 3));
  ASSERT_TRUE(running.wait());
  h.executor->kill_task(3, true, false, "cancelled");
  killed.set();
  EXPECT_EQ(text(reason_of<task::TaskKilled>(h.sink.wait(3))->accumulators), "");
  set_hook("add", nullptr);
  // The next task starts with none; and there are none outside of tasks.
  EXPECT_EQ(text(reason_of<task::Success>(h.run(h.task(4, 3)))->result->accumulators), "");
  EXPECT_EQ(detail::task_accumulator(5, nullptr, nullptr), nullptr);
}

std::shared_ptr<const void> decode_text(std::string_view bytes) {
  return std::make_shared<const std::string>(bytes);
}

TEST(Executor, C15_1_ABroadcastIsFetchedOnceAndHoldsWhileATaskUsesIt) {
  Harness h(2);
  h.driver.broadcasts[4] = "table";
  h.add_stage(3, numbers(0, "use"), sum_action());
  set_hook("use", [&](const TaskContext&) {
    const auto* first =
        static_cast<const std::string*>(detail::task_broadcast(4, &decode_text).get());
    h.blocks.remove_broadcast(4);
    EXPECT_EQ(*first, "table");
    EXPECT_EQ(detail::task_broadcast(4, &decode_text).get(), first);
  });
  h.run(h.task(1, 3));
  EXPECT_EQ(h.driver.broadcast_fetches, 1);
  h.run(h.task(2, 3));
  EXPECT_EQ(h.driver.broadcast_fetches, 2);  // it was unpersisted
  {
    const std::lock_guard lock(h.driver.mutex);
    h.driver.broadcasts.clear();
  }
  const task::StatusUpdate end = h.run(h.task(3, 3));
  set_hook("use", nullptr);
  EXPECT_THAT(reason_of<task::ExceptionFailure>(end)->message, HasSubstr("destroyed"));
  EXPECT_THROW(static_cast<void>(detail::task_broadcast(4, &decode_text)), Error);
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
