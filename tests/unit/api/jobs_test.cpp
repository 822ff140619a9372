// Jobs as a program sees them: run_job, groups, tags, cancelling, retries, events (contract C2, C3,
// C14, C24), end to end.
#include <set>
#include <thread>

#include "api/gate_fixture.hpp"
#include "executor/attempt.hpp"
#include "shuffle/fetch_failed.hpp"

namespace tenon {
namespace {

using test::caught;
using test::open_gate;
using test::started;
using test::wait_until;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class JobsTest : public test::GateTest {};

// ------------------------------------------------------------------------------- run_job

TEST_F(JobsTest, C2_2_S004_050_AnySubsetInAnyOrderWithRepeats) {
  const auto rdd = context().range(0, 40, 1, 4);
  std::map<int32_t, int> sums;
  std::vector<std::thread::id> threads;
  bool inside = false;
  context().run_job(
      rdd,
      [](Records<int>& records) {
        int sum = 0;
        for (const int n : records) sum += n;
        return sum;
      },
      {3, 0, 3, 1},
      [&](int32_t position, int sum) {
        EXPECT_FALSE(std::exchange(inside, true)) << "one at a time";
        EXPECT_TRUE(sums.emplace(position, sum).second) << "once per position";
        threads.push_back(std::this_thread::get_id());
        inside = false;
      });
  EXPECT_EQ(sums, (std::map<int32_t, int>{{0, 345}, {1, 45}, {2, 345}, {3, 145}}))
      << "by position, not by partition";
  for (const auto id : threads) {
    EXPECT_EQ(id, std::this_thread::get_id());
  }
}

TEST_F(JobsTest, C2_3_PartitionsThatDoNotExist) {
  const auto rdd = context().range(0, 40, 1, 4);
  start_counting();
  for (const int32_t bad : {-1, 4, 1000}) {
    const auto error = caught([&] {
      context().run_job(rdd, [](Records<int>&) { return 0; }, {0, bad}, [](int32_t, int) {});
    });
    EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
    EXPECT_THAT(error.text, AllOf(HasSubstr(std::to_string(bad)), HasSubstr("4")));
  }
  EXPECT_EQ(jobs_since(), 0u) << "no event, no job";
  expect_usable();
}

TEST_F(JobsTest, C2_4_NoPartitions) {
  context().set_local_property("key", "value");
  context().run_job(
      context().range(0, 40, 1, 4), [](Records<int>&) { return 0; }, {},
      [](int32_t, int) { FAIL(); });
  context().stop();
  ASSERT_THAT(events<event::JobStart>(), SizeIs(1));
  const event::JobStart start = events<event::JobStart>()[0];
  EXPECT_THAT(start.stages, IsEmpty());
  EXPECT_EQ(start.properties.at("key"), "value");
  ASSERT_THAT(events<event::JobEnd>(), SizeIs(1));
  EXPECT_TRUE(events<event::JobEnd>()[0].succeeded);
  EXPECT_EQ(events<event::JobEnd>()[0].time_ms, start.time_ms);
  EXPECT_THAT(events<event::StageSubmitted>(), IsEmpty());
}

TEST_F(JobsTest, C2_9_ThrowingHandler) {
  const auto rdd = context().range(0, 40, 1, 4);
  const auto run = [&](auto thrown) {
    return caught([&] {
      context().run_job(
          rdd, [](Records<int>&) { return 7; }, {0, 1, 2, 3}, [&](int32_t, int) { throw thrown; });
    });
  };
  const auto standard = run(std::runtime_error("handler broke"));
  EXPECT_EQ(standard.kind, ErrorKind::job_failed);
  EXPECT_THAT(standard.message, HasSubstr("driver execution"));
  ASSERT_NE(standard.cause, nullptr);
  EXPECT_THAT(standard.cause->message(), HasSubstr("handler broke"));
  EXPECT_THAT(run(42).text, HasSubstr("driver execution"));
  const auto ours = run(Error(ErrorKind::codec, "bytes broke"));
  ASSERT_NE(ours.cause, nullptr);
  EXPECT_EQ(ours.cause->kind(), ErrorKind::codec);
  EXPECT_EQ(ours.cause->message(), "bytes broke");
  expect_usable();
}

TEST_F(JobsTest, C2_1_JobIdsRiseFromZero) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(context().range(0, 5).count(), 5u);
  }
  EXPECT_EQ(context().range(0, 5).count_async().job_id(), 3);
  context().stop();
  std::vector<int32_t> ids;
  for (const auto& job : events<event::JobStart>()) ids.push_back(job.job);
  EXPECT_THAT(ids, ElementsAre(0, 1, 2, 3));
  std::set<uint64_t> tasks;
  for (const auto& task : events<event::TaskStart>()) {
    EXPECT_TRUE(tasks.insert(task.task.id).second);
  }
}

// ------------------------------------------------------------------------------- stages

TEST_F(JobsTest, T029_MissingInputIsTheProgramsError) {
  const auto words =
      context().text_file(folder().path() + "/missing").map([](const std::string& s) {
        return std::pair(s, 1);
      });
  const auto error =
      caught([&] { static_cast<void>(words.reduce_by_key(std::plus<>{}, 2).collect()); });
  EXPECT_EQ(error.kind, ErrorKind::input_output);
  EXPECT_THAT(error.text, HasSubstr("/missing: No such file"));
  const auto again =
      caught([&] { static_cast<void>(words.reduce_by_key(std::plus<>{}).collect()); });
  EXPECT_EQ(again.kind, ErrorKind::input_output);
  expect_usable();
}

// The executor reports a fetch failure that the shuffle reader noted, whatever the program does;
// here it is noted by hand.
[[noreturn]] void fail_fetch(int32_t shuffle) {
  task::FetchFailed failure;
  failure.shuffle_id = shuffle;
  failure.address = task::BlockManagerId{TaskContext::current()->executor_id(), "localhost", {}};
  failure.message = "the block is gone";
  executor::Attempt::current()->note_fetch_failure(failure);
  throw shuffle::FetchFailedError(failure);
}

template <class T>
int32_t shuffle_of(const Rdd<T>& rdd) {
  return std::get<rdd::ShufflePtr>(rdd.node()->dependencies().at(0))->shuffle_id;
}

TEST_F(JobsTest, T044_PersistentFetchFailureThenHealthyJobs) {
  static std::atomic<int32_t> shuffle;
  static std::atomic<bool> failed_once;
  failed_once = false;
  const auto pairs = context().range(0, 4, 1, 2).map([](int n) { return std::pair(n, n); });
  for (int job = 0; job < 2; ++job) {
    const auto reduced = pairs.reduce_by_key(std::plus<>{}, 2);
    shuffle = shuffle_of(reduced);
    const auto begin = std::chrono::steady_clock::now();
    const auto error = caught([&] {
      static_cast<void>(reduced.map([](const auto&) -> int { fail_fetch(shuffle); }).count());
    });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    EXPECT_EQ(error.kind, ErrorKind::job_failed);
    EXPECT_THAT(error.text, AllOf(HasSubstr("failed the maximum allowable number of times"),
                                  HasSubstr("the block is gone")));
  }
  const auto reduced = pairs.reduce_by_key(std::plus<>{}, 2);
  shuffle = shuffle_of(reduced);
  const auto third = reduced.map([](const auto& pair) {
    if (!failed_once.exchange(true)) fail_fetch(shuffle);
    return pair.second;
  });
  EXPECT_EQ(third.reduce(std::plus<>{}), 6);
}

TEST_F(JobsTest, C29_3_FetchFailureOfAShuffleOutsideTheJobFailsIt) {
  const auto numbers = context().range(0, 4, 1, 2);
  const auto error =
      caught([&] { static_cast<void>(numbers.map([](int) -> int { fail_fetch(4711); }).count()); });
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_THAT(error.text, AllOf(HasSubstr("shuffle 4711"), HasSubstr("the block is gone")));
  expect_usable();
}

TEST_F(JobsTest, T045_ParentsHaveLowerStageIds) {
  const auto pairs = context().range(0, 10).map([](int n) { return std::pair(n % 3, n); });
  EXPECT_EQ(pairs.reduce_by_key(std::plus<>{})
                .map([](const auto& p) { return std::pair(p.second, 1); })
                .reduce_by_key(std::plus<>{})
                .count(),
            3u);
  context().stop();
  std::vector<int32_t> order, completed;
  for (const auto& e : events<event::StageSubmitted>()) order.push_back(e.stage->id);
  for (const auto& e : events<event::StageCompleted>()) completed.push_back(e.stage->id);
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
  EXPECT_EQ(completed, order);
}

TEST_F(JobsTest, T216_StageInfo) {
  const auto base = context().parallelize(std::vector{1, 2, 3, 4}, 4).set_name("Un");
  const auto mapped = base.map([](int n) { return std::pair(n, n); }).set_name("Deux");
  context().run_job(
      mapped, [](Records<std::pair<int, int>>&) { return 0; }, {0, 2}, [](int32_t, int) {});
  EXPECT_EQ(mapped.reduce_by_key(std::plus<>{}, 3).set_name("Trois").count(), 4u);
  context().stop();
  const auto completed = events<event::StageCompleted>();
  ASSERT_THAT(completed, SizeIs(3));
  const auto names = [](const StageInfo& stage) {
    std::map<std::string, int32_t> all;
    for (const RddInfo& rdd : stage.rdds) all[rdd.name] = rdd.partitions;
    return all;
  };
  const StageInfo& subset = *completed[0].stage;
  EXPECT_EQ(subset.task_count, 2);
  EXPECT_EQ(names(subset), (std::map<std::string, int32_t>{{"Un", 4}, {"Deux", 4}}));
  EXPECT_THAT(subset.name, AllOf(HasSubstr("run_job at "), HasSubstr("jobs_test.cpp:")));
  EXPECT_FALSE(subset.shuffle_id.has_value());
  EXPECT_GT(subset.submitted_ms, 0);
  EXPECT_GE(subset.completed_ms, subset.submitted_ms);
  EXPECT_EQ(subset.failure, "");
  const StageInfo &map_side = *completed[1].stage, &result = *completed[2].stage;
  EXPECT_EQ(map_side.task_count, 4);
  EXPECT_EQ(names(map_side), (std::map<std::string, int32_t>{{"Un", 4}, {"Deux", 4}}));
  EXPECT_TRUE(map_side.shuffle_id.has_value());
  EXPECT_EQ(result.task_count, 3);
  EXPECT_EQ(names(result), (std::map<std::string, int32_t>{{"Trois", 3}}));
  EXPECT_THAT(result.parents, ElementsAre(map_side.id));
}

// ------------------------------------------------------------------------------- retries and
// accumulators

TEST_F(JobsTest, T171_OneFailureOneRetry) {
  static std::atomic<int> runs;
  runs = 0;
  start(conf("local[1,2]"));
  const auto squares = context().range(0, 3, 1, 3).map([](int n) {
    ++runs;
    if (n == 1 && TaskContext::current()->attempt() == 0)
      throw std::runtime_error("the first attempt fails");
    return n * n;
  });
  EXPECT_THAT(squares.collect(), ElementsAre(0, 1, 4));
  EXPECT_EQ(runs, 4);
  context().stop();
  EXPECT_THAT(events<event::TaskStart>(), SizeIs(4));
  int failed = 0;
  for (const auto& end : events<event::TaskEnd>()) {
    if (end.task.status != TaskStatus::failed) continue;
    ++failed;
    EXPECT_EQ(end.reason, "ExceptionFailure");
    EXPECT_THAT(end.detail, HasSubstr("the first attempt fails"));
  }
  EXPECT_EQ(failed, 1);
}

TEST_F(JobsTest, C14_1_AccumulatorsCountOncePerPartitionInActions) {
  start(conf("local[2,4]"));
  const auto sum = context().accumulator<int64_t>("sum");
  const auto attempts = context().accumulator<int64_t>();
  context()
      .range(1, 101, 1, 8)
      .for_each(
          [](int n, const Accumulator<int64_t>& s, const Accumulator<int64_t>& a) {
            s.add(n);
            a.add(1);
            if (TaskContext::current()->partition() % 2 == 0 &&
                TaskContext::current()->attempt() < 2 && n % 13 == 0) {
              throw std::runtime_error("fails after it has added");
            }
          },
          sum, attempts);
  EXPECT_EQ(sum.value(), 5050) << "failed attempts do not count";
  EXPECT_EQ(attempts.value(), 100);
  sum.add(10);
  EXPECT_EQ(sum.value(), 5060) << "the driver may add too";
  context().stop();
  EXPECT_GT(events<event::TaskEnd>().size(), 8u) << "there were retries";
  EXPECT_EQ(events<event::StageCompleted>().back().stage->accumulables.at("sum"), "5050");
}

TEST_F(JobsTest, C14_1_AccumulatorsInTransformations) {
  const auto seen = context().accumulator<int64_t>("seen");
  const auto pairs = context()
                         .range(0, 100, 1, 4)
                         .map(
                             [](int n, const Accumulator<int64_t>& s) {
                               s.add(1);
                               return std::pair(n % 10, n);
                             },
                             seen);
  EXPECT_EQ(seen.value(), 0) << "nothing runs before an action";
  const auto sums = pairs.reduce_by_key(std::plus<>{});
  EXPECT_EQ(sums.count(), 10u);
  EXPECT_EQ(seen.value(), 100);
  EXPECT_EQ(sums.count(), 10u);
  EXPECT_EQ(seen.value(), 100) << "the map stage was skipped";
  EXPECT_EQ(pairs.count(), 100u);
  EXPECT_EQ(seen.value(), 200) << "an Rdd that is not kept runs again";
}

TEST_F(JobsTest, C14_4_AccumulatorsOfOtherTypesAndInTasks) {
  const auto text = context().accumulator<std::string>();
  context()
      .range(0, 4, 1, 1)
      .for_each([](int n, const Accumulator<std::string>& t) { t.add(std::to_string(n)); }, text);
  EXPECT_EQ(text.value(), "0123");
  const auto error = caught([&] {
    static_cast<void>(
        context()
            .range(0, 1)
            .map([](int, const Accumulator<std::string>& t) { return t.value(); }, text)
            .collect());
  });
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_THAT(error.text, HasSubstr("can be read in the driver only"));
  EXPECT_EQ(Accumulator<int>().id(), 0u);
}

// ------------------------------------------------------------------------------- cancelling

TEST_F(JobsTest, S004_061_AHandleWaitsForItsJobAndCancelsIt) {
  auto waited_for = gated().collect_async();
  ASSERT_TRUE(wait_for_started(2));
  EXPECT_FALSE(waited_for.completed());
  open_gate = true;
  waited_for.wait();
  EXPECT_TRUE(waited_for.completed());
  EXPECT_THAT(waited_for.get(), ElementsAre(0, 1));
  open_gate = false;
  started = 0;
  auto running = gated().collect_async();
  ASSERT_TRUE(wait_for_started(2));
  EXPECT_FALSE(running.completed());
  running.cancel("not needed any more");
  const auto error = caught([&] { static_cast<void>(running.get()); });
  EXPECT_EQ(error.kind, ErrorKind::cancelled);
  EXPECT_THAT(error.text, HasSubstr("Job 1 cancelled not needed any more"));
  EXPECT_TRUE(running.completed());
  expect_usable();
}

TEST_F(JobsTest, C2_12_CancelJobStageAndAll) {
  auto by_job = gated().count_async();
  ASSERT_TRUE(wait_for_started(2));
  context().cancel_job(by_job.job_id(), "by its number");
  EXPECT_THAT(caught([&] { static_cast<void>(by_job.get()); }).text, HasSubstr("by its number"));
  context().cancel_job(by_job.job_id());
  context().cancel_job(12345);

  auto by_stage = gated().count_async();
  ASSERT_TRUE(wait_for_started(4));
  context().cancel_stage(context().status().active_stage_ids().at(0));
  EXPECT_THAT(caught([&] { static_cast<void>(by_stage.get()); }).text,
              AllOf(HasSubstr("because Stage"), HasSubstr("was cancelled")));

  auto one = gated(1).count_async(), two = gated(1).count_async();
  ASSERT_TRUE(wait_for_started(6));
  context().cancel_all_jobs();
  for (auto* job : {&one, &two}) {
    const auto error = caught([&] { static_cast<void>(job->get()); });
    EXPECT_EQ(error.kind, ErrorKind::cancelled);
    EXPECT_THAT(error.text, HasSubstr("as part of cancellation of all jobs"));
  }
  expect_usable();
}

TEST_F(JobsTest, KillTaskAttemptRunsAgain) {
  auto running = gated(1).collect_async();
  ASSERT_TRUE(wait_for_started(1));
  const auto starts = events<event::TaskStart>(1);
  EXPECT_TRUE(context().kill_task_attempt(starts[0].task.id, "let another try"));
  EXPECT_FALSE(context().kill_task_attempt(987654));
  ASSERT_TRUE(wait_for_started(2));
  open_gate = true;
  EXPECT_THAT(running.get(), ElementsAre(0));
  context().stop();
  EXPECT_EQ(events<event::TaskEnd>()[0].reason, "TaskKilled");
  EXPECT_THAT(events<event::TaskEnd>()[0].detail, HasSubstr("let another try"));
}

TEST_F(JobsTest, T215_EveryStartedTaskEnds) {
  auto running = context()
                     .range(0, 50, 1, 50)
                     .map([](int n) { return n < 10 ? n : test::wait_at_gate(n); })
                     .collect_async();
  ASSERT_TRUE(wait_for_started(2));
  running.cancel();
  EXPECT_EQ(caught([&] { static_cast<void>(running.get()); }).kind, ErrorKind::cancelled);
  EXPECT_TRUE(wait_until(
      [&] {
        return events<event::TaskEnd>().size() == events<event::TaskStart>().size() &&
               !events<event::JobEnd>().empty();
      },
      std::chrono::seconds(10)));
  EXPECT_GE(events<event::TaskStart>().size(), 12u);
}

// ------------------------------------------------------------------------------- large results

TEST_F(JobsTest, C11_3_ALargeResultIsFetchedAndListenersHearOfIt) {
  start(conf().set("tenon.task.maxDirectResultSize", "1k"));
  const auto sizes = [](Records<int>& records) {
    for (const int n : records) return std::string(n == 0 ? 10 : 100'000, 'x');
    return std::string();
  };
  std::map<int32_t, size_t> got;
  context().run_job(context().range(0, 2, 1, 2), sizes, {0, 1},
                    [&](int32_t position, const std::string& s) { got[position] = s.size(); });
  EXPECT_EQ(got, (std::map<int32_t, size_t>{{0, 10}, {1, 100'000}}));
  static_cast<void>(events<event::JobEnd>(1));
  const auto fetched = events<event::TaskGettingResult>();
  ASSERT_THAT(fetched, SizeIs(1));
  EXPECT_EQ(fetched[0].task.partition, 1);
  EXPECT_EQ(fetched[0].task.status, TaskStatus::getting_result);
  EXPECT_GE(fetched[0].task.getting_result_ms, fetched[0].task.launch_ms);
  for (const auto& end : events<event::TaskEnd>()) {
    EXPECT_EQ(end.task.getting_result_ms != 0, end.task.partition == 1);
  }
}

// ------------------------------------------------------------------------------- no retry

struct Stubborn {  // its Codec throws
  int n = 0;
  Stubborn& operator+=(const Stubborn& other) {
    n += other.n;
    return *this;
  }
};

}  // namespace

template <>
struct Codec<Stubborn> {
  static void write(ByteWriter&, const Stubborn&) { throw std::out_of_range("no form for this"); }
  static Stubborn read(ByteReader&) { return {}; }
};

namespace {

TEST_F(JobsTest, T173_C9_5_AResultThatCannotBeEncodedIsNotTriedAgain) {
  start(conf("local[2,4]"));
  const auto error = caught([&] {
    static_cast<void>(context().range(0, 2, 1, 1).map([](int n) { return Stubborn{n}; }).collect());
  });
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_THAT(error.text, AllOf(HasSubstr("not retrying"),
                                HasSubstr("the result of the task cannot be encoded"),
                                HasSubstr("caused by: std::out_of_range: no form for this")));
  static_cast<void>(events<event::JobEnd>(1));
  EXPECT_THAT(events<event::TaskStart>(), SizeIs(1));
  const auto sum = context().accumulator<Stubborn>();
  const auto in_accumulator = caught([&] {
    context()
        .range(0, 2, 1, 1)
        .for_each([](int n, const Accumulator<Stubborn>& s) { s.add(Stubborn{n}); }, sum);
  });
  EXPECT_THAT(in_accumulator.text,
              AllOf(HasSubstr("not retrying"), HasSubstr("accumulator cannot be encoded"),
                    HasSubstr("no form for this")));
  static_cast<void>(events<event::JobEnd>(2));
  EXPECT_THAT(events<event::TaskStart>(), SizeIs(2));
  expect_usable();
}

}  // namespace
}  // namespace tenon
