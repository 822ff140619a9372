// The shipped tenon-local.so, driven by a stand-in for core.
#include <gtest/gtest.h>

#include <numeric>

#include "cpu_limit.hpp"
#include "tenon/error.hpp"
#include "unit/local/stand_in_core.hpp"

namespace tenon::local {
namespace {

using namespace testing;

// A task's status carries its payload back.
host::ExecutorStatus echo(const LaunchedTask& task) {
  const auto bytes = task.payload.bytes();
  return {task.id, task::TaskState::finished,
          std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
}

struct Url {
  std::string url;
  uint32_t cores, failures;
};

TEST(LocalPlugin, T219_C19_1_MasterUrls) {
  const uint32_t all = usable_cpus();
  const Url rows[] = {{"local", 1, 1},
                      {"local[*]", all, 1},
                      {"local[5]", 5, 1},
                      {"local[4, 2]", 4, 2},
                      {"local[* ,2]", all, 2},
                      {"local:4", 4, 1},
                      {"local[ 3 ]", 3, 1},
                      {"local[ * ]", all, 1},
                      {"local[2,7]", 2, 7},
                      {"local[007]", 7, 1},
                      {"local:*", all, 1},
                      {"local:2,3", 2, 3},
                      {"local[1,2147483647]", 1, 2147483647}};
  for (const Url& row : rows) {
    SCOPED_TRACE(row.url);
    StandInCore core(row.url, echo);
    core.backend->start();
    ASSERT_TRUE(core.mailbox.run_until([&] { return core.is_ready; }));
    EXPECT_EQ(core.registration.default_parallelism, row.cores);
    EXPECT_EQ(core.registration.max_task_failures, row.failures);
    EXPECT_EQ(core.executor->cores, row.cores);
    EXPECT_TRUE(core.stop());
    EXPECT_EQ(core.faults, std::vector<std::string>{});
  }
}

struct BadUrl {
  const char *url, *says;
};

TEST(LocalPlugin, T219_BadMasterUrlsAreQuotedUsageErrors) {
  const BadUrl rows[] = {
      {"local[2*]", "the number of threads is '2*', which is no whole number above 0"},
      {"local[0]", "the number of threads is '0', but must be at least 1"},
      {"local[-1]", "the number of threads is '-1', which is no whole number"},
      {"local[x]", "the number of threads is 'x', which is no whole number"},
      {"local[1.5]", "which is no whole number"},
      {"local[+2]", "which is no whole number"},
      {"local[2 3]", "the number of threads is '2 3', which is no whole number"},
      {"local[**]", "which is no whole number"},
      {"local[,2]", "the number of threads is '', which is no whole number"},
      {"local[2,]", "the number of task failures is '', which is no whole number"},
      {"local[*,0]", "the number of task failures is '0', but must be at least 1"},
      {"local[*,*]", "the number of task failures is '*', which is no whole number"},
      {"local[1,2,3]", "has 3 arguments, at most 2 are possible"},
      {"local[4097]", "the number of threads is '4097', the most is 4096"},
      {"local[99999999999999999999]", "the most is 4096"},
      {"local[1,2147483648]",
       "the number of task failures is '2147483648', the most is 2147483647"},
      {"local[1,99999999999999999999]", "the most is 2147483647"},
      {"local:0", "the number of threads is '0', but must be at least 1"},
      {"local[2]://x", "local mode takes no address"},
      {"local://", "local mode takes no address"},
      {"local[2]?a=b", "local mode takes no query"},
      // refused before the plugin is asked
      {"local[", "the bracket '[' is not closed"},
      {"local[]", "nothing stands between the brackets"},
      {"local[2]//x", "'//x' is left over after 'local[2]'"},
      {"local[2]x", "'x' is left over after 'local[2]'"},
      {"", "is empty"},
      {"lcoal[2]", "did you mean 'local'?"},
      {"localhost:1234", "no plugin for scheme 'localhost'"},
  };
  for (const BadUrl& row : rows) {
    SCOPED_TRACE(row.url);
    try {
      StandInCore core(row.url, echo);
      ADD_FAILURE() << "was taken";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), 2);
      EXPECT_NE(e.message().find("master URL '" + std::string(row.url) + "': "), std::string::npos)
          << e.message();
      EXPECT_NE(e.message().find(row.says), std::string::npos) << e.message();
      EXPECT_LE(std::count(e.message().begin(), e.message().end(), '\n'), 11);
    }
  }
}

TEST(LocalPlugin, C19_6_OneExecutorInTheDriversProcess) {
  const int64_t before = std::chrono::duration_cast<std::chrono::milliseconds>(
                             std::chrono::system_clock::now().time_since_epoch())
                             .count();
  StandInCore core("local[2]", echo);
  core.backend->start();
  ASSERT_TRUE(core.mailbox.run_until([&] { return core.is_ready; }));
  ASSERT_TRUE(core.registration.app_id.starts_with("local-"));
  const int64_t at = std::stoll(core.registration.app_id.substr(6));
  EXPECT_GE(at, before);
  EXPECT_LE(at, before + 20000);
  EXPECT_FALSE(core.registration.reset);
  ASSERT_EQ(core.added.size(), 1u);
  EXPECT_EQ(core.added[0].id, "driver");
  EXPECT_EQ(core.added[0].host, "localhost");
  EXPECT_EQ(core.added[0].cores, 2u);
  EXPECT_EQ(core.executor->executor_id, "driver");
  EXPECT_TRUE(core.stop(7));
  EXPECT_EQ(core.exit_code, 7);
  const auto events = core.event_names();
  EXPECT_EQ(std::vector<std::string>(events.begin(), events.begin() + 3),
            (std::vector<std::string>{"registered", "executor_added", "ready"}));
  EXPECT_EQ(events.back(), "stopped");
  EXPECT_EQ(std::count(events.begin(), events.end(), "stopped"), 1);
}

// 1000 tasks: each one terminal status with its own data, cores never over-committed, never more
// tasks at once than threads.
TEST(LocalPlugin, C18_4_EachTaskEndsOnceAndCoresAreNeverOverCommitted) {
  for (const uint32_t threads : {1u, 2u, 3u, 4u}) {
    for (const bool slots : {false, true}) {
      SCOPED_TRACE(std::to_string(threads) + (slots ? " with slots" : ""));
      StandInCore core("local[" + std::to_string(threads) + "]", echo);
      core.use_slots = slots;
      core.backend->start();
      ASSERT_TRUE(core.mailbox.run_until([&] { return core.is_ready; }));
      core.submit(1000);
      ASSERT_TRUE(core.mailbox.run_until([&] { return core.ended.size() == 1000; }));
      for (const auto& [id, states] : core.ended) {
        EXPECT_EQ(states, std::vector{task::TaskState::finished}) << id;
      }
      EXPECT_TRUE(core.held.empty());
      EXPECT_EQ(core.launched, 1000u);
      std::sort(core.data.begin(), core.data.end());
      EXPECT_TRUE(std::unique(core.data.begin(), core.data.end()) == core.data.end());
      EXPECT_EQ(core.data.size(), 1000u);
      EXPECT_LE(core.executor->most_running, threads);
      EXPECT_TRUE(core.stop());
      EXPECT_EQ(core.faults, std::vector<std::string>{});
    }
  }
}

// A submitted task set needs one revive_offers and nothing else; it posts an offer, and nothing is
// launched on its stack.
TEST(LocalPlugin, S000_045_047_ReviveOffersOnlyPosts) {
  StandInCore core("local[2]", echo);
  core.backend->start();
  // The executor's first offer has come and was declined: no tasks yet.
  ASSERT_TRUE(core.mailbox.run_until([&] { return !core.offers.empty(); }));
  EXPECT_EQ(core.launched, 0u);
  EXPECT_EQ(core.mailbox.waiting(), 0u);  // nothing changed, so no new offer comes by itself
  core.waiting = {101, 102, 103};
  core.backend->revive_offers();
  EXPECT_EQ(core.mailbox.waiting(), 1u);
  EXPECT_EQ(core.launched, 0u);
  ASSERT_TRUE(core.mailbox.run_until([&] { return core.ended.size() == 3; }));
  EXPECT_TRUE(core.stop());
  EXPECT_EQ(core.faults, std::vector<std::string>{});
}

TEST(LocalPlugin, DeclinedCoresComeBackAtTheNextRevive) {
  StandInCore core("local[3]", echo);
  core.backend->start();
  ASSERT_TRUE(core.mailbox.run_until([&] { return !core.offers.empty(); }));
  core.decline = true;
  core.submit(2);
  ASSERT_TRUE(core.mailbox.run_until([&] { return core.offers.size() == 2; }));
  EXPECT_EQ(core.launched, 0u);
  core.decline = false;
  core.backend->revive_offers();
  ASSERT_TRUE(core.mailbox.run_until([&] { return core.ended.size() == 2; }));
  EXPECT_TRUE(core.stop());
}

TEST(LocalPlugin, QueuedTasksRunInOrderAndCanBeTakenBack) {
  std::mutex mutex;
  std::vector<uint64_t> order;
  StandInCore core("local", [&](const LaunchedTask& task) {
    const std::lock_guard lock(mutex);
    order.push_back(task.id);
    return echo(task);
  });
  core.backend->start();
  ASSERT_TRUE(core.mailbox.run_until([&] { return !core.offers.empty(); }));
  core.executor->pause(true);
  core.submit(10);
  ASSERT_TRUE(core.mailbox.run_until([&] { return core.launched == 10; }));
  core.backend->kill_task(5, "driver", false, true, "needed elsewhere");
  core.backend->kill_task(6, "driver", true, false, "cancelled");
  core.backend->kill_task(99, "driver", true, false, "unknown: nothing happens");
  ASSERT_TRUE(core.mailbox.run_until([&] { return core.ended.size() == 2; }));
  EXPECT_EQ(core.ended[5], std::vector{task::TaskState::returned});
  EXPECT_EQ(core.ended[6], std::vector{task::TaskState::killed});
  core.executor->pause(false);
  ASSERT_TRUE(core.mailbox.run_until([&] { return core.ended.size() == 10; }));
  EXPECT_EQ(order, (std::vector<uint64_t>{1, 2, 3, 4, 7, 8, 9, 10}));
  EXPECT_TRUE(core.stop());
  EXPECT_EQ(core.faults, std::vector<std::string>{});
}

// The status of a killed task that comes while the plugin still gives the order.
TEST(LocalPlugin, KillThatIsReportedAtOnceDoesNotBlock) {
  StandInCore core("local", echo);
  core.backend->start();
  ASSERT_TRUE(core.mailbox.run_until([&] { return !core.offers.empty(); }));
  core.executor->pause(true);
  core.executor->reports_at_once = true;
  core.submit(4);
  ASSERT_TRUE(core.mailbox.run_until([&] { return core.launched == 4; }));
  core.backend->kill_task(3, "driver", true, false, "cancelled");
  ASSERT_TRUE(core.mailbox.run_until([&] { return core.ended.size() == 1; }));
  EXPECT_EQ(core.ended[3], std::vector{task::TaskState::killed});
  core.executor->pause(false);
  ASSERT_TRUE(core.mailbox.run_until([&] { return core.ended.size() == 4; }));
  EXPECT_TRUE(core.stop());
  EXPECT_EQ(core.faults, std::vector<std::string>{});
}

// Task errors do not end the process, nor does the executor's own end: the driver is told and goes
// on.
TEST(LocalPlugin, S003_055_ExecutorThatEndsLeavesTheDriverAlive) {
  StandInCore core("local[2]", echo);
  core.backend->start();
  ASSERT_TRUE(core.mailbox.run_until([&] { return !core.offers.empty(); }));
  core.executor->pause(true);
  core.submit(5);
  ASSERT_TRUE(core.mailbox.run_until([&] { return core.launched == 5; }));
  core.executor->exit(50, "uncaught error");
  ASSERT_TRUE(core.mailbox.run_until([&] { return core.failure.has_value(); }));
  EXPECT_EQ(core.ended.size(), 5u);
  for (const auto& [id, states] : core.ended) EXPECT_EQ(states, std::vector{task::TaskState::lost});
  ASSERT_EQ(core.removed.size(), 1u);
  EXPECT_EQ(core.removed[0].first, "driver");
  EXPECT_EQ(core.removed[0].second.kind, task::LossReason::Kind::exited);
  EXPECT_EQ(core.removed[0].second.exit_code, 50);
  EXPECT_TRUE(core.removed[0].second.app_caused);
  EXPECT_EQ(core.removed[0].second.message, "uncaught error");
  EXPECT_EQ(core.failure->first, ErrorKind::executors_lost);
  EXPECT_EQ(core.failure->second, "the only executor ended with code 50: uncaught error");
  core.backend->revive_offers();  // no offer of an executor that is gone
  EXPECT_EQ(core.mailbox.waiting(), 0u);
  EXPECT_THROW(core.backend->launch_tasks(77, std::vector<task::Launch>(1)), Error);
  EXPECT_TRUE(core.stop());
  EXPECT_EQ(core.faults, std::vector<std::string>{});
}

TEST(LocalPlugin, LaunchThatDoesNotFitIsRefused) {
  StandInCore core("local", echo);
  core.backend->start();
  ASSERT_TRUE(core.mailbox.run_until([&] { return !core.offers.empty(); }));
  EXPECT_THROW(core.backend->launch_tasks(12345, std::vector<task::Launch>(1)), Error);
  core.submit(3);  // it goes on
  ASSERT_TRUE(core.mailbox.run_until([&] { return core.ended.size() == 3; }));
  EXPECT_TRUE(core.stop());
}

TEST(LocalPlugin, StopWithTasksUnderWayAndAtOnce) {
  for (int i = 0; i < 20; ++i) {
    StandInCore core("local[2]", echo);
    core.backend->start();
    if (i % 2 == 0) {
      ASSERT_TRUE(core.mailbox.run_until([&] { return core.is_ready; }));
      core.submit(500);
    }
    EXPECT_TRUE(core.stop());  // perhaps before the executor is there
    EXPECT_EQ(core.faults, std::vector<std::string>{});
  }
}

TEST(LocalPlugin, DestroyWithoutStart) {
  StandInCore core("local[2]", echo);
  EXPECT_TRUE(core.backend->destroy());
  EXPECT_TRUE(core.event_names().empty());
}

// Two contexts one after another, and two at once.
TEST(LocalPlugin, C19_8_InstancesDoNotShareAnything) {
  StandInCore first("local[1]", echo), second("local[3]", echo);
  for (StandInCore* core : {&first, &second}) {
    core->backend->start();
    ASSERT_TRUE(core->mailbox.run_until([&] { return core->is_ready; }));
    core->submit(20);
  }
  for (StandInCore* core : {&first, &second}) {
    ASSERT_TRUE(core->mailbox.run_until([&] { return core->ended.size() == 20; }));
    EXPECT_TRUE(core->stop());
  }
}

}  // namespace
}  // namespace tenon::local
