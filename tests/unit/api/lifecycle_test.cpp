// One context at a time, and what is left of it after stop() (contract C26.1, C26.2).
#include <thread>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using test::caught;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class LifecycleTest : public test::ApiTest {};

TEST_F(LifecycleTest, T222_OneActiveContext) {
  const int line = __LINE__ + 1;
  auto first = std::unique_ptr<Context>(new Context(conf()));
  const auto error = caught([&] { Context second(conf()); });
  EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(error.text, AllOf(HasSubstr("active already"),
                                HasSubstr("lifecycle_test.cpp:" + std::to_string(line))));
  EXPECT_EQ(first->range(0, 5).count(), 5u) << "the first one is not hurt";
  first.reset();
  Context third(conf());
  EXPECT_EQ(third.range(0, 5).count(), 5u);
}

TEST_F(LifecycleTest, T222_APlaceInTheStandardLibraryIsNotShown) {
  const auto first = std::make_unique<Context>(conf());
  const auto second = caught([&] { Context c(conf()); });
  EXPECT_THAT(second.text, AllOf(HasSubstr("active already; stop() it"), Not(HasSubstr("made by")),
                                 Not(HasSubstr("unique_ptr"))));
  first->stop();
  const auto stopped = caught([&] { static_cast<void>(first->range(0, 5)); });
  EXPECT_THAT(stopped.text,
              AllOf(HasSubstr("the Context has been shutdown"), Not(HasSubstr("unique_ptr"))));
}

TEST_F(LifecycleTest, T222_ANewOneAfterAFailedOne) {
  EXPECT_EQ(caught([&] { Context bad(conf("local[0]")); }).kind, ErrorKind::usage);
  EXPECT_EQ(caught([&] { Context bad(conf("nowhere://x")); }).kind, ErrorKind::usage);
  const auto unknown = caught([&] { Context bad(conf().set("tenon.task.maxFailure", "3")); });
  EXPECT_EQ(unknown.kind, ErrorKind::usage);
  EXPECT_THAT(unknown.text,
              AllOf(HasSubstr("tenon.task.maxFailure"), HasSubstr("tenon.task.maxFailures")));
  const auto bad_value = caught([&] { Context bad(conf().set("tenon.network.timeout", "soon")); });
  EXPECT_EQ(bad_value.kind, ErrorKind::usage);
  EXPECT_THAT(bad_value.text, AllOf(HasSubstr("tenon.network.timeout"), HasSubstr("soon")));
  Context good(conf());
  EXPECT_EQ(good.range(0, 5).count(), 5u);
}

TEST_F(LifecycleTest, T222_GetOrCreate) {
  const auto first = Context::get_or_create(conf());
  EXPECT_EQ(Context::get_or_create(conf("local[1]")), first);
  EXPECT_EQ(first->master(), "local[2]");
  first->stop();
  const auto second = Context::get_or_create(conf("local[1]"));
  EXPECT_NE(second, first);
  EXPECT_EQ(second->master(), "local[1]");
}

TEST_F(LifecycleTest, T192_S004_033_UseAfterStopSaysShutdown) {
  Context& c = context();
  const auto rdd = c.range(0, 10, 1, 2);
  const auto pairs = rdd.map([](int n) { return std::pair(n, n); });
  const auto broadcast = c.broadcast(std::string("kept"));
  const auto sum = c.accumulator<int>();
  rdd.for_each([](int n, const Accumulator<int>& s) { s.add(n); }, sum);
  EXPECT_FALSE(c.stopped());
  c.stop();
  EXPECT_TRUE(c.stopped());
  c.stop();
  const std::vector<std::function<void()>> uses = {
      [&] { static_cast<void>(rdd.count()); },
      [&] { static_cast<void>(rdd.collect_async()); },
      [&] { static_cast<void>(rdd.collect()); },
      [&] { static_cast<void>(rdd.count_async()); },
      [&] { static_cast<void>(rdd.take(1)); },
      [&] { static_cast<void>(rdd.first()); },
      [&] { static_cast<void>(rdd.reduce(std::plus<>{})); },
      [&] { static_cast<void>(rdd.fold(0, std::plus<>{})); },
      [&] { static_cast<void>(rdd.aggregate(0, std::plus<>{}, std::plus<>{})); },
      [&] { rdd.for_each([](int) {}); },
      [&] { static_cast<void>(rdd.filter([](int) { return true; })); },
      [&] { static_cast<void>(rdd.flat_map([](int n) { return std::vector{n}; })); },
      [&] { static_cast<void>(rdd.map_partitions([](Records<int>&) { return std::vector{1}; })); },
      [&] { static_cast<void>(pairs.map_values([](int n) { return n; })); },
      [&] { static_cast<void>(rdd.union_with(rdd)); },
      [&] { static_cast<void>(rdd.coalesce(1)); },
      [&] { static_cast<void>(pairs.group_by_key()); },
      [&] { static_cast<void>(pairs.join(pairs)); },
      [&] { static_cast<void>(pairs.sort_by_key()); },
      [&] { static_cast<void>(rdd.distinct()); },
      [&] { static_cast<void>(pairs.partition_by(2)); },
      [&] { static_cast<void>(rdd.unpersist()); },
      [&] { static_cast<void>(c.text_file(std::vector<std::string>{"x"})); },
      [&] { static_cast<void>(rdd.map([](int n) { return n; })); },
      [&] { static_cast<void>(pairs.reduce_by_key(std::plus<>{})); },
      [&] { static_cast<void>(rdd.cache()); },
      [&] { static_cast<void>(c.range(0, 5)); },
      [&] { static_cast<void>(c.parallelize(std::vector{1})); },
      [&] { static_cast<void>(c.text_file("x")); },
      [&] { static_cast<void>(c.broadcast(1)); },
      [&] { static_cast<void>(c.accumulator<int>()); },
      [&] { rdd.save_as_text_file(folder().path() + "/out"); },
      [&] { c.run_job(rdd, [](Records<int>&) { return 0; }, {0}, [](int32_t, int) {}); },
  };
  for (size_t i = 0; i < uses.size(); ++i) {
    const auto error = caught(uses[i]);
    EXPECT_EQ(error.kind, ErrorKind::stopped) << i;
    EXPECT_THAT(error.text, AllOf(HasSubstr("shutdown"), HasSubstr("api_fixture.hpp:"))) << i;
  }
  EXPECT_FALSE(std::filesystem::exists(folder().path() + "/out"))
      << "a refused save leaves nothing";
  // What the driver has is still there.
  EXPECT_EQ(sum.value(), 45);
  EXPECT_EQ(*broadcast, "kept");
  EXPECT_EQ(rdd.partition_count(), 2);
  EXPECT_THAT(rdd.to_debug_string(), HasSubstr("range"));
  EXPECT_EQ(c.status().job_info(0)->status, JobStatus::succeeded);
  c.cancel_all_jobs();
  c.cancel_job(0);
  EXPECT_FALSE(c.kill_task_attempt(1));
  broadcast.unpersist();
}

TEST_F(LifecycleTest, S004_051_RunJobOnAStoppedContextFailsAtOnce) {
  const auto rdd = context().range(0, 10, 1, 2);
  context().stop();
  const auto before = std::chrono::steady_clock::now();
  const auto error = caught([&] {
    context().run_job(rdd, [](Records<int>&) { return 0; }, {0, 1}, [](int32_t, int) { FAIL(); });
  });
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
  EXPECT_EQ(error.kind, ErrorKind::stopped);
  EXPECT_THAT(error.text, HasSubstr("has been shutdown"));
  EXPECT_THAT(events<event::JobStart>(), SizeIs(0));
}

TEST_F(LifecycleTest, StopFailsRunningJobs) {
  static std::atomic<bool> running;
  running = false;
  auto job = context()
                 .range(0, 1, 1, 1)
                 .map([](int n) {
                   running = true;
                   while (!TaskContext::current()->killed())
                     std::this_thread::sleep_for(std::chrono::microseconds(100));
                   return n;
                 })
                 .count_async();
  ASSERT_TRUE(test::wait_until([] { return running.load(); }));
  context().stop();
  const auto error = caught([&] { static_cast<void>(job.get()); });
  EXPECT_THAT(error.text, AllOf(HasSubstr("Job 0 cancelled because"), HasSubstr("shut down")));
  ASSERT_THAT(events<event::JobEnd>(), SizeIs(1));
  EXPECT_FALSE(events<event::JobEnd>()[0].succeeded);
  EXPECT_THAT(events<event::ApplicationEnd>(), SizeIs(1));
  ASSERT_THAT(events<event::TaskEnd>(), SizeIs(1));
  EXPECT_EQ(events<event::TaskEnd>()[0].reason, "TaskKilled");
}

TEST_F(LifecycleTest, StopIsBoundedByOneStopTimeout) {
  static std::atomic<bool> running, end;
  running = end = false;
  start(conf().set("tenon.plugin.stopTimeout", "1s"));
  auto job = context()
                 .range(0, 1, 1, 1)
                 .map([](int n) {
                   running = true;
                   while (!end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                   return n;
                 })
                 .count_async();
  ASSERT_TRUE(test::wait_until([] { return running.load(); }));
  const auto begin = std::chrono::steady_clock::now();
  context().stop();
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, std::chrono::seconds(1));
  EXPECT_LT(took, std::chrono::milliseconds(1800));
  end = true;
  EXPECT_EQ(caught([&] { static_cast<void>(job.get()); }).kind, ErrorKind::stopped);
  ASSERT_THAT(events<event::TaskEnd>(), SizeIs(1));
  EXPECT_EQ(events<event::TaskEnd>()[0].reason, "TaskKilled");
}

// UR-12
TEST_F(LifecycleTest, ATaskThatNeedsMoreCoresThanThereAreIsRefusedAtOnce) {
  const auto error = caught([&] { Context c(conf("local[2]").set("tenon.task.cpus", "4")); });
  EXPECT_EQ(error.kind, ErrorKind::usage);
  EXPECT_THAT(error.text, HasSubstr("tenon.task.cpus=4 (Conf::set) is more than the 2 cores of "
                                    "tenon.master=local[2]: no executor could run a task"));
  Context c(conf("local[4]").set("tenon.task.cpus", "4"));
  EXPECT_EQ(c.range(0, 10, 1, 3).count(), 10u);
}

TEST_F(LifecycleTest, C7_4_AResourceThatNobodyHasFailsTheJob) {
  start(conf().set("tenon.task.resource.gpu.amount", "0.5"));
  const auto error = caught([&] { static_cast<void>(context().range(0, 5).count()); });
  EXPECT_EQ(error.kind, ErrorKind::no_resources);
  EXPECT_THAT(error.text, HasSubstr("no executor offered what a task needs: gpu=0.5 "
                                    "(tenon.task.resource.gpu.amount; nobody has any)"));
  context().stop();
  for (const char* amount : {"0", "0.0"}) {
    Context none(conf().set("tenon.task.resource.gpu.amount", amount));
    EXPECT_EQ(none.range(0, 5).count(), 5u);
  }
  for (const char* amount : {"1.5", "0.0001", "-1", "two", "1e7"}) {
    const auto refused =
        caught([&] { Context c(conf().set("tenon.task.resource.gpu.amount", amount)); });
    EXPECT_EQ(refused.kind, ErrorKind::usage);
    EXPECT_THAT(refused.text, AllOf(HasSubstr("tenon.task.resource.gpu.amount"),
                                    HasSubstr(std::string("'") + amount + "'")));
  }
}

TEST_F(LifecycleTest, RddsMayOutliveTheContext) {
  std::optional<Rdd<int>> rdd;
  std::optional<Future<uint64_t>> future;
  {
    Context c(conf());
    rdd = c.range(0, 10);
    future = rdd->count_async();
    future->wait();
  }
  EXPECT_EQ(future->get(), 10u);
  EXPECT_EQ(caught([&] { static_cast<void>(rdd->count()); }).kind, ErrorKind::stopped);
  Context next(conf());
  EXPECT_EQ(next.range(0, 5).count(), 5u);
  EXPECT_EQ(caught([&] { static_cast<void>(rdd->count()); }).kind, ErrorKind::stopped)
      << "it belongs to the old one";
}

TEST_F(LifecycleTest, LocalPropertiesEndWithTheContext) {
  {
    Context c(conf());
    c.set_local_property("key", "value");
  }
  Context c(conf());
  EXPECT_EQ(c.local_property("key"), std::nullopt);
}

TEST_F(LifecycleTest, NamesAndSettings) {
  Context& c = start(conf().set("program.own", "passes through"));
  EXPECT_EQ(c.app_name(), "unit_api");
  EXPECT_EQ(c.master(), "local[2]");
  EXPECT_EQ(c.default_parallelism(), 2);
  EXPECT_FALSE(c.application_id().empty());
  EXPECT_EQ(c.setting("program.own"), "passes through");
  EXPECT_EQ(c.setting("tenon.rdd.limit.scaleUpFactor"), "4");
  EXPECT_EQ(c.setting("tenon.no.such.key"), std::nullopt);
}

TEST_F(LifecycleTest, DefaultsOfTheProgramGiveWay) {
  ::setenv("TENON_MASTER", "local[3]", 1);
  {
    Context c(0, nullptr, {.app = "mine", .master = "local[1]"});
    EXPECT_EQ(c.master(), "local[3]");
    EXPECT_EQ(c.app_name(), "mine");
  }
  ::unsetenv("TENON_MASTER");
  Context c(0, nullptr, {.app = {}, .master = "local[1]"});
  EXPECT_EQ(c.master(), "local[1]");
  EXPECT_EQ(c.app_name(), "unit_api") << "the program's file name";
}

TEST_F(LifecycleTest, ManyContextsInARow) {
  for (int i = 0; i < 20; ++i) {
    Context c(conf());
    EXPECT_EQ(c.range(0, 100, 1, 4)
                  .map([](int n) { return std::pair(n % 3, n); })
                  .reduce_by_key(std::plus<>{})
                  .count(),
              3u);
  }
}

size_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

// The thread that stops it uses the context's parts, so it must not live longer.
TEST_F(LifecycleTest, AContextThatGoesWhileAFailureStopsItLeavesNoThread) {
  {
    Context warm_up(conf());
  }
  const size_t before = threads_of_this_process();
  for (int i = 0; i < 20; ++i) {
    {
      Context c(conf());
      detail::Driver& driver = *c.driver();
      driver.on_loop([&] {
        static_cast<task::BackendEvents&>(driver.scheduling())
            .failed(ErrorKind::plugin, "the manager is gone");
      });
    }
    ASSERT_EQ(threads_of_this_process(), before) << "in round " << i;
  }
}

}  // namespace
}  // namespace tenon
