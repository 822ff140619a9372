// The model of a program: lazy data sets, jobs, stages, tasks (contract C2, C26.4), end to end.
#include <mutex>
#include <set>
#include <thread>

#include "api/api_fixture.hpp"
#include "common/log.hpp"
#include "rdd/node.hpp"
#include "tenon/detail/batch.hpp"

namespace tenon {
namespace {

using test::caught;
using test::wait_until;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// What tasks and tests tell each other; tasks run in this process.
std::atomic<int> called{0};
std::atomic<bool> open_gate{false};

class ModelTest : public test::CountingTest {
 protected:
  ModelTest() {
    called = 0;
    open_gate = false;
  }
  std::string log_of(const std::string& levels, const std::function<void()>& act) {
    ::testing::internal::CaptureStderr();
    log::configure(*log::parse_levels(levels));
    act();
    log::configure(log::Levels{});
    return ::testing::internal::GetCapturedStderr();
  }
};

// ------------------------------------------------------------------------------- jobs

TEST_F(ModelTest, S004_001_EachActionIsOneJobATransformationNone) {
  const auto rdd = context().range(0, 10, 1, 2);
  const auto more = rdd.map([](int n) { return std::pair(n % 3, n); })
                        .filter([](const auto& p) { return p.second > 1; })
                        .reduce_by_key(std::plus<>{})
                        .union_with(context().parallelize(std::vector{std::pair(7, 7)}));
  start_counting();
  EXPECT_EQ(jobs_since(), 0u) << "nothing but transformations so far";
  start_counting();
  EXPECT_EQ(more.count(), 4u);
  EXPECT_EQ(rdd.collect().size(), 10u);
  EXPECT_EQ(jobs_since(), 2u);
  context().stop();
  std::vector<int32_t> ids;
  for (const auto& start : events<event::JobStart>()) {
    if (!start.stages.empty()) ids.push_back(start.job);  // not those of the counting
  }
  ASSERT_THAT(ids, SizeIs(2));
  EXPECT_NE(ids[0], ids[1]);
}

int count_call(int n) {
  ++called;
  return n;
}

TEST_F(ModelTest, S004_005_NoFunctionRunsBeforeAnAction) {
  const auto pairs = context()
                         .range(0, 20, 1, 4)
                         .map(fn<count_call>)
                         .filter([](int n) { return count_call(n) % 2 == 0; })
                         .flat_map([](int n) { return std::vector{count_call(n), n}; })
                         .map([](int n) { return std::pair(count_call(n) % 3, n); })
                         .map_values(fn<count_call>);
  const auto result =
      pairs.reduce_by_key([](int a, int b) { return count_call(a) + b; }).join(pairs).cache();
  EXPECT_GT(result.partition_count(), 0);
  EXPECT_THAT(result.to_debug_string(), HasSubstr("join"));
  EXPECT_EQ(called, 0);
  EXPECT_EQ(result.count(), 20u);
  EXPECT_GT(called, 20);
}

TEST_F(ModelTest, S004_049_CollectHasTheOrderOfPartitionsWhateverTheOrderOfTheirEnds) {
  static std::atomic<int> next_to_end;
  next_to_end = 3;
  start(conf("local[4]"));
  // Partition 3 ends first, then 2, 1 and 0; each as soon as the driver has the end of the one
  // before.
  const auto rdd = context().range(0, 8, 1, 4).map_partitions([](Records<int>& records) {
    const int partition = TaskContext::current()->partition();
    EXPECT_TRUE(wait_until([&] { return next_to_end == partition; }));
    std::vector<int> all;
    for (const int n : records) all.push_back(n);
    return all;
  });
  auto collected = rdd.collect_async();
  for (size_t ended = 1; ended <= 4; ++ended) {
    ASSERT_THAT(events<event::TaskEnd>(ended), SizeIs(ended));
    --next_to_end;
  }
  EXPECT_THAT(collected.get(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  std::vector<int32_t> ends;
  for (const auto& end : events<event::TaskEnd>()) ends.push_back(end.task.partition);
  EXPECT_THAT(ends, ElementsAre(3, 2, 1, 0));
}

TEST_F(ModelTest, S004_056_RunJobWaitsForTheLastResult) {
  const auto rdd = context().range(0, 4, 1, 4);
  std::atomic<bool> returned{false};
  std::atomic<int> handled{0};
  std::thread caller([&] {
    context().run_job(
        rdd,
        [](Records<int>& records) {
          int sum = 0;
          for (const int n : records) sum += n;
          ++called;
          EXPECT_TRUE(wait_until([&] { return sum != 3 || open_gate; }));
          return sum;
        },
        {0, 1, 2, 3}, [&](int32_t, int) { ++handled; });
    returned = true;
  });
  EXPECT_TRUE(wait_until([&] { return called == 4 && handled == 3; }));
  EXPECT_FALSE(returned) << "one task runs";
  open_gate = true;
  caller.join();
  EXPECT_EQ(handled, 4);
}

TEST_F(ModelTest, S004_057_LinesForAFinishedAndAFailedJob) {
  static_cast<void>(context());
  const auto rdd = context().range(0, 4, 1, 2);
  int line = 0;
  const std::string finished = log_of("driver=info", [&] {
    line = __LINE__ + 1;
    EXPECT_EQ(rdd.count(), 4u);
  });
  const std::string site = "model_test.cpp:" + std::to_string(line);
  const size_t at = finished.find("Job 0 finished: count at ");
  ASSERT_NE(at, std::string::npos) << finished;
  const std::string rest = finished.substr(at, finished.find('\n', at) - at);
  EXPECT_THAT(rest, HasSubstr(site + ", took 0."));
  EXPECT_TRUE(rest.ends_with(" s")) << rest;

  test::Caught error;
  const std::string failed = log_of("driver=info", [&] {
    error = caught([&] {
      line = __LINE__ + 1;
      static_cast<void>(rdd.map([](int) -> int { throw std::out_of_range("root"); }).count());
    });
  });
  const std::string failed_site = "model_test.cpp:" + std::to_string(line);
  EXPECT_THAT(failed, AllOf(HasSubstr("Job 1 failed: count at "), HasSubstr(failed_site),
                            HasSubstr(", took 0."), Not(HasSubstr("Job 1 finished"))));
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_THAT(error.text, HasSubstr("job 1 was started by count at "));
  EXPECT_THAT(error.text, HasSubstr(failed_site));
  ASSERT_NE(error.cause, nullptr);
  EXPECT_THAT(error.cause->message(), HasSubstr("out_of_range: root"));
}

// ------------------------------------------------------------------------------- within a stage

std::atomic<int> entered{0}, under_way{0}, most_under_way{0};

TEST_F(ModelTest, S004_038_AChainOfNarrowStepsRunsAsOnePipeline) {
  entered = under_way = most_under_way = 0;
  constexpr int kRecords = 100'000, kPartitions = 2;
  const auto base = context().range(0, kRecords, 1, kPartitions);
  // Records that one step has made and a later one has not taken yet: a batch at most, and each
  // partition has one task.
  const auto chain = base.map([](int n) {
                           ++entered;
                           const int now = ++under_way;
                           int most = most_under_way;
                           while (now > most && !most_under_way.compare_exchange_weak(most, now)) {
                           }
                           return n;
                         })
                         .filter([](int n) { return n >= 0; })
                         .map([](int n) { return std::pair(n, TaskContext::current()->task_id()); })
                         .map([](const std::pair<int, uint64_t>& p) {
                           --under_way;
                           return p.second == TaskContext::current()->task_id() ? p.first : -1;
                         });
  EXPECT_EQ(chain.partition_count(), base.partition_count()) << "the first parent's partitions";
  start_counting();
  EXPECT_EQ(chain.filter([](int n) { return n >= 0; }).count(), uint64_t{kRecords});
  EXPECT_THAT(tasks_per_job_since(), ElementsAre(kPartitions)) << "one stage";
  EXPECT_EQ(entered, kRecords) << "each record once";
  EXPECT_EQ(under_way, 0);
  EXPECT_LE(most_under_way, kPartitions * static_cast<int>(detail::kBatchSize));
}

// Operations whose function finds no task, or a wrong one.
std::mutex wrong_mutex;
std::set<std::string> wrong_contexts, seen_contexts;

int look(const char* operation, int value) {
  const TaskContext* task = TaskContext::current();
  const bool well = task != nullptr && task->stage_id() >= 0 && task->stage_attempt() == 0 &&
                    task->attempt() == 0 && task->partition() >= 0 && task->partition() < 2 &&
                    task->executor_id() == "driver" && task->app_id().starts_with("local-") &&
                    task->local_property("program.colour") == "blue" && !task->killed();
  const std::lock_guard lock(wrong_mutex);
  (well ? seen_contexts : wrong_contexts).insert(operation);
  return value;
}

TEST_F(ModelTest, S004_131_EveryFunctionSeesItsTask) {
  wrong_contexts.clear();
  seen_contexts.clear();
  context().set_local_property("program.colour", "blue");
  const auto rdd = context().range(0, 10, 1, 2);
  const auto pairs = rdd.map([](int n) { return std::pair(look("map", n) % 2, n); });
  static_cast<void>(
      pairs.filter([](const auto& p) { return look("filter", p.second) >= 0; })
          .flat_map([](const auto& p) { return std::vector{std::pair(look("flat_map", 1), p)}; })
          .map_partitions([](Records<std::pair<int, std::pair<int, int>>>& records) {
            look("map_partitions", 0);
            std::vector<std::pair<int, int>> all;
            for (const auto& record : records) all.push_back(record.second);
            return all;
          })
          .map_values([](int n) { return look("map_values", n); })
          .reduce_by_key([](int a, int b) { return look("reduce_by_key", a) + b; }, 2)
          .collect());
  static_cast<void>(rdd.reduce([](int a, int b) { return look("reduce", a) + b; }));
  static_cast<void>(
      rdd.aggregate(0, [](int a, int b) { return look("aggregate", a) + b; }, std::plus<>{}));
  rdd.for_each([](int n) { look("for_each", n); });
  context().run_job(
      rdd, [](Records<int>&) { return look("run_job", 0); }, {0, 1}, [](int32_t, int) {});
  EXPECT_EQ(TaskContext::current(), nullptr);
  // The id of the task is that of its events, and unlike all others.
  const auto ids = rdd.map([](int) { return TaskContext::current()->task_id(); }).collect();
  context().stop();
  const auto starts = events<event::TaskStart>();
  ASSERT_GE(starts.size(), 2u);
  const std::set<uint64_t> last_two{starts.end()[-2].task.id, starts.end()[-1].task.id};
  EXPECT_EQ(std::set<uint64_t>(ids.begin(), ids.end()), last_two);
  EXPECT_THAT(seen_contexts,
              ElementsAre("aggregate", "filter", "flat_map", "for_each", "map", "map_partitions",
                          "map_values", "reduce", "reduce_by_key", "run_job"));
  // The functions of reduce and aggregate join the partitions' values in the driver as well.
  wrong_contexts.erase("reduce");
  EXPECT_THAT(wrong_contexts, IsEmpty());
}

// ------------------------------------------------------------------------------- shuffles

// The shuffle that an Rdd reads itself.
template <class T>
rdd::ShufflePtr shuffle_of(const Rdd<T>& rdd) {
  const auto shuffles = rdd::direct_shuffles(rdd.node());
  EXPECT_THAT(shuffles, SizeIs(1));
  return shuffles.empty() ? nullptr : shuffles[0];
}

std::atomic<int> encoded{0};
struct Counted {  // serialised by a Codec of its own
  int n = 0;
};

}  // namespace

template <>
struct Codec<Counted> {
  static void write(ByteWriter& out, const Counted& value) {
    ++encoded;
    out.fixed(value.n);
  }
  static Counted read(ByteReader& in) { return {in.fixed<int>()}; }
};

namespace {

TEST_F(ModelTest, S004_045_AShuffledRddHasSerialiserOrderAggregatorAndMapSideCombine) {
  const auto pairs =
      context().range(0, 100, 1, 2).map([](int n) { return std::pair(n % 5, Counted{1}); });
  encoded = 0;
  const auto sums =
      pairs.reduce_by_key([](const Counted& a, const Counted& b) { return Counted{a.n + b.n}; }, 3);
  const auto groups = pairs.group_by_key(3);
  // Map-side combine: of the 100 values only one a key and map task is written.
  EXPECT_TRUE(shuffle_of(sums)->map_side_combine);
  EXPECT_EQ(sums.count(), 5u);
  EXPECT_EQ(encoded, 10) << "the values' own Codec, after they were combined";
  EXPECT_FALSE(shuffle_of(groups)->map_side_combine);
  encoded = 0;
  EXPECT_EQ(groups.count(), 5u);
  EXPECT_EQ(encoded, 100);
  // The aggregator: another function is another shuffle's writer.
  const auto products =
      pairs.reduce_by_key([](const Counted& a, const Counted& b) { return Counted{a.n * b.n}; }, 3);
  EXPECT_NE(shuffle_of(sums)->writer.id, shuffle_of(products)->writer.id);
  const auto values = [](const auto& rdd) {
    std::set<int> all;
    for (const auto& [key, value] : rdd.collect()) all.insert(value.n);
    return all;
  };
  EXPECT_THAT(values(sums), ElementsAre(20));
  EXPECT_THAT(values(products), ElementsAre(1));
  // The order of keys: ranges, in either direction, and records in order within them.
  const auto up = pairs.sort_by_key(true, 2), down = pairs.sort_by_key(false, 2);
  const auto keys = [](const auto& rdd) {
    std::vector<int> all;
    for (const auto& [key, value] : rdd.collect()) all.push_back(key);
    return all;
  };
  const auto rising = keys(up);
  EXPECT_THAT(rising, SizeIs(100));
  EXPECT_TRUE(std::is_sorted(rising.begin(), rising.end()));
  const auto falling = keys(down);
  EXPECT_TRUE(std::is_sorted(falling.rbegin(), falling.rend()));
  EXPECT_NE(shuffle_of(up)->partitioner, shuffle_of(groups)->partitioner);
}

TEST_F(ModelTest, S004_048_EachShuffleDependencyHasAnIdOfItsOwn) {
  const auto pairs = context().range(0, 10, 1, 2).map([](int n) { return std::pair(n % 3, n); });
  std::set<int32_t> ids;
  for (int i = 0; i < 5; ++i) {
    const auto reduced = pairs.reduce_by_key(std::plus<>{}, 4);
    const auto shuffle = shuffle_of(reduced);
    ASSERT_NE(shuffle, nullptr);
    EXPECT_TRUE(ids.insert(shuffle->shuffle_id).second) << shuffle->shuffle_id;
    EXPECT_EQ(shuffle->parent, pairs.node());
    EXPECT_EQ(shuffle->reduces, 4);
    EXPECT_EQ(reduced.node()->partitioner(), shuffle->partitioner);
    const auto joined = reduced.join(pairs, 2);
    for (const auto& side : rdd::direct_shuffles(joined.node())) {
      EXPECT_TRUE(ids.insert(side->shuffle_id).second);
    }
  }
  EXPECT_THAT(ids, SizeIs(15)) << "one a reduce, two a join";
}

// ------------------------------------------------------------------------------- text files

TEST_F(ModelTest, S004_020_OptionsOfTheInputFiles) {
  folder().write("in/a.txt", "one\r\ntwo\n");
  folder().write("in/deep/b.txt", "three");
  folder().write("in/_SUCCESS", "no");
  folder().write("in/.hidden", "no");
  folder().write("odd,name", "four\n");
  const std::string in = folder().path() + "/in", odd = folder().path() + "/odd,name";
  const auto lines = [&](const auto& paths, int32_t splits = 0) {
    return context().text_file(paths, splits).collect();
  };
  EXPECT_THAT(lines(in), ElementsAre("one", "two", "three")) << "a folder with those below";
  EXPECT_THAT(lines(in + "/*.txt"), ElementsAre("one", "two")) << "a glob";
  EXPECT_THAT(lines(in + "/deep," + in + "/a.txt"), ElementsAre("three", "one", "two")) << "a list";
  EXPECT_THAT(lines(std::vector{odd, in}), ElementsAre("four", "one", "two", "three"))
      << "paths one by one, in which a comma is a character";
  EXPECT_THAT(context().text_file<std::string_view>(in, 3).collect(),
              ElementsAre("one", "two", "three"))
      << "records as views";
  EXPECT_THAT(lines(in, 5), ElementsAre("one", "two", "three")) << "more splits";
}

TEST_F(ModelTest, S004_032_S004_132_PartitionsOfATextFile) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string path = folder().write("text", text);
  const auto partitions = [&](const Conf& conf, int32_t given) {
    Context c(conf);
    const auto file = c.text_file(path, given);
    EXPECT_EQ(file.count(), 1000u);
    return std::pair(c.default_parallelism(), file.partition_count());
  };
  using Parallelism = std::pair<int32_t, int32_t>;  // by default, of the file
  EXPECT_EQ(partitions(conf("local[1]"), 0), Parallelism(1, 1));
  EXPECT_EQ(partitions(conf("local[2]"), 0), Parallelism(2, 2));
  EXPECT_EQ(partitions(conf("local[4]"), 0), Parallelism(4, 2)) << "2 at most";
  EXPECT_EQ(partitions(conf("local[4]"), 7), Parallelism(4, 7)) << "the argument wins";
  EXPECT_EQ(partitions(conf("local[4]").set("tenon.default.parallelism", "1"), 0),
            Parallelism(1, 1))
      << "the setting wins over the threads";
  EXPECT_EQ(partitions(conf("local[1]").set("tenon.default.parallelism", "6"), 0),
            Parallelism(6, 2));
  for (int32_t least = 1; least <= 60; ++least) {
    ASSERT_GE(context().text_file(path, least).partition_count(), least);
  }
}

TEST_F(ModelTest, S004_034_ATextFilesRddHasThePathAsItsName) {
  const std::string path = folder().write("poem", "a\nb\n");
  const auto file = context().text_file(path);
  EXPECT_EQ(file.name(), path);
  EXPECT_THAT(file.to_debug_string(), HasSubstr(path));
  EXPECT_THAT(file.map([](const std::string& s) { return s.size(); }).collect(), ElementsAre(1, 1));
  EXPECT_THAT(file.collect(), ElementsAre("a", "b")) << "the text without its offset";
  context().stop();
  std::set<std::string> names;
  for (const auto& stage : events<event::StageCompleted>()) {
    for (const RddInfo& rdd : stage.stage->rdds) names.insert(rdd.name);
  }
  EXPECT_THAT(names, ::testing::Contains(path));
}

}  // namespace
}  // namespace tenon
