// Jobs through the real DagScheduler and TaskScheduler over a backend that only plays
// (SchedulerIntegrationSuite).
#include <gmock/gmock.h>

#include <cstdio>
#include <deque>
#include <functional>
#include <set>

#include "context/late_submitter.hpp"
#include "dag/dag_scheduler.hpp"
#include "loop/loop.hpp"
#include "task/task_scheduler.hpp"
#include "unit/dag/harness.hpp"

namespace tenon {
namespace {

using dag::testing::FakeBlocks;
using dag::testing::ListenerPtr;
using dag::testing::RecordingListener;
using dag::testing::RecordingSink;
using std::chrono::milliseconds;
using testing::HasSubstr;

// A task as the backend sees it.
struct RunningTask {
  task::Launch launch;
  int32_t stage = 0, stage_attempt = 0, partition = 0;
};

// Executors with cores; each call comes back as a message to the loop, as a plugin's does.
class MockBackend final : public task::Backend {
 public:
  explicit MockBackend(loop::Loop& loop) : loop_(loop) {}

  void add_executor(const std::string& id, uint32_t cores) { free_[id] = cores; }
  void set_scheduler(task::TaskScheduler& scheduler) { scheduler_ = &scheduler; }

  void revive_offers() override {
    loop_.post([this] {
      std::vector<task::WorkerOffer> offers;
      for (auto& [id, cores] : free_) offers.push_back(make_offer(id, std::exchange(cores, 0)));
      send(task::OfferScope::all_free, std::move(offers));
    });
  }
  void launch_tasks(uint64_t offer, std::vector<task::Launch> tasks) override {
    auto offered = std::move(offered_.extract(offer).mapped());
    for (task::Launch& launch : tasks) {
      uint32_t& cores = offered.at(launch.executor_id);
      EXPECT_GE(cores, launch.cores);
      cores -= launch.cores;
      RunningTask run{std::move(launch), 0, 0, 0};
      EXPECT_EQ(std::sscanf(run.launch.payload.c_str(), "%d %d %d", &run.stage, &run.stage_attempt,
                            &run.partition),
                3);
      running.push_back(std::move(run));
    }
    most_running = std::max(most_running, running.size());
    for (const auto& [id, cores] : offered) free_[id] += cores;
  }
  void kill_task(uint64_t task_id, const std::string&, bool, bool,
                 const std::string& reason) override {
    loop_.post([this, task_id, reason] {
      const auto it = std::ranges::find_if(
          running, [&](const RunningTask& run) { return run.launch.task_id == task_id; });
      if (it == running.end()) return;
      const RunningTask run = *it;
      running.erase(it);
      end(run, task::TaskState::killed, task::TaskKilled{reason, {}});
    });
  }
  bool kill_executor(const std::string&, const std::string&) override { return false; }
  uint64_t max_payload_bytes() const override { return 0; }

  // The task is over: its status, then an offer of its executor alone.
  void end(const RunningTask& run, task::TaskState state, task::EndReason reason) {
    scheduler_->status_update(
        {{run.launch.task_id, run.launch.executor_id, state, std::move(reason)}});
    uint32_t& cores = free_[run.launch.executor_id];
    cores += run.launch.cores;
    send(task::OfferScope::single_executor,
         {make_offer(run.launch.executor_id, std::exchange(cores, 0))});
  }

  std::deque<RunningTask> running;
  size_t most_running = 0;

 private:
  static task::WorkerOffer make_offer(const std::string& id, uint32_t cores) {
    task::WorkerOffer offer;
    offer.executor_id = id;
    offer.host = id + "-host";
    offer.free_cores = cores;
    return offer;
  }
  void send(task::OfferScope scope, std::vector<task::WorkerOffer> offers) {
    const uint64_t number = ++last_offer_;
    for (const auto& offer : offers) offered_[number][offer.executor_id] = offer.free_cores;
    scheduler_->resource_offers(number, scope, std::move(offers));
    EXPECT_FALSE(offered_.contains(number)) << "an offer without an answer";
  }

  loop::Loop& loop_;
  task::TaskScheduler* scheduler_ = nullptr;
  std::map<std::string, uint32_t> free_;
  std::map<uint64_t, std::map<std::string, uint32_t>> offered_;
  uint64_t last_offer_ = 0;
};

class SchedulerIntegrationTest : public testing::Test {
 public:
  SchedulerIntegrationTest() : backend(loop) {
    loop.advance(std::chrono::seconds(1));
    dag = std::make_unique<dag::DagScheduler>(loop, late, tracker, blocks, sink);
    dag->set_application("app-1", "1");
    tasks = std::make_unique<task::TaskScheduler>(
        loop, backend, *dag, task::Settings{},
        [](const task::TaskSet& set, const task::TaskSpec& task, uint64_t, int, bool) {
          return std::to_string(set.stage_id) + " " + std::to_string(set.stage_attempt) + " " +
                 std::to_string(task.partition);
        });
    late.set(*tasks, [this](const task::TaskSetPtr& set) {
      attempts[set->stage_id].insert(set->stage_attempt);
    });
    backend.set_scheduler(*tasks);
  }

  rdd::NodePtr node(int32_t partitions, std::vector<rdd::Dependency> dependencies = {}) {
    rdd::NodeSpec spec;
    spec.id = next_node++;
    spec.op.id = 1;
    spec.dependencies = std::move(dependencies);
    spec.partitions = [partitions] { return rdd::Partitions(static_cast<size_t>(partitions)); };
    return std::make_shared<const rdd::Node>(std::move(spec));
  }
  rdd::ShufflePtr shuffle(const rdd::NodePtr& parent, int32_t reduces) {
    rdd::ShuffleDependency dependency;
    dependency.shuffle_id = static_cast<int32_t>(shuffles.size());
    dependency.parent = parent;
    dependency.reduces = reduces;
    dependency.writer.id = 2;
    shuffles.push_back(std::make_shared<const rdd::ShuffleDependency>(std::move(dependency)));
    return shuffles.back();
  }

  ListenerPtr submit(const rdd::NodePtr& final) {
    auto listener = std::make_shared<RecordingListener>();
    dag::JobRequest request;
    request.id = next_job++;
    request.node = final;
    request.action.id = 3;
    for (int32_t i = 0; i < final->partition_count(); ++i) request.partitions.push_back(i);
    request.listener = listener;
    dag->submit_job(std::move(request));
    return listener;
  }

  // Runs tasks one after another until the job has ended. behave says how each ends.
  void run_to_end(const ListenerPtr& listener,
                  const std::function<task::EndReason(const RunningTask&)>& behave) {
    for (int steps = 0; listener->ends == 0; ++steps) {
      ASSERT_LT(steps, 1000) << "the job does not end";
      loop.run();
      ASSERT_EQ(tasks->check_invariants(), std::vector<std::string>{});
      if (backend.running.empty()) {
        loop.advance(milliseconds(10));  // the resubmission of a failed stage
        continue;
      }
      const RunningTask run = backend.running.front();
      backend.running.pop_front();
      ++ran;
      task::EndReason reason = behave(run);
      const bool success = std::holds_alternative<task::Success>(reason);
      backend.end(run, success ? task::TaskState::finished : task::TaskState::failed,
                  std::move(reason));
    }
    loop.run();
    EXPECT_EQ(listener->ends, 1);
  }

  // Result tasks of the stage give 42 + partition; all others write their shuffle at their
  // executor.
  task::EndReason succeed(const RunningTask& run) {
    auto result = std::make_shared<task::TaskResult>();
    for (const rdd::ShufflePtr& each : shuffles) {
      if (each->shuffle_id != run.stage) continue;
      result->map_status =
          task::MapStatus{{run.launch.executor_id, run.launch.executor_id + "-host", "endpoint"},
                          std::vector<uint64_t>(static_cast<size_t>(each->reduces), 10),
                          run.launch.task_id};
    }
    if (!result->map_status) result->value = std::to_string(42 + run.partition);
    return task::Success{result};
  }

  void expect_results(const ListenerPtr& listener, int32_t count) {
    std::map<int32_t, std::string> expected;
    for (int32_t i = 0; i < count; ++i) expected[i] = std::to_string(42 + i);
    EXPECT_TRUE(listener->succeeded) << listener->failure_text();
    EXPECT_EQ(listener->results, expected);
  }
  void expect_all_empty() {
    EXPECT_EQ(dag->sizes(), dag::Sizes{});
    const task::Sizes sizes = tasks->sizes();
    EXPECT_EQ(sizes.stages + sizes.task_sets + sizes.attempts + sizes.queued + sizes.pooled +
                  sizes.running,
              0U);
    // C24.2: every started task has exactly one end.
    std::map<uint64_t, int> balance;
    for (const auto& start : sink.of<event::TaskStart>()) ++balance[start.task.id];
    for (const auto& end : sink.of<event::TaskEnd>()) --balance[end.task.id];
    for (const auto& [id, count] : balance) EXPECT_EQ(count, 0) << "task " << id;
  }

  loop::ManualLoop loop;
  MockBackend backend;
  context::LateSubmitter late;
  dag::MapOutputTracker tracker;
  FakeBlocks blocks;
  RecordingSink sink;
  std::unique_ptr<dag::DagScheduler> dag;
  std::unique_ptr<task::TaskScheduler> tasks;
  std::vector<rdd::ShufflePtr> shuffles;
  std::map<int32_t, std::set<int32_t>> attempts;  // stage -> its attempts
  int32_t next_node = 0, next_job = 0;
  int ran = 0;
};

TEST_F(SchedulerIntegrationTest, T047_SimpleJobThroughBothSchedulers) {
  backend.add_executor("exec1", 1);
  const ListenerPtr job = submit(node(10));
  std::vector<int32_t> order;
  run_to_end(job, [&](const RunningTask& run) -> task::EndReason {
    order.push_back(run.partition);
    auto result = std::make_shared<task::TaskResult>();
    result->value = "42";
    return task::Success{result};
  });
  EXPECT_TRUE(job->succeeded);
  ASSERT_EQ(job->results.size(), 10U);
  for (const auto& [position, value] : job->results) EXPECT_EQ(value, "42") << position;
  EXPECT_EQ(ran, 10);
  EXPECT_EQ(backend.most_running, 1U);  // one by one
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  expect_all_empty();
}

TEST_F(SchedulerIntegrationTest, T048_FiveStageDiamond) {
  for (const char* id : {"exec1", "exec2", "exec3"}) backend.add_executor(id, 4);
  const rdd::NodePtr a = node(2);
  const rdd::NodePtr b = node(10, {shuffle(a, 10)});
  const rdd::NodePtr c = node(20, {shuffle(a, 20)});
  const rdd::ShufflePtr b_to_d = shuffle(b, 30);
  const rdd::ShufflePtr c_to_d = shuffle(c, 30);
  const rdd::NodePtr d = node(30, {b_to_d, c_to_d});
  // Which shuffle a stage writes: known by its number of tasks, but for a's two stages, which write
  // one each.
  std::map<int32_t, int32_t> shuffle_of;
  std::map<int32_t, int> tasks_of;
  const ListenerPtr job = submit(d);
  loop.run();
  for (const auto& start : sink.of<event::JobStart>()) {
    for (const auto& stage : start.stages) {
      if (stage->shuffle_id) shuffle_of[stage->id] = *stage->shuffle_id;
    }
  }
  ASSERT_EQ(shuffle_of.size(), 4U);
  run_to_end(job, [&](const RunningTask& run) -> task::EndReason {
    ++tasks_of[run.stage];
    auto result = std::make_shared<task::TaskResult>();
    if (const auto it = shuffle_of.find(run.stage); it != shuffle_of.end()) {
      const rdd::ShuffleDependency& writes = *shuffles[static_cast<size_t>(it->second)];
      result->map_status =
          task::MapStatus{{run.launch.executor_id, "host", "endpoint"},
                          std::vector<uint64_t>(static_cast<size_t>(writes.reduces), 10),
                          run.launch.task_id};
    } else {
      EXPECT_EQ(tracker.available(b_to_d->shuffle_id), 10);
      EXPECT_EQ(tracker.available(c_to_d->shuffle_id), 20);
      result->value = std::to_string(42 + run.partition);
    }
    return task::Success{result};
  });
  expect_results(job, 30);
  ASSERT_EQ(attempts.size(), 5U);
  for (const auto& [stage, numbers] : attempts) EXPECT_EQ(numbers, (std::set<int32_t>{0})) << stage;
  std::multiset<int> counts;
  for (const auto& [stage, count] : tasks_of) counts.insert(count);
  EXPECT_EQ(counts, (std::multiset<int>{2, 2, 10, 20, 30}));
  expect_all_empty();
}

TEST_F(SchedulerIntegrationTest, T049_FetchFailureEndToEnd) {
  for (const char* id : {"exec1", "exec2"}) backend.add_executor(id, 2);
  const rdd::ShufflePtr maps = shuffle(node(2), 10);
  const ListenerPtr job = submit(node(10, {maps}));
  run_to_end(job, [&](const RunningTask& run) -> task::EndReason {
    if (run.stage == 1 && run.stage_attempt == 0 && run.partition == 0) {
      const auto status = tracker.outputs(maps->shuffle_id).statuses.at(0);
      return task::FetchFailed{status->location, maps->shuffle_id, 0, 0, 0, "ignored"};
    }
    return succeed(run);
  });
  expect_results(job, 10);
  EXPECT_EQ(attempts, (std::map<int32_t, std::set<int32_t>>{{0, {0, 1}}, {1, {0, 1}}}));
  expect_all_empty();
}

TEST_F(SchedulerIntegrationTest, T051_AlwaysFailingTask) {
  backend.add_executor("exec1", 1);
  const ListenerPtr job = submit(node(10));
  run_to_end(job, [&](const RunningTask& run) -> task::EndReason {
    if (run.partition != 3) return succeed(run);
    task::ExceptionFailure failure;
    failure.type = "std::runtime_error";
    failure.message = "test task failure";
    return failure;
  });
  ASSERT_NE(job->failure, nullptr);
  EXPECT_THAT(job->failure_text(), HasSubstr("Job aborted due to stage failure"));
  EXPECT_THAT(job->failure_text(), HasSubstr("Task 3 in stage 0.0 failed 4 times"));
  EXPECT_THAT(job->failure_text(), HasSubstr("test task failure"));
  int attempts_of_three = 0;
  for (const auto& start : sink.of<event::TaskStart>())
    attempts_of_three += start.task.partition == 3;
  EXPECT_EQ(attempts_of_three, 4);
  expect_all_empty();
}

TEST_F(SchedulerIntegrationTest, C2_10_TheContextWorksAfterAFailedAndACancelledJob) {
  backend.add_executor("exec1", 2);
  ListenerPtr job = submit(node(2));
  run_to_end(job, [](const RunningTask&) { return task::UnknownReason{"x"}; });
  EXPECT_FALSE(job->succeeded);
  job = submit(node(4));
  loop.run();
  EXPECT_EQ(backend.running.size(), 2U);
  dag->post_from_any_thread(dag::JobCancelled{next_job - 1, {}});
  loop.run();
  EXPECT_EQ(job->ends, 1);
  EXPECT_EQ(backend.running.size(), 0U);  // killed
  expect_all_empty();
  job = submit(node(3));
  run_to_end(job, [this](const RunningTask& run) { return succeed(run); });
  expect_results(job, 3);
  expect_all_empty();
}

}  // namespace
}  // namespace tenon
