// How statuses leave the executor's task table (ABI rule 4: no lock of ours is held meanwhile).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

#include "executor/task_table.hpp"

namespace tenon::executor {
namespace {

using ::testing::ElementsAre;

// Blocks in its first call until it is let go.
class SlowSink final : public StatusSink {
 public:
  void status_update(std::vector<Status> statuses) override {
    for (const Status& status : statuses) tasks_.push_back(status.task_id);
    if (calls_++ > 0) return;
    inside.set_value();
    go_on.get_future().wait();
    if (from_within) from_within();
  }
  // Once the sender is gone.
  [[nodiscard]] const std::vector<uint64_t>& tasks() const { return tasks_; }
  [[nodiscard]] int calls() const { return calls_; }

  std::promise<void> inside, go_on;
  std::function<void()> from_within;

 private:
  std::vector<uint64_t> tasks_;
  int calls_ = 0;
};

std::vector<LaunchedTask> tasks(uint64_t n) {
  std::vector<LaunchedTask> launched;
  for (uint64_t id = 1; id <= n; ++id) launched.push_back({id, 1, plugin::Buffer()});
  return launched;
}

TEST(TaskTable, ASlowSinkHoldsUpNobodyAndKeepsTheOrder) {
  SlowSink sink;
  TaskTable table(1, sink, [] {});
  sink.from_within = [&] { table.kill(4, false, "from the sink itself"); };
  table.launch(tasks(5));
  std::thread sender([&] { table.kill(1, false, "first"); });
  sink.inside.get_future().wait();
  table.kill(2, false, "second");  // returns, though the sink has not taken the first
  table.kill(3, false, "third");
  EXPECT_EQ(table.queued(), 2u);
  sink.go_on.set_value();
  sender.join();
  table.wait_until_sent();
  EXPECT_THAT(sink.tasks(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(sink.calls(), 2) << "what came meanwhile shares a batch";
}

TEST(TaskTable, WaitUntilSentWaitsForTheSinksReturn) {
  SlowSink sink;
  TaskTable table(1, sink, [] {});
  table.launch(tasks(1));
  std::thread sender([&] { table.shutdown("the end"); });
  sink.inside.get_future().wait();
  std::promise<void> waited;
  std::thread waiter([&] {
    table.wait_until_sent();
    waited.set_value();
  });
  auto done = waited.get_future();
  EXPECT_EQ(done.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  sink.go_on.set_value();
  done.wait();
  sender.join();
  waiter.join();
  EXPECT_THAT(sink.tasks(), ElementsAre(1));
}

}  // namespace
}  // namespace tenon::executor
