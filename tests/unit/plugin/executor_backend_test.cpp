#include "plugin/executor_backend.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "plugin/loaded_plugin.hpp"
#include "tenon/plugin/plugin.hpp"
#include "unit/plugin/fakes.hpp"

namespace tenon::host {
namespace {

using namespace testing;
using namespace std::chrono_literals;

struct Script {
  std::function<void(plugin::ExecutorCore)> on_start;
  std::function<void(plugin::Statuses)> on_status;
  std::vector<std::string> calls;
};

// Its script is what the driver's half gave as peer.
class Scripted final : public plugin::ExecutorBackend {
 public:
  Scripted(const tenon_executor_args& arguments, plugin::ExecutorCore mailbox)
      : ExecutorBackend(arguments, mailbox) {
    if (args.cores == 0) throw plugin::Error(TENON_INVALID_ARGUMENT, "no cores");
    const plugin::Resources resources(args.resources);
    script().calls.push_back(
        "create " + std::string(plugin::view(args.executor_id)) + " " + std::to_string(args.cores) +
        " " + std::string(plugin::view(args.work_dir)) + " " +
        std::string(plugin::find(args.attributes, "rack")) + " " +
        std::string(plugin::find(args.log_urls, "stdout")) + " " +
        (resources.empty() ? "-" : std::string(plugin::view(resources[0].name))) + " " +
        std::string(plugin::view(args.master->scheme)) + " " +
        std::string(static_cast<const char*>(args.bootstrap.data), args.bootstrap.size));
  }
  void start() override {
    if (script().on_start) script().on_start(core);
  }
  void executor_ready() override { script().calls.emplace_back("ready"); }
  void status_update(plugin::Statuses statuses) override {
    if (script().on_status) script().on_status(std::move(statuses));
  }
  void stop() override {
    script().calls.emplace_back("stop");
    core.stopped();
  }
  bool exit_executor(int32_t exit_code, bool tell, std::string_view reason, bool end) override {
    script().calls.push_back("exit " + std::to_string(exit_code) + (tell ? " tell " : " quiet ") +
                             std::string(reason) + (end ? " end" : " stay"));
    return exit_code == 50;
  }

 private:
  Script& script() { return *static_cast<Script*>(args.peer); }
};

class Recorded final : public ExecutorEvents {
 public:
  void registered() override { names.emplace_back("registered"); }
  void launch_tasks(std::vector<LaunchedTask> launched) override {
    names.emplace_back("launch_tasks");
    for (auto& task : launched) tasks.push_back(std::move(task));
  }
  void kill_task(uint64_t id, bool interrupt, bool if_queued, std::string reason) override {
    names.push_back("kill " + std::to_string(id) + (interrupt ? " interrupt" : "") +
                    (if_queued ? " if_queued" : "") + " " + reason);
  }
  void shutdown(int32_t code, std::string reason) override {
    names.push_back("shutdown " + std::to_string(code) + " " + reason);
  }
  void failed(ErrorKind kind, std::string message) override {
    names.push_back("failed " + std::string(to_string(kind)) + " " + message);
  }
  void stopped() override { names.emplace_back("stopped"); }
  std::vector<std::string> names;
  std::vector<LaunchedTask> tasks;
};

class ExecutorBackendTest : public ::testing::Test {
 protected:
  ExecutorBackendSetup setup() {
    return {.api = complete(plugin::ExecutorTable<Scripted>::api),
            .host = HostServices::make({}, log_.callbacks()),
            .master = parse_master_url("scripted://h:1"),
            .bootstrap = "secret",
            .executor = {.executor_id = "7",
                         .work_dir = "/work/7",
                         .cores = 2,
                         .resources = {{"gpu", "0", 1000}},
                         .attributes = {{"rack", "r1"}},
                         .log_urls = {{"stdout", "url"}},
                         .peer = &script_},
            .stop_timeout = 20s};
  }
  Script script_;
  Log log_;
  Recorded events_;
};

TEST_F(ExecutorBackendTest, OrdersArriveInOrder) {
  int released = 0;
  script_.on_start = [&](plugin::ExecutorCore core) {
    core.registered();
    const tenon_resource gpu = {plugin::str("gpu"), plugin::str("0"), 1000};
    tenon_task rows[2] = {};
    rows[0].id = 1;
    rows[0].name = plugin::str("task 1");
    rows[0].cores = 2;
    rows[0].attempt = 3;
    rows[0].resources = plugin::array<tenon_resources>(std::span(&gpu, 1));
    rows[1].id = 2;
    rows[1].flags = TENON_TASK_QUEUED;
    for (tenon_task& row : rows) {
      row.payload = {&released, sizeof released,
                     [](void* data, void*) { ++*static_cast<int*>(data); }, nullptr};
    }
    core.launch_tasks(plugin::Tasks({rows, 2, sizeof rows[0]}));
    core.kill_task(1, TENON_KILL_INTERRUPT, "user");
    core.kill_task(2, TENON_KILL_IF_QUEUED, "back");
    core.shutdown(3, "ends");
    core.failed(TENON_UNAVAILABLE, "driver gone");
  };
  ExecutorBackend backend(setup(), events_);
  backend.start();
  backend.executor_ready();
  EXPECT_TRUE(backend.stop());
  EXPECT_TRUE(backend.stop());
  EXPECT_EQ(script_.calls, (std::vector<std::string>{
                               "create 7 2 /work/7 r1 url gpu scripted secret", "ready", "stop"}));
  EXPECT_EQ(events_.names,
            (std::vector<std::string>{"registered", "launch_tasks", "kill 1 interrupt user",
                                      "kill 2 if_queued back", "shutdown 3 ends",
                                      "failed unreachable driver gone", "stopped"}));
  ASSERT_EQ(events_.tasks.size(), 2u);
  EXPECT_EQ(events_.tasks[0].id, 1u);
  EXPECT_EQ(events_.tasks[0].name, "task 1");
  EXPECT_EQ(events_.tasks[0].cores, 2u);
  EXPECT_EQ(events_.tasks[0].attempt, 3u);
  EXPECT_FALSE(events_.tasks[0].queued);
  ASSERT_EQ(events_.tasks[0].resources.size(), 1u);
  EXPECT_TRUE(events_.tasks[1].queued);
  EXPECT_EQ(static_cast<const void*>(events_.tasks[0].payload.bytes().data()), &released);
  EXPECT_EQ(released, 0);
  events_.tasks.clear();
  EXPECT_EQ(released, 2);
}

TEST_F(ExecutorBackendTest, StatusDataIsNotCopied) {
  for (const size_t count : {1u, 4u, 5u, 40u}) {
    SCOPED_TRACE(count);
    std::vector<ExecutorStatus> statuses;
    std::vector<const void*> bytes;
    for (size_t i = 0; i < count; ++i) {
      statuses.push_back({100 + i, task::TaskState::finished, std::string(1000 + i, 'd')});
      bytes.push_back(statuses.back().data.data());
    }
    std::vector<plugin::Buffer> kept;
    script_.on_status = [&](plugin::Statuses got) {
      ASSERT_EQ(got.size(), count);
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(got[i].id, 100 + i);
        EXPECT_EQ(got[i].state, TENON_TASK_FINISHED);
        EXPECT_EQ(plugin::view(got[i].executor_id), "7");
        kept.push_back(got.take(i));
      }
    };
    ExecutorBackend backend(setup(), events_);
    backend.start();
    backend.status_update(std::move(statuses));
    ASSERT_EQ(kept.size(), count);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(static_cast<const void*>(kept[i].bytes().data()), bytes[i]);
      EXPECT_EQ(kept[i].bytes().size(), 1000 + i);
    }
  }
}

TEST_F(ExecutorBackendTest, EveryStateGoesOver) {
  std::vector<int32_t> states;
  script_.on_status = [&](plugin::Statuses got) {
    for (size_t i = 0; i < got.size(); ++i) states.push_back(got[i].state);
  };
  ExecutorBackend backend(setup(), events_);
  using task::TaskState;
  std::vector<ExecutorStatus> statuses;
  for (const TaskState state : {TaskState::running, TaskState::finished, TaskState::failed,
                                TaskState::killed, TaskState::lost, TaskState::returned}) {
    statuses.push_back({1, state, ""});
  }
  backend.start();
  backend.status_update(std::move(statuses));
  EXPECT_EQ(states,
            (std::vector<int32_t>{TENON_TASK_RUNNING, TENON_TASK_FINISHED, TENON_TASK_FAILED,
                                  TENON_TASK_KILLED, TENON_TASK_LOST, TENON_TASK_RETURNED}));
}

TEST_F(ExecutorBackendTest, StatusErrorIsLogged) {
  script_.on_status = [](plugin::Statuses) { throw 42; };
  ExecutorBackend backend(setup(), events_);
  backend.start();
  backend.status_update({{1, task::TaskState::finished, "x"}});
  ASSERT_EQ(log_.texts(TENON_LOG_WARN).size(), 1u);
  EXPECT_NE(log_.texts(TENON_LOG_WARN)[0].find("executor=7 status_update"), std::string::npos);
}

TEST_F(ExecutorBackendTest, S003_055_ExitCanBeOverridden) {
  ExecutorBackend backend(setup(), events_);
  backend.start();
  EXPECT_TRUE(backend.exit_executor(50, true, "uncaught", false));
  EXPECT_FALSE(backend.exit_executor(52, false, "memory", false));  // the plugin keeps the process
  EXPECT_FALSE(backend.exit_executor(50, true, "uncaught", true));  // the driver's process: never
  EXPECT_EQ(script_.calls.at(1), "exit 50 tell uncaught end");
  EXPECT_EQ(script_.calls.at(2), "exit 52 quiet memory end");
  EXPECT_EQ(script_.calls.at(3), "exit 50 tell uncaught stay");
}

TEST_F(ExecutorBackendTest, CreateErrorNamesTheExecutor) {
  auto bad = setup();
  bad.executor.cores = 0;
  const Error error = error_of([&] { ExecutorBackend(std::move(bad), events_); });
  EXPECT_NE(error.message().find("executor 7: create of the executor backend failed: no cores"),
            std::string::npos);
}

struct Running {
  InProcessRequest request;
  Recorded events;
  std::unique_ptr<ExecutorBackend> backend;
};

// The extension takes a deep copy of the plugin's arguments, and the factory makes the executor
// elsewhere.
TEST_F(ExecutorBackendTest, InProcessExecutor) {
  std::promise<InProcessRequest> made;
  HostCallbacks callbacks = log_.callbacks();
  callbacks.start_in_process = [&](InProcessRequest request) {
    made.set_value(std::move(request));
  };
  const auto services = HostServices::make({}, callbacks);
  const plugin::Host host(services->raw());
  {
    const std::string id = "an executor id of some length", rack = "r1";
    const tenon_pair pair = {plugin::str("rack"), plugin::str(rack)};
    auto args = plugin::make<tenon_executor_args>();
    args.executor_id = plugin::str(id);
    args.cores = 3;
    args.attributes = plugin::array<tenon_pairs>(std::span(&pair, 1));
    args.peer = &script_;
    host.start_in_process(args, plugin::ExecutorTable<Scripted>::api);
  }
  InProcessRequest request = made.get_future().get();
  std::thread([&] {
    auto with = setup();
    with.api = request.backend;
    with.executor = request.executor;
    ExecutorBackend backend(std::move(with), events_);
    backend.start();
  }).join();
  EXPECT_EQ(script_.calls.at(0), "create an executor id of some length 3  r1  - scripted secret");

  auto args = plugin::make<tenon_executor_args>();
  tenon_executor_backend_api lacking = plugin::ExecutorTable<Scripted>::api;
  lacking.start = nullptr;
  try {
    host.start_in_process(args, lacking);
    ADD_FAILURE() << "was taken";
  } catch (const plugin::Error& e) {
    EXPECT_EQ(e.status(), TENON_INVALID_ARGUMENT);
    EXPECT_NE(std::string(e.what()).find("lacks the required function start"), std::string::npos);
  }
  services->close();
  EXPECT_THROW(host.start_in_process(args, plugin::ExecutorTable<Scripted>::api), plugin::Error);
  EXPECT_THROW(plugin::Host(HostServices::make({}, {})->raw())
                   .start_in_process(args, plugin::ExecutorTable<Scripted>::api),
               plugin::Error);
}

TEST(HostServices, ClockRunsOnTheLoopAndStopsWithTheInstance) {
  std::vector<std::function<void()>> loop;
  HostCallbacks callbacks;
  int64_t now = 5;
  callbacks.now_ns = [&] { return now; };
  callbacks.call_after = [&](int64_t delay, std::function<void()> work) {
    EXPECT_EQ(delay, 7);
    loop.push_back(std::move(work));
  };
  const auto services = HostServices::make({}, callbacks);
  const tenon_host* const host = services->raw();
  EXPECT_EQ(plugin::view(host->name), "tenon");
  EXPECT_EQ(host->get_extension(host->ctx, "org.example.unknown/1"), nullptr);
  EXPECT_EQ(host->get_extension(host->ctx, TENON_IN_PROCESS_EXECUTOR), nullptr);
  const auto* const clock =
      static_cast<const tenon_clock_api*>(host->get_extension(host->ctx, TENON_CLOCK));
  ASSERT_NE(clock, nullptr);
  EXPECT_EQ(clock->now_ns(host->ctx), 5);
  int calls = 0;
  const auto count = [](void* arg) { ++*static_cast<int*>(arg); };
  clock->call_after(host->ctx, 7, count, &calls);
  clock->call_after(host->ctx, 7, count, &calls);
  EXPECT_EQ(calls, 0);
  loop.at(0)();
  EXPECT_EQ(calls, 1);
  services->drop_timers();
  loop.at(1)();  // due after destroy() began
  EXPECT_EQ(calls, 1);
  host->log(host->ctx, TENON_LOG_INFO, plugin::str("x"), plugin::str("nobody listens"));
}

TEST(Gate, CloseWaitsForThoseInside) {
  Gate gate;
  std::promise<void> inside, leave;
  std::atomic<bool> left = false;
  std::thread thread([&] {
    const Gate::Pass pass(gate);
    ASSERT_TRUE(static_cast<bool>(pass));
    inside.set_value();
    leave.get_future().wait();
    left = true;
  });
  inside.get_future().wait();
  std::thread closer([&] {
    gate.close();
    EXPECT_TRUE(left);
  });
  leave.set_value();
  closer.join();
  thread.join();
  const Gate::Pass late(gate);
  EXPECT_FALSE(static_cast<bool>(late));
}

}  // namespace
}  // namespace tenon::host
