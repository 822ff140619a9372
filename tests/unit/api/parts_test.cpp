// What a context starts, owns and shows (contract C26, C18), and the path of a task through it.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "api/api_fixture.hpp"
#include "common/log.hpp"
#include "executor/attempt.hpp"
#include "executor/task_services.hpp"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using test::caught;
using test::wait_until;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

class PartsTest : public test::CountingTest {
 protected:
  // The plugin of tests/support/plugins: several executors in this process.
  static Conf several(const std::string& argument) {
    return conf("several[" + argument + "]")
        .set("tenon.plugin.several.library", TENON_TEST_SEVERAL_PLUGIN);
  }
};

// ------------------------------------------------------------------------------- tasks

TEST_F(PartsTest, S000_003_ATaskRunsOnTheExecutorThatWasChosen) {
  start(several("3"));
  std::map<uint64_t, std::string> ran;
  for (const auto& [task, executor] : context()
                                          .range(0, 60, 1, 60)
                                          .map([](int) {
                                            const TaskContext& task = *TaskContext::current();
                                            return std::pair(task.task_id(), task.executor_id());
                                          })
                                          .collect()) {
    EXPECT_TRUE(ran.emplace(task, executor).second);
  }
  context().stop();
  std::map<uint64_t, std::string> chosen;
  std::set<std::string> used;
  for (const auto& start : events<event::TaskStart>()) {
    chosen.emplace(start.task.id, start.task.executor_id);
    used.insert(start.task.executor_id);
  }
  EXPECT_THAT(ran, SizeIs(60));
  EXPECT_EQ(ran, chosen);
  EXPECT_THAT(used, ElementsAre("executor-0", "executor-1", "executor-2"));
}

// stderr of the whole process goes to a file while it lives.
class StderrFile {
 public:
  explicit StderrFile(const std::string& path) : path_(path), before_(::dup(STDERR_FILENO)) {
    std::fflush(stderr);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
  }
  ~StderrFile() { end(); }
  StderrFile(const StderrFile&) = delete;
  StderrFile& operator=(const StderrFile&) = delete;
  void end() {
    if (before_ < 0) return;
    std::fflush(stderr);
    ::dup2(before_, STDERR_FILENO);
    ::close(std::exchange(before_, -1));
  }
  [[nodiscard]] std::string text() const { return test::ScratchFolder::read(path_); }

 private:
  std::string path_;
  int before_;
};

std::atomic<const StderrFile*> trace{nullptr};

TEST_F(PartsTest, S000_007_TheLogShowsTheWholePathOfATask) {
  StderrFile file(folder().path() + "/log");
  trace = &file;
  start(conf().set("tenon.log.level", "debug"));
  const auto ran = context()
                       .range(7, 8, 1, 1)
                       .map([](int n) {
                         // A task that ends at once is not reported as running.
                         const bool seen = wait_until([] {
                           return trace.load()->text().find("Running TID 0") != std::string::npos;
                         });
                         return seen ? n : -1;
                       })
                       .collect();
  context().stop();
  log::configure(log::Levels{});
  file.end();
  trace = nullptr;
  EXPECT_THAT(ran, ElementsAre(7));
  const std::string text = file.text();
  size_t at = 0;
  for (const char* step :
       {"Starting job: collect at ", "Got job 0 (collect at ",
        "Submitting 1 missing tasks from ResultStage 0", "Adding task set TaskSet_0.0 with 1 tasks",
        "Offer ", "Launching task 0.0 in stage 0.0 (TID 0) on executor id: driver",
        "Running TID 0 on executor driver", "Finished task 0.0 in stage 0.0 (TID 0)",
        "Delivered results of job 0, results=1", "Job 0 finished: collect at "}) {
    const size_t found = text.find(step, at);
    ASSERT_NE(found, std::string::npos) << "'" << step << "' does not follow, in:\n" << text;
    at = found + 1;
  }
}

struct Slow {  // decoding it waits until it may go on
  int n = 0;
};
std::atomic<bool> decoding{false}, go_on{false};
std::atomic<std::thread::id> decoded_on{};

}  // namespace

template <>
struct Codec<Slow> {
  static void write(ByteWriter& out, const Slow& value) { out.fixed(value.n); }
  static Slow read(ByteReader& in) {
    decoded_on = std::this_thread::get_id();
    decoding = true;
    EXPECT_TRUE(wait_until([] { return go_on.load(); }));
    return {in.fixed<int>()};
  }
};

namespace {

TEST_F(PartsTest, S003_039_C29_14_ResultsAreHandledOffTheLoop) {
  decoding = go_on = false;
  std::thread::id loop;
  context().driver()->on_loop([&] { loop = std::this_thread::get_id(); });
  // The result of one job is being decoded and handled; the loop serves other jobs meanwhile.
  auto slow = context().range(5, 6, 1, 1).map([](int n) { return Slow{n}; }).collect_async();
  ASSERT_TRUE(wait_until([] { return decoding.load(); }));
  EXPECT_EQ(context().range(0, 10).count(), 10u);
  EXPECT_FALSE(slow.completed());
  go_on = true;
  EXPECT_EQ(slow.get().at(0).n, 5);
  EXPECT_NE(decoded_on.load(), loop);
  EXPECT_NE(decoded_on.load(), std::this_thread::get_id());
  // The same in a handler of the program.
  std::atomic<uint64_t> counted{0};
  std::thread other;
  context().run_job(
      context().range(0, 1, 1, 1), [](Records<int>&) { return 1; }, {0},
      [&](int32_t, int) {
        other = std::thread([&] { counted = context().range(0, 10).count(); });
        EXPECT_TRUE(wait_until([&] { return counted == 10; }));
        EXPECT_NE(std::this_thread::get_id(), loop);
      });
  other.join();
}

// ------------------------------------------------------------------------------- start and end

// What a process has that must not grow: threads, descriptors, children.
std::map<std::string, size_t> held() {
  std::map<std::string, size_t> all;
  for (const char* name : {"task", "fd"}) {
    all[name] = static_cast<size_t>(
        std::distance(fs::directory_iterator(std::string("/proc/self/") + name), {}));
  }
  std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  std::string child;
  while (children >> child) ++all["child"];
  return all;
}

TEST_F(PartsTest, S003_031_S004_010_AFailedStartLeavesNothing) {
  const auto fails = [&](const Conf& conf, ErrorKind kind, const std::string& text) {
    const auto error = caught([&] { Context context(conf); });
    EXPECT_EQ(error.kind, kind) << error.text;
    EXPECT_THAT(error.text, HasSubstr(text));
  };
  const auto every_step = [&] {
    fails(conf().set("tenon.task.cpus", "none"), ErrorKind::usage, "tenon.task.cpus");
    fails(conf("nowhere://x"), ErrorKind::usage, "nowhere");
    fails(conf("local[0]"), ErrorKind::usage, "must be at least 1");
    fails(conf()
              .set("tenon.scheduler.mode", "FAIR")
              .set("tenon.scheduler.allocation.file", "/no/such/file"),
          ErrorKind::usage, "/no/such/file");
    fails(several("cannot start"), ErrorKind::unreachable, "nobody listens");
    fails(several("refuses"), ErrorKind::unreachable, "the manager refuses");
  };
  every_step();  // what stays once in a process is there now
  {
    Context well(conf());
  }
  const auto before = held();
  for (int i = 0; i < 3; ++i) {
    every_step();
    EXPECT_TRUE(wait_until([&] { return held() == before; }))
        << ::testing::PrintToString(held()) << " instead of " << ::testing::PrintToString(before);
  }
  expect_usable();
}

TEST_F(PartsTest, S003_031_S004_010_TheConstructorStartsAllParts) {
  // Heartbeats of the executor come too late by this seed: the receiver hears of none in time. That
  // shows that it looks.
  start(conf()
            .set("tenon.scheduler.seed", "3")
            .set("tenon.executor.heartbeatInterval", "400ms")
            .set("tenon.network.timeout", "400ms")
            .set("tenon.network.timeoutInterval", "10ms"));
  context::Scheduling& scheduling = context().driver()->scheduling();
  dag::Sizes jobs;
  task::Sizes tasks;
  bool on_loop = false;
  context().driver()->on_loop([&] {
    on_loop = scheduling.loop().on_thread();
    jobs = scheduling.dag().sizes();
    tasks = scheduling.tasks().sizes();
  });
  EXPECT_TRUE(on_loop) << "the loop runs, with both schedulers on it";
  EXPECT_EQ(jobs, dag::Sizes{});
  EXPECT_EQ(tasks.task_sets, 0u);
  EXPECT_THAT(context().application_id(), StartsWith("local-")) << "the backend was started";
  const auto lost = events<event::ExecutorRemoved>(1);
  ASSERT_THAT(lost, SizeIs(1));
  EXPECT_EQ(lost[0].id, "driver");
  EXPECT_THAT(lost[0].reason, HasSubstr("heartbeat"));
}

TEST_F(PartsTest, S004_013_SettingsAreTypedAndCopiedAtTheStart) {
  Conf mine = conf().set("tenon.task.maxFailures", "3").set("program.own", "first");
  EXPECT_EQ(mine.get("tenon.task.maxFailures"), "3");
  EXPECT_EQ(mine.get("program.other"), std::nullopt);
  start(mine.set("tenon.network.timeout", "3min")
            .set("tenon.rpc.message.maxSize", "16m")
            .set("tenon.logLineage", "true"));
  mine.set("program.own", "second").set("tenon.task.maxFailures", "9");
  EXPECT_EQ(context().setting("program.own"), "first");
  EXPECT_EQ(context().setting("tenon.task.maxFailures"), "3");
  const conf::Settings& settings = context().driver()->settings();
  EXPECT_EQ(settings.get_int("tenon.task.maxFailures"), 3);
  EXPECT_EQ(settings.get_duration("tenon.network.timeout"), std::chrono::minutes(3));
  EXPECT_EQ(settings.get_size("tenon.rpc.message.maxSize"), uint64_t{16} << 20);
  EXPECT_TRUE(settings.get_bool("tenon.logLineage"));
  EXPECT_EQ(settings.get_string("tenon.app.name"), "unit_api");
  EXPECT_EQ(settings.get_double("tenon.scheduler.minRegisteredResourcesRatio"), 0.0);
}

// What a task finds in its executor: executor, then the addresses of its parts.
using Environment = std::pair<std::string, std::vector<uint64_t>>;
std::atomic<int> looking{0};
Environment environment_of_this_task() {
  const auto address = [](const auto* part) { return reinterpret_cast<uint64_t>(part); };
  // Executors of one core: two tasks at once are on two of them.
  ++looking;
  EXPECT_TRUE(wait_until([] { return looking >= 2; }));
  executor::TaskServices& services = executor::Attempt::current()->services();
  return {TaskContext::current()->executor_id(),
          {address(&services), address(&services.blocks), address(&services.driver),
           address(services.transfer), address(&services.outputs), address(&services.plans)}};
}

TEST_F(PartsTest, S004_015_EachExecutorHasAnEnvironmentOfItsOwn) {
  start(several("2"));
  const auto table = context().broadcast(std::vector<std::string>{"even", "odd"});
  // Through every part: the table comes by broadcast, the pairs by codec and cache, block managers
  // and map outputs, over the services' endpoints.
  const auto pairs = context()
                         .range(0, 200, 1, 8)
                         .map(
                             [](int n, const Broadcast<std::vector<std::string>>& names) {
                               return std::pair((*names)[static_cast<size_t>(n % 2)], n);
                             },
                             table)
                         .cache();
  EXPECT_EQ(pairs.count(), 200u);
  EXPECT_THAT(pairs.reduce_by_key(std::plus<>{}, 4).sort_by_key().collect(),
              ElementsAre(std::pair("even", 9900), std::pair("odd", 10000)));
  looking = 0;
  std::map<std::string, std::set<std::vector<uint64_t>>> seen;
  for (const auto& [executor, parts] : context()
                                           .range(0, 40, 1, 40)
                                           .map([](int) { return environment_of_this_task(); })
                                           .collect()) {
    EXPECT_THAT(parts, ::testing::Each(::testing::Ne(0u)));
    seen[executor].insert(parts);
  }
  ASSERT_THAT(seen, SizeIs(2));
  const auto &first = seen.begin()->second, &second = seen.rbegin()->second;
  EXPECT_THAT(first, SizeIs(1)) << "all tasks of an executor share it";
  EXPECT_THAT(second, SizeIs(1));
  for (size_t i = 0; i < first.begin()->size(); ++i) {
    EXPECT_NE(first.begin()->at(i), second.begin()->at(i)) << "part " << i << " is shared";
  }
}

TEST_F(PartsTest, S004_022_PartsAreReadByOtherThreadsWhileJobsRun) {
  EXPECT_EQ(context().range(0, 10).count(), 10u);  // all that has to come is there
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0}, reads{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!done) {
        detail::Driver& driver = *context().driver();
        context::Scheduling& scheduling = driver.scheduling();
        size_t jobs = 99;
        driver.on_loop([&] { jobs = scheduling.dag().sizes().jobs; });
        const bool well = jobs <= 1 && context().default_parallelism() == 2 &&
                          context().application_id() == scheduling.registration().app_id &&
                          !context().application_attempt_id() &&
                          context().status().executor_infos().size() == 1 &&
                          context().setting("tenon.app.name") == "unit_api" && !context().stopped();
        if (!well) ++wrong;
        ++reads;
      }
    });
  }
  // At least as many jobs as it takes for each reader to have come by.
  int jobs = 0;
  EXPECT_TRUE(wait_until([&] {
    EXPECT_EQ(context().range(0, 100, 1, 4).count(), 100u);
    return ++jobs >= 20 && reads >= 60;
  }));
  done = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(PartsTest, S004_023_IdsOfTheApplicationAndItsAttempt) {
  const auto seen_by_tasks = [](Context& c) {
    return c.range(0, 1, 1, 1)
        .map([](int) {
          const TaskContext& task = *TaskContext::current();
          return std::pair(task.app_id(), task.app_attempt_id());
        })
        .first();
  };
  {
    Context local(conf());
    EXPECT_THAT(local.application_id(), StartsWith("local-"));
    EXPECT_EQ(local.application_attempt_id(), std::nullopt) << "local mode has no attempts";
    EXPECT_EQ(seen_by_tasks(local), std::pair(local.application_id(), std::string()));
  }
  start(several("1"));
  EXPECT_EQ(context().application_id(), "several-1") << "the backend gives it";
  EXPECT_EQ(context().application_attempt_id(), "7");
  EXPECT_EQ(seen_by_tasks(context()), std::pair(std::string("several-1"), std::string("7")));
}

}  // namespace
}  // namespace tenon
