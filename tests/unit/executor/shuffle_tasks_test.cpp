// Tasks that write and read a shuffle.
#include <stdexcept>

#include "harness.hpp"
#include "shuffle/fetch_failed.hpp"
#include "tenon/error.hpp"

namespace tenon::executor {
namespace {

using namespace testing;  // NOLINT: the harness of this folder
using task::TaskState;

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

}  // namespace
}  // namespace tenon::executor
