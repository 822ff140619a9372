// What a task uses besides its input: cached partitions, accumulators, broadcasts.
#include "executor/attempt.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "harness.hpp"
#include "tenon/error.hpp"

namespace tenon::executor {
namespace {

using namespace testing;  // NOLINT: the harness of this folder
using namespace std::chrono_literals;
using task::TaskState;
using ::testing::HasSubstr;

TEST(Executor, C15_3_ACachedPartitionIsComputedOnceAndReadAfterwards) {
  Harness h(2);
  const rdd::NodePtr cached = pass(1, numbers(0, "count"));
  keep_in_memory(*cached);
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
  keep_in_memory(*cached);
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
  keep_in_memory(*cached);
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

}  // namespace
}  // namespace tenon::executor
