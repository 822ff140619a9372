#include "plugin/scheduler_backend.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "plugin/plugin_host.hpp"
#include "tenon/plugin/plugin.hpp"
#include "unit/plugin/fakes.hpp"

namespace tenon::host {
namespace {

using namespace testing;
using namespace std::chrono_literals;

// What the linked-in plugin below does beyond nothing, and what it saw.
struct Script {
  std::function<void(plugin::Core)> on_start, on_revive;
  std::function<void(uint64_t, plugin::Tasks)> on_launch;
  std::function<void()> on_destroy;
  std::vector<std::string> calls;
};
Script* script = nullptr;

class Scripted final : public plugin::SchedulerBackend {
 public:
  Scripted(const tenon_args& arguments, plugin::Core mailbox)
      : SchedulerBackend(arguments, mailbox) {
    script->calls.push_back(
        "create " + std::string(plugin::view(args.app->name)) + " " +
        std::string(plugin::view(
            tenon_str{static_cast<const char*>(args.bootstrap.data), args.bootstrap.size})) +
        " " + std::string(host.conf("tenon.x").value_or("none")));
  }
  ~Scripted() override {
    if (script->on_destroy) script->on_destroy();
  }
  void start() override {
    if (script->on_start) script->on_start(core);
  }
  void stop(int32_t exit_code) override {
    script->calls.push_back("stop " + std::to_string(exit_code));
  }
  void revive_offers() override {
    if (script->on_revive) script->on_revive(core);
  }
  void launch_tasks(uint64_t offer, plugin::Tasks tasks) override {
    if (script->on_launch) script->on_launch(offer, std::move(tasks));
  }
  void kill_task(uint64_t task, std::string_view executor, uint32_t flags,
                 std::string_view reason) override {
    if (task == 0) throw plugin::Error(TENON_UNSUPPORTED, "cannot kill");
    script->calls.push_back("kill " + std::to_string(task) + " " + std::string(executor) + " " +
                            std::to_string(flags) + " " + std::string(reason));
  }
  void kill_executors(plugin::Strings ids, uint32_t flags, uint64_t request) override {
    if (plugin::view(ids[0]) == "busy") throw plugin::Error(TENON_UNAVAILABLE, "no manager");
    script->calls.push_back("kill_executors " + std::string(plugin::view(ids[0])) + " " +
                            std::to_string(flags) + " " + std::to_string(request));
  }
};

class NoExecutor final : public plugin::ExecutorBackend {
 public:
  using ExecutorBackend::ExecutorBackend;
  void start() override {}
  void executor_ready() override {}
  void status_update(plugin::Statuses) override {}
  void stop() override {}
};

constexpr tenon_str kSchemes[] = {TENON_STR("scripted")};
constexpr tenon_description kDescription = {sizeof(tenon_description),
                                            TENON_DEPLOY_CLIENT,
                                            0,
                                            TENON_STR("does as told"),
                                            {kSchemes, 1, sizeof(tenon_str)},
                                            {nullptr, 0, sizeof(tenon_setting)},
                                            {nullptr, 0, sizeof(tenon_submit_option)}};
const tenon_plugin kPlugin = {sizeof(tenon_plugin),
                              TENON_ABI_MAJOR,
                              TENON_ABI_MINOR,
                              0,
                              TENON_STR("scripted"),
                              TENON_STR("1.0"),
                              plugin::get_interface<Scripted, NoExecutor, &kDescription>};

SchedulerBackendSetup setup_of(const LoadedPlugin& loaded, const std::string& url, Log& log) {
  return {.plugin = loaded,
          .host = HostServices::make({{"tenon.x", "1"}}, log.callbacks()),
          .master = parse_master_url(url),
          .app = {.name = "app"},
          .bootstrap = "secret",
          .decoder = [](task::TaskState, std::span<const std::byte> data) -> task::EndReason {
            const std::string text(reinterpret_cast<const char*>(data.data()), data.size());
            if (text == "throw") throw std::runtime_error("no status");
            if (text == "throw 42") throw 42;
            return task::UnknownReason{"decoded " + text};
          },
          .stop_timeout = 20s};
}

class SchedulerBackendTest : public ::testing::Test {
 protected:
  SchedulerBackendTest() { script = &script_; }
  ~SchedulerBackendTest() override {
    backend_.reset();
    script = nullptr;
  }
  SchedulerBackend& backend() {
    if (!backend_) {
      backend_ = std::make_unique<SchedulerBackend>(
          setup_of(LoadedPlugin(&kPlugin, {}), "scripted[2]", log_), events_);
    }
    return *backend_;
  }
  Script script_;
  Log log_;
  RecordedEvents events_;
  std::unique_ptr<SchedulerBackend> backend_;
};

TEST_F(SchedulerBackendTest, CreateGetsTheArguments) {
  backend();
  EXPECT_EQ(script_.calls, std::vector<std::string>{"create app secret 1"});
}

TEST_F(SchedulerBackendTest, EveryEventArrives) {
  script_.on_start = [](plugin::Core core) {
    auto registration = plugin::make<tenon_registration>();
    registration.flags = TENON_REGISTRATION_RESET;
    registration.app_id = plugin::str("app-1");
    registration.attempt_id = plugin::str("2");
    registration.default_parallelism = 3;
    registration.max_task_failures = 4;
    registration.max_payload_bytes = 5;
    core.registered(registration);
    core.ready();
    const tenon_pair number = {plugin::str("asked"), plugin::str("7")};
    core.pending("quota", "wait", {&number, 1});
    auto executor = plugin::make<tenon_executor_info>();
    executor.id = plugin::str("1");
    executor.host = plugin::str("h");
    executor.address = plugin::str("h:1");
    executor.incarnation = 2;
    executor.cores = 8;
    executor.attributes = plugin::array<tenon_pairs>(std::span(&number, 1));
    core.executor_added(executor);
    core.executor_decommissioning("1", 500, "drain");
    core.executor_loss_pending("1", "silent");
    auto loss = plugin::make<tenon_loss>();
    loss.kind = TENON_LOSS_PREEMPTED;
    loss.exit_code = TENON_NO_EXIT_CODE;
    loss.signal = 9;
    loss.host_lost = 1;
    loss.host = plugin::str("h");
    loss.message = plugin::str("killed");
    core.executor_removed("1", loss);
    loss = plugin::make<tenon_loss>();
    loss.kind = 77;  // unknown: exited
    loss.exit_code = 50;
    loss.app_caused = 1;
    core.executor_removed("2", loss);
    core.worker_removed("w", "h", "gone");
    const tenon_str id = plugin::str("1");
    core.acknowledged(6, TENON_OK, {&id, 1});
    core.acknowledged(7, TENON_TIMEOUT);
    core.stopped();
  };
  EXPECT_EQ(backend().max_payload_bytes(), 0u);
  backend().start();
  EXPECT_EQ(events_.names,
            (std::vector<std::string>{"registered", "ready", "pending quota wait asked=7",
                                      "executor_added 1", "executor_decommissioning 1 500 drain",
                                      "executor_loss_pending 1 silent", "executor_removed 1",
                                      "executor_removed 2", "worker_removed w h gone",
                                      "acknowledged 6 ok 1", "acknowledged 7 no", "stopped"}));
  const task::Registration& registration = events_.registrations.at(0);
  EXPECT_TRUE(registration.reset);
  EXPECT_EQ(registration.app_id, "app-1");
  EXPECT_EQ(registration.attempt_id, "2");
  EXPECT_EQ(registration.default_parallelism, 3u);
  EXPECT_EQ(registration.max_task_failures, 4u);
  EXPECT_EQ(registration.max_payload_bytes, 5u);
  EXPECT_EQ(backend().max_payload_bytes(), 5u);
  const task::Executor& executor = events_.executors.at(0);
  EXPECT_EQ(executor.host, "h");
  EXPECT_EQ(executor.address, "h:1");
  EXPECT_EQ(executor.incarnation, 2u);
  EXPECT_EQ(executor.cores, 8u);
  EXPECT_EQ(executor.attributes.at("asked"), "7");
  const task::LossReason& preempted = events_.losses.at(0);
  EXPECT_EQ(preempted.kind, task::LossReason::Kind::preempted);
  EXPECT_FALSE(preempted.has_exit_code);
  EXPECT_FALSE(preempted.app_caused);
  EXPECT_TRUE(preempted.host_lost);
  EXPECT_EQ(preempted.host, "h");
  EXPECT_EQ(preempted.message, "killed, ended by signal 9");
  const task::LossReason& exited = events_.losses.at(1);
  EXPECT_EQ(exited.kind, task::LossReason::Kind::exited);
  EXPECT_TRUE(exited.has_exit_code);
  EXPECT_EQ(exited.exit_code, 50);
  EXPECT_TRUE(exited.app_caused);
}

TEST_F(SchedulerBackendTest, FailedMapsToTheDocumentedKinds) {
  const std::pair<tenon_status, int> rows[] = {
      {TENON_UNAVAILABLE, 4}, {TENON_TIMEOUT, 4},       {TENON_PERMISSION, 4},
      {TENON_EXHAUSTED, 6},   {TENON_INTERNAL, 1},      {TENON_CANCELLED, 1},
      {TENON_UNKNOWN, 1},     {TENON_INVALID_STATE, 1}, {999, 1}};
  for (const auto& [status, exit_code_wanted] : rows) {
    EXPECT_EQ(exit_code(error_kind(status)), exit_code_wanted) << status;
  }
  script_.on_start = [](plugin::Core core) { core.failed(TENON_EXHAUSTED, "too many"); };
  backend().start();
  EXPECT_EQ(events_.names, std::vector<std::string>{"failed executors_lost too many"});
}

// revive_offers only posts: what the plugin offers comes as an event, and no call comes back on its
// stack.
TEST_F(SchedulerBackendTest, S000_047_ReviveOffersOnlyPosts) {
  int launches = 0;
  script_.on_revive = [&](plugin::Core core) {
    auto row = plugin::worker_offer("1", "h", 2, 3);
    const tenon_resource gpu = {plugin::str("gpu"), plugin::str("0"), 500};
    row.address = plugin::str("h:1");
    row.resources = plugin::array<tenon_resources>(std::span(&gpu, 1));
    core.resource_offers(7, TENON_OFFER_ALL_FREE, {&row, 1});
    core.resource_offers(8, TENON_OFFER_SINGLE_EXECUTOR, {});
    core.resource_offers(9, 0, {});
    EXPECT_EQ(launches, 0);
  };
  script_.on_launch = [&](uint64_t, plugin::Tasks) { ++launches; };
  backend().start();
  backend().revive_offers();
  EXPECT_EQ(launches, 0);
  EXPECT_EQ(events_.scopes,
            (std::vector{task::OfferScope::all_free, task::OfferScope::single_executor,
                         task::OfferScope::some_executors}));
  const task::WorkerOffer& row = events_.offers.at(0).at(0);
  EXPECT_EQ(row.executor_id, "1");
  EXPECT_EQ(row.host, "h");
  EXPECT_EQ(row.address, "h:1");
  EXPECT_EQ(row.free_cores, 2u);
  EXPECT_EQ(row.queue_slots, 3u);
  ASSERT_EQ(row.resources.size(), 1u);
  EXPECT_EQ(row.resources[0].amount, 500u);
}

struct Counted {
  tenon_buffer buffer(const char* text) {
    return {const_cast<char*>(text), strlen(text),
            [](void*, void* hint) { ++*static_cast<int*>(hint); }, &released};
  }
  int released = 0;
};

TEST_F(SchedulerBackendTest, StatusesAreDecodedOnceAndReleasedOnce) {
  Counted counted;
  script_.on_start = [&](plugin::Core core) {
    const tenon_str id = plugin::str("1");
    tenon_task_status rows[] = {
        {1, id, TENON_TASK_RUNNING, 0, {}},
        {2, id, TENON_TASK_FINISHED, 0, counted.buffer("value")},
        {3, id, TENON_TASK_FAILED, 0, counted.buffer("throw")},
        {4, id, TENON_TASK_KILLED, 0, counted.buffer("throw 42")},
        {5, id, TENON_TASK_LOST, 0, counted.buffer("ignored")},
        {6, id, TENON_TASK_RETURNED, 0, {}},
        {7, id, 0, 0, counted.buffer("bad state")},
        {8, id, 99, 0, counted.buffer("bad state")},
        {9, {nullptr, 3}, TENON_TASK_FAILED, 0, {nullptr, 12, nullptr, nullptr}},
    };
    core.status_update(plugin::Statuses({rows, std::size(rows), sizeof rows[0]}));
  };
  backend().start();
  EXPECT_EQ(counted.released, 6);
  std::vector<std::string> seen;
  for (const task::StatusUpdate& update : events_.statuses) {
    const auto* const reason = std::get_if<task::UnknownReason>(&update.reason);
    seen.push_back(std::to_string(update.task_id) + " " + update.executor_id + " " +
                   std::to_string(static_cast<int>(update.state)) + " " +
                   (reason != nullptr ? reason->detail : "?"));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{
                      "1 1 0 ", "2 1 1 decoded value", "3 1 2 the status cannot be read: no status",
                      "4 1 3 the status cannot be read", "5 1 4 ", "6 1 5 ", "9  2 decoded "}));
  EXPECT_EQ(log_.texts(TENON_LOG_MISBEHAVING),
            (std::vector<std::string>{"plugin: status 0 of task 7 is not known",
                                      "plugin: status 99 of task 8 is not known"}));
}

TEST_F(SchedulerBackendTest, MalformedEventsAreDroppedAndLogged) {
  script_.on_start = [](plugin::Core core) {
    core.executor_added(plugin::make<tenon_executor_info>());
    const tenon_worker_offer rows[] = {plugin::worker_offer("", "h", 1, 0),
                                       plugin::worker_offer("1", "h", 1, 0)};
    core.resource_offers(1, TENON_OFFER_ALL_FREE, rows);
  };
  backend().start();
  EXPECT_EQ(events_.names, std::vector<std::string>{"resource_offers 1"});  // it gets its answer
  EXPECT_EQ(events_.offers.at(0).size(), 1u);
  EXPECT_EQ(log_.texts(TENON_LOG_MISBEHAVING).size(), 2u);
}

TEST_F(SchedulerBackendTest, LaunchMovesPayloadsWithoutACopy) {
  const std::string big(1 << 20, 'p');
  std::vector<task::Launch> tasks(3);
  for (size_t i = 0; i < tasks.size(); ++i) {
    tasks[i] = {.task_id = 10 + i,
                .executor_id = "driver",
                .name = "task " + std::to_string(i) + " with a name of some length",
                .cores = 2,
                .attempt = 1,
                .queued = i == 1,
                .resources = {},
                .payload = i == 2 ? std::string() : big};
  }
  tasks[0].resources = {{"gpu", "0", 1000}, {"gpu", "1", 500}};
  tasks[1].resources = {{"fpga", "2", 1000}};
  const void* const bytes = tasks[0].payload.data();
  std::vector<plugin::Buffer> kept;
  script_.on_launch = [&](uint64_t offer, plugin::Tasks launched) {
    EXPECT_EQ(offer, 5u);
    ASSERT_EQ(launched.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      const tenon_task task = launched[i];
      EXPECT_EQ(task.id, 10 + i);
      EXPECT_EQ(plugin::view(task.executor_id), "driver");
      EXPECT_EQ(plugin::view(task.name),
                "task " + std::to_string(i) + " with a name of some length");
      EXPECT_EQ(task.cores, 2u);
      EXPECT_EQ(task.attempt, 1u);
      EXPECT_EQ(task.flags, i == 1 ? uint32_t{TENON_TASK_QUEUED} : 0u);
      EXPECT_EQ(task.payload.size, i == 2 ? 0u : big.size());
    }
    const plugin::Resources first(launched[0].resources);
    ASSERT_EQ(first.size(), 2u);
    EXPECT_EQ(plugin::view(first[1].address), "1");
    EXPECT_EQ(plugin::view(plugin::Resources(launched[1].resources)[0].name), "fpga");
    kept.push_back(launched.take(0));
    kept.push_back(launched.take(2));
  };
  backend().start();
  backend().launch_tasks(5, std::move(tasks));
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(static_cast<const void*>(kept[0].bytes().data()), bytes);
  EXPECT_EQ(kept[0].bytes().size(), big.size());  // lives on until it is released
}

TEST_F(SchedulerBackendTest, LaunchErrorIsThrown) {
  script_.on_launch = [](uint64_t, plugin::Tasks) {
    throw plugin::Error(TENON_INVALID_ARGUMENT, "does not fit");
  };
  backend().start();
  const Error error = error_of([&] { backend().launch_tasks(1, std::vector<task::Launch>(2)); });
  EXPECT_NE(
      error.message().find("plugin scripted 1.0 (linked in): launch_tasks failed: does not fit"),
      std::string::npos)
      << error.message();
}

TEST_F(SchedulerBackendTest, Kills) {
  backend().start();
  script_.calls.clear();
  backend().kill_task(3, "e", true, false, "user");
  backend().kill_task(4, "e", false, true, "take back");
  EXPECT_TRUE(backend().kill_executor("e", "silent"));
  EXPECT_FALSE(backend().kill_executor("busy", "silent"));
  EXPECT_EQ(script_.calls, (std::vector<std::string>{"kill 3 e 1 user", "kill 4 e 2 take back",
                                                     "kill_executors e 4 1"}));
  EXPECT_EQ(log_.texts(TENON_LOG_WARN).size(), 1u);
  const Error error = error_of([&] { backend().kill_task(0, "e", true, false, ""); });
  EXPECT_NE(error.message().find("cannot kill (UNSUPPORTED)"), std::string::npos);
}

TEST_F(SchedulerBackendTest, StopIsCalledOnceAndDestroyTwiceDoesNoHarm) {
  backend().start();
  backend().stop(3);
  backend().stop(4);
  EXPECT_EQ(script_.calls.back(), "stop 3");
  EXPECT_EQ(script_.calls.size(), 2u);
  EXPECT_TRUE(backend().destroy());
  EXPECT_TRUE(backend().destroy());
}

TEST_F(SchedulerBackendTest, ThePluginHearsNothingAfterStop) {
  backend().start();
  int offers = 0;
  script_.on_revive = [&](plugin::Core) { ++offers; };
  script_.on_launch = [&](uint64_t, plugin::Tasks) { ++offers; };
  backend().stop(0);
  backend().revive_offers();
  backend().launch_tasks(7, {});
  backend().kill_task(1, "e1", false, false, "late");
  EXPECT_FALSE(backend().kill_executor("e1", "late"));
  task::Launch task;
  task.task_id = 1;
  EXPECT_THROW(backend().launch_tasks(8, {task}), Error);
  EXPECT_EQ(offers, 0);
  EXPECT_EQ(script_.calls.back(), "stop 0");
  EXPECT_TRUE(log_.texts(TENON_LOG_MISBEHAVING).empty());
}

// A plugin that does not end is left behind, and nothing of it reaches core any more.
TEST_F(SchedulerBackendTest, DestroyIsBounded) {
  std::promise<void> release, done;
  std::atomic<bool> posted = false;
  std::optional<plugin::Core> core;
  script_.on_start = [&](plugin::Core mailbox) { core = mailbox; };
  script_.on_destroy = [&] {
    release.get_future().wait();
    Counted counted;
    tenon_task_status row = {1, plugin::str("1"), TENON_TASK_FINISHED, 0, counted.buffer("late")};
    core->status_update(plugin::Statuses({&row, 1, sizeof row}));
    core->ready();
    EXPECT_EQ(counted.released, 1);
    posted = true;
    done.set_value();
  };
  auto setup = setup_of(LoadedPlugin(&kPlugin, {}), "scripted", log_);
  setup.stop_timeout = 50ms;
  SchedulerBackend bounded(std::move(setup), events_);
  bounded.start();
  EXPECT_FALSE(bounded.destroy());
  EXPECT_FALSE(posted);
  EXPECT_EQ(log_.texts(TENON_LOG_WARN),
            std::vector<std::string>{"plugin: plugin scripted 1.0 (linked in) did not end within "
                                     "tenon.plugin.stopTimeout; it is left behind"});
  release.set_value();
  done.get_future().wait();
  EXPECT_TRUE(events_.names.empty());
}

// The plugin's own failures, from guarded code and right through the boundary.
TEST(SchedulerBackendErrors, C19_8_PluginsOwnFailure) {
  struct Row {
    const char* url;
    int code;
    const char* says;
  };
  const Row rows[] = {
      {"throwing[42]", 3, "create failed: threw something that is no std::exception (INTERNAL)"},
      {"throwing[std]", 3, "create failed: the disk is full (INTERNAL)"},
      {"throwing[unavailable]", 3, "create failed: nobody listens (UNAVAILABLE)"},
      {"throwing[argument]", 2, "master URL 'throwing[argument]': 'argument' is no number"},
      {"throwing[long]", 3, "create failed: xxx"},
      {"unguarded[42]", 3, "create failed: threw something that is no std::exception (INTERNAL)"},
      {"unguarded[std]", 3, "create failed: the disk is full (INTERNAL)"},
  };
  const PluginHost host(PluginSearch::of({}, "", {fs::path(TENON_BAD_PLUGINS) / "bad"}));
  for (const Row& row : rows) {
    SCOPED_TRACE(row.url);
    Log log;
    RecordedEvents events;
    const LoadedPlugin loaded = host.load(parse_master_url(row.url));
    const Error error = error_of([&] { SchedulerBackend(setup_of(loaded, row.url, log), events); });
    EXPECT_EQ(error.code(), row.code);
    EXPECT_NE(error.message().find(row.says), std::string::npos) << error.message();
    EXPECT_LE(lines(error.message()), 12u);
    EXPECT_LT(error.message().size(), 1500u);
    if (row.code == 3) {
      EXPECT_NE(error.message().find(loaded.file().string()), std::string::npos);
    }
  }
  Log log;
  RecordedEvents events;
  SchedulerBackend backend(setup_of(host.load(parse_master_url("throwing")), "throwing", log),
                           events);
  const Error error = error_of([&] { backend.start(); });
  EXPECT_EQ(error.code(), 1);
  EXPECT_NE(error.message().find("start failed: threw something"), std::string::npos);
}

}  // namespace
}  // namespace tenon::host
