// What the operations of an Rdd mean (contract C26.4), on a real local[2].
#include <numeric>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<int> numbers(int first, int last) {
  std::vector<int> all(static_cast<size_t>(last - first + 1));
  std::iota(all.begin(), all.end(), first);
  return all;
}

// The records of each partition.
template <class T>
std::vector<std::vector<T>> glom(const Rdd<T>& rdd) {
  return rdd
      .map_partitions([](Records<T>& records) {
        std::vector<T> all;
        for (T& record : records) all.push_back(std::move(record));
        return std::vector<std::vector<T>>{std::move(all)};
      })
      .collect();
}

class RddTest : public test::CountingTest {};

TEST_F(RddTest, ParallelizeCutsEvenlyAndKeepsOrder) {
  EXPECT_THAT(glom(context().parallelize(numbers(1, 10), 3)),
              ElementsAre(ElementsAre(1, 2, 3), ElementsAre(4, 5, 6), ElementsAre(7, 8, 9, 10)));
  EXPECT_EQ(context().parallelize(numbers(1, 10)).partition_count(), 2)
      << "default_parallelism of local[2]";
  EXPECT_THAT(glom(context().parallelize(numbers(1, 1), 3)),
              ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(1)));
  EXPECT_THAT(context().parallelize(std::vector<std::string>(), 4).collect(), IsEmpty());
  EXPECT_EQ(test::caught([&] { static_cast<void>(context().parallelize(numbers(1, 2), -1)); }).kind,
            ErrorKind::invalid_argument);
}

TEST_F(RddTest, ParallelizeTakesMovableAndBoolRecords) {
  EXPECT_THAT(context().parallelize(std::vector<bool>{true, false, true}, 2).collect(),
              ElementsAre(true, false, true));
  const auto lengths = context()
                           .parallelize(numbers(1, 3000), 2)
                           .map([](int n) { return std::make_unique<int>(n); })
                           .map([](std::unique_ptr<int> p) { return *p; });
  EXPECT_EQ(lengths.collect(), numbers(1, 3000));
}

TEST_F(RddTest, Range) {
  EXPECT_THAT(glom(context().range(0, 7, 1, 3)),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5, 6)));
  EXPECT_THAT(context().range(10, 0, -3).collect(), ElementsAre(10, 7, 4, 1));
  EXPECT_THAT(context().range(0, 10, 3).collect(), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(context().range(0, 9, 3).collect(), ElementsAre(0, 3, 6));
  EXPECT_THAT(context().range(5, 5).collect(), IsEmpty());
  EXPECT_THAT(context().range(5, 0).collect(), IsEmpty());
  EXPECT_THAT(context().range<int8_t>(-128, 127, 100).collect(), ElementsAre(-128, -28, 72));
  EXPECT_THAT(context().range<uint8_t>(250, 255, 1, 2).collect(),
              ElementsAre(250, 251, 252, 253, 254));
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min(),
                    kHigh = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(context().range<int64_t>(kLow, kHigh, kHigh).collect(),
              ElementsAre(kLow, -1, kHigh - 1));
  EXPECT_THAT(context().range<int64_t>(kHigh, kLow, kLow).collect(), ElementsAre(kHigh, -1));
  EXPECT_EQ(context().range<int64_t>(kHigh - 5, kHigh).count(), 5u);
  // Whole 64-bit ranges in many partitions: bounds without overflow.
  EXPECT_EQ(context().range<uint64_t>(0, ~uint64_t{0}, uint64_t{1} << 50, 1000).count(),
            uint64_t{1} << 14);
  const auto error = test::caught([&] { static_cast<void>(context().range(0, 5, 0)); });
  EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(error.text, HasSubstr("step must not be 0"));
}

TEST_F(RddTest, NarrowOperationsKeepOrderAcrossBatches) {
  const auto all = context().range(0, 10'000, 1, 3);
  const auto odd = all.filter([](int n) { return n % 2 == 1; });
  const auto twice = odd.flat_map([](int n) { return std::vector{n, -n}; });
  std::vector<int> expected;
  for (int n = 1; n < 10'000; n += 2) expected.insert(expected.end(), {n, -n});
  EXPECT_EQ(twice.collect(), expected);
  // One record that becomes more than a batch, and none.
  const auto many = context().parallelize(numbers(0, 2), 1).flat_map([](int n) {
    return std::vector<int>(static_cast<size_t>(n) * 2000, n);
  });
  EXPECT_EQ(many.count(), 6000u);
  EXPECT_EQ(many.reduce(std::plus<>{}), 10'000);
  EXPECT_EQ(all.filter([](int) { return false; }).count(), 0u);
}

TEST_F(RddTest, FunctionsOfAllKindsTravel) {
  struct Add {
    int n = 0;
    TENON_FIELDS(n)
    int operator()(int x) const { return x + n; }
  };
  struct Times {
    int n = 0;
    int operator()(int x) const { return x * n; }
  };
  int (*const negate)(int) = [](int x) { return -x; };
  const auto result =
      context()
          .parallelize(numbers(1, 3), 2)
          .map(Add{10})
          .map(Times{3})
          .map(negate)
          .map([](int x, int a, const std::vector<int>& b) { return x + a + b.at(1); }, 100,
               std::vector{1, 1000});
  EXPECT_THAT(result.collect(), ElementsAre(1067, 1064, 1061));
}

TEST_F(RddTest, MapPartitionsSeesEachPartitionOnce) {
  const auto sums = context()
                        .range(0, 10, 1, 4)
                        .map_partitions(
                            [](Records<int>& records, int start) {
                              int sum = start;
                              for (const int n : records) sum += n;
                              return std::vector{sum};
                            },
                            100);
  EXPECT_THAT(sums.collect(), ElementsAre(101, 109, 111, 124));
  // What the function doesn't read is not missed.
  const auto firsts = context().range(0, 10, 1, 2).map_partitions([](Records<int>& records) {
    return std::vector{*records.begin()};
  });
  EXPECT_THAT(firsts.collect(), ElementsAre(0, 5));
}

TEST_F(RddTest, UnionKeepsOrderAndPartitions) {
  const auto a = context().parallelize(numbers(1, 4), 2),
             b = context().parallelize(numbers(5, 7), 3);
  const auto both = a.union_with(b);
  EXPECT_EQ(both.partition_count(), 5);
  EXPECT_EQ(both.collect(), numbers(1, 7));
  EXPECT_EQ(a.union_with(a).map([](int n) { return n; }).count(), 8u);
  EXPECT_THAT(glom(both), ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4), ElementsAre(5),
                                      ElementsAre(6), ElementsAre(7)));
}

TEST_F(RddTest, T191_CoalesceKeepsOrderAndNeverGrows) {
  const auto ten = context().parallelize(numbers(1, 10), 10);
  EXPECT_THAT(glom(ten.coalesce(2)),
              ElementsAre(ElementsAre(1, 2, 3, 4, 5), ElementsAre(6, 7, 8, 9, 10)));
  EXPECT_THAT(glom(ten.coalesce(3)),
              ElementsAre(ElementsAre(1, 2, 3), ElementsAre(4, 5, 6), ElementsAre(7, 8, 9, 10)));
  EXPECT_EQ(glom(ten.coalesce(10)), glom(ten));
  EXPECT_EQ(ten.coalesce(20).partition_count(), 10);
  for (const int n : {0, -1}) {
    const auto error = test::caught([&] { static_cast<void>(ten.coalesce(n)); });
    EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
    EXPECT_THAT(error.text, HasSubstr("coalesce: the number of partitions must be above 0, not " +
                                      std::to_string(n)));
  }
  // Without a shuffle: one stage.
  start_counting();
  EXPECT_EQ(ten.coalesce(2).count(), 10u);
  EXPECT_EQ(stages_since(), 1u);
}

TEST_F(RddTest, T190_TakeRunsFewPartitionsAndGivesExactPrefixes) {
  for (const int partitions : {1, 2, 100, 1000}) {
    const auto rdd = context().range(0, 999, 1, partitions);
    for (const uint64_t n : {0U, 1U, 3U, 500U, 501U, 999U, 1000U}) {
      EXPECT_EQ(rdd.take(n), numbers(0, static_cast<int>(std::min<uint64_t>(n, 999)) - 1))
          << partitions << " partitions";
    }
  }
  start_counting();
  EXPECT_THAT(context().range(0, 5).take(0), IsEmpty());
  EXPECT_EQ(jobs_since(), 0u) << "take(0) runs no job";
  start_counting();
  EXPECT_EQ(context().range(0, 100, 1, 100).take(15).size(), 15u);
  EXPECT_THAT(tasks_per_job_since(), ElementsAre(1, 4, 20))
      << "1 partition, then 4 times as many as were tried";
  EXPECT_THAT(context().parallelize(std::vector<int>(), 3).take(2), IsEmpty());
}

TEST_F(RddTest, FirstAndReduceOfNothingAreErrors) {
  const auto empty = context().parallelize(std::vector<int>(), 3);
  EXPECT_EQ(context().range(7, 9).first(), 7);
  EXPECT_EQ(empty.union_with(context().range(3, 4)).first(), 3);
  const auto first = test::caught([&] { static_cast<void>(empty.first()); });
  EXPECT_EQ(first.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(first.text, HasSubstr("first: the Rdd has no record"));
  const auto reduce = test::caught([&] { static_cast<void>(empty.reduce(std::plus<>{})); });
  EXPECT_EQ(reduce.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(reduce.text, HasSubstr("reduce: the Rdd has no record"));
  expect_usable();
}

TEST_F(RddTest, ReduceFoldAggregate) {
  const auto rdd = context().range(1, 101, 1, 7);
  EXPECT_EQ(rdd.reduce(std::plus<>{}), 5050);
  EXPECT_EQ(rdd.reduce([](int a, int b) { return std::max(a, b); }), 100);
  EXPECT_EQ(rdd.filter([](int n) { return n == 42; }).reduce(std::plus<>{}), 42)
      << "most partitions are empty";
  EXPECT_EQ(rdd.fold(0, std::plus<>{}), 5050);
  EXPECT_EQ(rdd.fold(10, std::plus<>{}), 5050 + 8 * 10)
      << "the zero starts each partition and the total";
  EXPECT_EQ(context().parallelize(std::vector<int>(), 2).fold(5, std::plus<>{}), 15);
  const auto text = context().range(0, 6, 1, 3).map([](int n) { return std::to_string(n); });
  EXPECT_EQ(text.fold("", std::plus<>{}), "012345") << "values of partitions in their order";
  using Mean = std::pair<int64_t, int64_t>;
  const Mean mean = rdd.aggregate(
      Mean{}, [](Mean m, int n) { return Mean(m.first + n, m.second + 1); },
      [](const Mean& a, const Mean& b) { return Mean(a.first + b.first, a.second + b.second); });
  EXPECT_EQ(mean, Mean(5050, 100));
  // A mutable zero is not shared.
  const auto lists = rdd.aggregate(
      std::vector<int>{},
      [](std::vector<int> v, int n) {
        v.push_back(n);
        return v;
      },
      [](std::vector<int> a, const std::vector<int>& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
      });
  EXPECT_EQ(lists, numbers(1, 100));
}

TEST_F(RddTest, ForEachRunsInTheExecutors) {
  static std::atomic<int> sum;
  sum = 0;
  context().range(1, 101, 1, 5).for_each([](int n) {
    if (TaskContext::current() != nullptr) sum += n;
  });
  EXPECT_EQ(sum, 5050);
}

TEST_F(RddTest, AsyncActions) {
  auto all = context().range(0, 100, 1, 4).collect_async();
  auto count = context().range(0, 100, 1, 4).filter([](int n) { return n % 3 == 0; }).count_async();
  EXPECT_EQ(all.get(), numbers(0, 99));
  EXPECT_EQ(count.get(), 34u);
  EXPECT_TRUE(all.completed());
  EXPECT_NE(all.job_id(), count.job_id());
}

TEST_F(RddTest, RecordsOfViewsBecomeOwned) {
  const std::string path = folder().write("text", "b 2\na 1\nc 3\na 4\n");
  const auto lines = context().text_file<std::string_view>(path, 3);
  EXPECT_THAT(lines.collect(), ElementsAre("b 2", "a 1", "c 3", "a 4"));
  EXPECT_THAT(lines.take(2), ElementsAre("b 2", "a 1"));
  EXPECT_EQ(lines.first(), "b 2");
  EXPECT_EQ(
      lines.reduce([](std::string a, const std::string& b) { return std::max(std::move(a), b); }),
      "c 3");
  EXPECT_EQ(lines.fold("", [](std::string a, const std::string& b) { return a + b; }),
            "b 2a 1c 3a 4");
  using Pair = std::pair<std::string_view, std::string_view>;
  const auto pairs =
      lines.map([](std::string_view line) { return Pair(line.substr(0, 1), line.substr(2)); });
  EXPECT_THAT(pairs.collect(), ElementsAre(testing::Pair("b", "2"), testing::Pair("a", "1"),
                                           testing::Pair("c", "3"), testing::Pair("a", "4")));
  EXPECT_THAT(pairs.group_by_key().collect(),
              UnorderedElementsAre(testing::Pair("a", ElementsAre("1", "4")),
                                   testing::Pair("b", ElementsAre("2")),
                                   testing::Pair("c", ElementsAre("3"))));
  EXPECT_THAT(pairs.partition_by(2).collect(),
              UnorderedElementsAre(testing::Pair("b", "2"), testing::Pair("a", "1"),
                                   testing::Pair("c", "3"), testing::Pair("a", "4")));
  EXPECT_THAT(pairs.sort_by_key().collect(),
              ElementsAre(testing::Pair("a", "1"), testing::Pair("a", "4"), testing::Pair("b", "2"),
                          testing::Pair("c", "3")));
  EXPECT_THAT(
      pairs.join(pairs)
          .map([](const auto& row) { return row.first + row.second.first + row.second.second; })
          .collect(),
      UnorderedElementsAre("b22", "a11", "a14", "a41", "a44", "c33"));
  EXPECT_THAT(pairs.reduce_by_key([](const std::string& a, const std::string& b) { return a + b; })
                  .collect(),
              UnorderedElementsAre(testing::Pair("b", "2"), testing::Pair("a", "14"),
                                   testing::Pair("c", "3")));
  EXPECT_THAT(
      lines.map([](std::string_view line) { return line.substr(0, 1); }).distinct().collect(),
      UnorderedElementsAre("a", "b", "c"));
  const auto tuples =
      lines.map([](std::string_view line) { return std::tuple(line, 1, Pair(line, line)); });
  EXPECT_THAT(tuples.take(1),
              ElementsAre(std::tuple<std::string, int, std::pair<std::string, std::string>>(
                  "b 2", 1, {"b 2", "b 2"})));
  // A cache in the middle keeps strings, and hands on views into them.
  const auto cached = pairs.cache();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(cached.filter([](const Pair& p) { return p.first == "a"; })
                  .map([](Pair p) { return p.second.size(); })
                  .reduce(std::plus<>{}),
              2u);
  }
  EXPECT_THAT(
      cached.reduce_by_key([](const std::string& a, const std::string& b) { return a + b; })
          .sort_by_key()
          .collect(),
      ElementsAre(testing::Pair("a", "14"), testing::Pair("b", "2"), testing::Pair("c", "3")));
}

TEST_F(RddTest, NamesIdsAndDebugString) {
  const auto base = context().range(0, 4, 1, 2);
  EXPECT_EQ(base.id(), 0);
  EXPECT_EQ(base.name(), "range");
  const auto pairs = base.map([](int n) { return std::pair(n % 2, n); }).set_name("by parity");
  EXPECT_EQ(pairs.name(), "by parity");
  const std::string text = pairs.reduce_by_key(std::plus<>{}).to_debug_string();
  EXPECT_THAT(text, HasSubstr("by parity"));
  EXPECT_THAT(text, HasSubstr("reduce_by_key at "));
  EXPECT_THAT(text, HasSubstr("rdd_test.cpp:"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n') + (text.ends_with('\n') ? 0 : 1), 3) << text;
}

}  // namespace
}  // namespace tenon
