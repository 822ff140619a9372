// Core's Executor under a plugin's executor backend.
#include "executor/executor_host.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "harness.hpp"
#include "plugin/loaded_plugin.hpp"
#include "plugin/master_url.hpp"
#include "support/wait_until.hpp"
#include "tenon/plugin/plugin.hpp"
#include "unit/plugin/fakes.hpp"

namespace tenon::executor {
namespace {

using namespace testing;  // NOLINT: the harness of this folder
using test::wait_until;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// What the backend below was told, and its mailbox. [any-thread]
class Told {
 public:
  void add(std::string call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }
  [[nodiscard]] std::vector<std::string> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  [[nodiscard]] bool has(const std::string& call) const {
    const auto all = calls();
    return std::find(all.begin(), all.end(), call) != all.end();
  }
  void add_status(uint64_t task, int32_t state) {
    const std::lock_guard lock(mutex_);
    statuses_[task].push_back(state);
  }
  [[nodiscard]] std::map<uint64_t, std::vector<int32_t>> statuses() const {
    const std::lock_guard lock(mutex_);
    return statuses_;
  }
  // Tasks with a terminal status.
  [[nodiscard]] size_t ended() const {
    const auto all = statuses();
    return static_cast<size_t>(std::count_if(all.begin(), all.end(), [](const auto& each) {
      return plugin::is_terminal(each.second.back());
    }));
  }

 private:
  mutable std::mutex mutex_;  // guards both
  std::vector<std::string> calls_;
  std::map<uint64_t, std::vector<int32_t>> statuses_;
};

// The test says when the driver has accepted the executor.
class Backend final : public plugin::ExecutorBackend {
 public:
  using ExecutorBackend::ExecutorBackend;
  void start() override { told().add("start"); }
  void executor_ready() override { told().add("ready"); }
  void status_update(plugin::Statuses statuses) override {
    for (size_t i = 0; i < statuses.size(); ++i) {
      told().add_status(statuses[i].id, statuses[i].state);
    }
  }
  void stop() override {
    told().add("stop");
    core.stopped();
  }
  bool exit_executor(int32_t code, bool, std::string_view reason, bool) override {
    told().add("exit " + std::to_string(code) + " " + std::string(reason));
    return false;
  }

 private:
  [[nodiscard]] Told& told() const { return *static_cast<Told*>(args.peer); }
};

// Threads of this process that run tasks.
size_t task_threads() {
  size_t count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "comm");
    std::string name;
    std::getline(file, name);
    count += name.starts_with("tenon-task") ? 1 : 0;
  }
  return count;
}

// Of the harness, whose own executor stays idle here: it makes the tasks.
constexpr size_t kIdleThreads = 1;

class ExecutorHostTest : public ::testing::Test {
 protected:
  ExecutorHostTest() : tasks_(kIdleThreads) {
    EXPECT_TRUE(wait_until([] { return task_threads() == kIdleThreads; }));
    ExecutorHost::Setup setup;
    setup.backend.api = host::complete(plugin::ExecutorTable<Backend>::api);
    setup.backend.host = host::HostServices::make({}, log_.callbacks());
    setup.backend.master = host::parse_master_url("scripted://h:1");
    setup.backend.executor.executor_id = "1";
    setup.backend.executor.cores = 2;
    setup.backend.executor.peer = &told_;
    setup.backend.stop_timeout = std::chrono::seconds(20);
    setup.stop_timeout = std::chrono::seconds(20);
    setup.options.cores = 2;
    setup.log = [](const std::string&) {};
    setup.parts = [this] {
      ExecutorParts parts;
      parts.location.executor_id = "1";
      parts.services = std::shared_ptr<TaskServices>(&tasks_.services, [](TaskServices*) {});
      return parts;
    };
    host_ = std::make_unique<ExecutorHost>(std::move(setup));
    host_->start();
    EXPECT_TRUE(wait_until([&] { return told_.has("start"); }));
  }

  void launch(uint64_t id, int32_t stage) {
    LaunchedTask task = tasks_.task(id, stage);
    host::LaunchedTask order;
    order.id = id;
    order.payload = std::move(task.payload);
    std::vector<host::LaunchedTask> orders;
    orders.push_back(std::move(order));
    host_->launch_tasks(std::move(orders));
  }

  host::testing::Log log_;
  Told told_;
  Harness tasks_;
  std::unique_ptr<ExecutorHost> host_;
};

TEST_F(ExecutorHostTest, S000_064_TheExecutorIsMadeOnlyAfterRegistration) {
  tasks_.add_stage(3, numbers(), sum_action());
  EXPECT_THAT(told_.calls(), ElementsAre("start"));
  EXPECT_EQ(task_threads(), kIdleThreads) << "not registered: no executor";
  host_->registered();
  ASSERT_TRUE(wait_until([&] { return told_.has("ready"); }));
  EXPECT_TRUE(wait_until([] { return task_threads() == kIdleThreads + 2; })) << "one a core";
  launch(1, 3);
  ASSERT_TRUE(wait_until([&] { return told_.ended() == 1; }));
  EXPECT_EQ(told_.statuses().at(1).back(), TENON_TASK_FINISHED);
  host_->registered();  // once more: it is there already
  EXPECT_TRUE(host_->end());
  EXPECT_THAT(told_.calls(), ElementsAre("start", "ready", "stop"));
  EXPECT_TRUE(wait_until([] { return task_threads() == kIdleThreads; }));
}

TEST_F(ExecutorHostTest, S000_064_ATaskBeforeRegistrationEndsTheExecutor) {
  tasks_.add_stage(3, numbers(), sum_action());
  launch(1, 3);
  EXPECT_TRUE(wait_until([&] { return told_.has("stop"); }));
  EXPECT_THAT(
      told_.calls(),
      ElementsAre("start", "exit 1 Received LaunchTask command but executor was null", "stop"));
  host_->registered();  // too late
  EXPECT_TRUE(host_->end());
  EXPECT_FALSE(told_.has("ready"));
  EXPECT_THAT(told_.statuses(), IsEmpty());
}

TEST_F(ExecutorHostTest, S003_047_AllThatTheDriverHearsOfTasksGoesThroughTheBackend) {
  tasks_.add_stage(3, numbers(), sum_action());
  tasks_.add_stage(4, numbers(0, "fail"), sum_action());
  tasks_.add_stage(5, numbers(0, "until killed"), sum_action());
  set_hook("fail", [](const TaskContext&) { throw std::runtime_error("boom"); });
  set_hook("until killed", [](const TaskContext& task) {
    EXPECT_TRUE(wait_until([&] { return task.killed(); }));
    task.throw_if_killed();
  });
  host_->registered();
  ASSERT_TRUE(wait_until([&] { return told_.has("ready"); }));
  for (uint64_t id = 1; id <= 10; ++id) launch(id, id % 2 == 0 ? 4 : 3);
  ASSERT_TRUE(wait_until([&] { return told_.ended() == 10; }));
  launch(11, 5);
  ASSERT_TRUE(wait_until([&] { return told_.statuses().contains(11); }));
  EXPECT_THAT(told_.statuses().at(11), ElementsAre(TENON_TASK_RUNNING));
  host_->kill_task(11, true, false, "cancelled");
  ASSERT_TRUE(wait_until([&] { return told_.ended() == 11; }));
  EXPECT_TRUE(host_->end());
  set_hook("fail", nullptr);
  set_hook("until killed", nullptr);
  for (const auto& [id, states] : told_.statuses()) {
    const int32_t end = id == 11      ? TENON_TASK_KILLED
                        : id % 2 == 0 ? TENON_TASK_FAILED
                                      : TENON_TASK_FINISHED;
    EXPECT_EQ(states.back(), end) << id;
    EXPECT_EQ(std::count_if(states.begin(), states.end(), &plugin::is_terminal), 1) << id;
  }
  EXPECT_THAT(told_.statuses(), SizeIs(11));
  // The other way to the driver is that of core's service; no status of a task is in it.
  const std::lock_guard lock(tasks_.driver.mutex);
  EXPECT_THAT(tasks_.driver.heartbeats, IsEmpty()) << "the first beat is not due yet";
  EXPECT_EQ(tasks_.driver.binary_fetches, 3);
}

}  // namespace
}  // namespace tenon::executor
