// Actions that send the driver little of each partition (contract C26.4), on a real local[2].
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using test::caught;
using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class ActionsTest : public test::CountingTest {
 protected:
  Rdd<int> numbers(int n, int partitions = 5) { return context().range(0, n, 1, partitions); }
  Rdd<int> none() { return numbers(0); }
};

TEST_F(ActionsTest, LargestAndSmallest) {
  const auto mixed = numbers(5000).map([](int n) { return n * 7919 % 5000; });
  EXPECT_THAT(mixed.top(3), ElementsAre(4999, 4998, 4997));
  EXPECT_THAT(mixed.take_ordered(3), ElementsAre(0, 1, 2));
  const auto last_digit = [](int a, int b) { return std::pair(a % 10, a) < std::pair(b % 10, b); };
  EXPECT_THAT(mixed.take_ordered(2, last_digit), ElementsAre(0, 10));
  EXPECT_THAT(mixed.top(2, last_digit), ElementsAre(4999, 4989));
  EXPECT_THAT(numbers(3).top(10), ElementsAre(2, 1, 0));
  EXPECT_THAT(none().top(2), IsEmpty());
  start_counting();
  EXPECT_THAT(mixed.top(0), IsEmpty());
  EXPECT_EQ(jobs_since(), 0u);
  EXPECT_EQ(mixed.min(), 0);
  EXPECT_EQ(mixed.max(), 4999);
  EXPECT_EQ(mixed.max(last_digit), 4999);
  for (const auto& act : std::vector<std::function<void()>>{[&] { (void)none().min(); },
                                                            [&] { (void)none().max(); }}) {
    const auto error = caught(act);
    EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
    EXPECT_THAT(error.text, HasSubstr("the Rdd has no record"));
  }
}

TEST_F(ActionsTest, TreesGiveWhatReduceAndAggregateGive) {
  for (const int partitions : {1, 2, 7, 40, 100}) {
    const auto all = numbers(1000, partitions);
    for (const int depth : {1, 2, 3, 5}) {
      EXPECT_EQ(all.tree_reduce(std::plus<>{}, depth), 499500) << partitions << " " << depth;
      EXPECT_EQ(all.tree_aggregate(
                    std::vector<int>{},
                    [](std::vector<int> sums, int n) {
                      sums.resize(2);
                      sums[static_cast<size_t>(n % 2)] += n;
                      return sums;
                    },
                    [](std::vector<int> a, const std::vector<int>& b) {
                      a.resize(std::max(a.size(), b.size()));
                      for (size_t i = 0; i < b.size(); ++i) a[i] += b[i];
                      return a;
                    },
                    depth),
                (std::vector{249500, 250000}));
    }
  }
  EXPECT_EQ(none().tree_aggregate(7, std::plus<>{}, std::plus<>{}), 35)
      << "zero starts each of the five partitions";
  EXPECT_THAT(caught([&] { (void)none().tree_reduce(std::plus<>{}); }).text,
              HasSubstr("tree_reduce: the Rdd has no record"));
  EXPECT_THAT(caught([&] { (void)numbers(3).tree_reduce(std::plus<>{}, 0); }).text,
              HasSubstr("tree_reduce: the depth must be above 0, not 0"));
}

TEST_F(ActionsTest, ATreeLeavesTheDriverFewValues) {
  start_counting();
  EXPECT_EQ(numbers(1000, 100).tree_reduce(std::plus<>{}), 499500);
  EXPECT_THAT(tasks_per_job_since(), ElementsAre(100, 10));
}

TEST_F(ActionsTest, IsEmptyLooksNoFurtherThanNeeded) {
  EXPECT_TRUE(none().is_empty());
  start_counting();
  EXPECT_FALSE(numbers(100, 10).is_empty());
  EXPECT_THAT(tasks_per_job_since(), ElementsAre(1));
  EXPECT_FALSE(numbers(100, 10).filter([](int n) { return n == 99; }).is_empty());
}

TEST_F(ActionsTest, TakeSample) {
  const auto all = numbers(1000);
  const auto once = all.take_sample(false, 50, 1);
  EXPECT_THAT(once, SizeIs(50));
  EXPECT_EQ(std::set<int>(once.begin(), once.end()).size(), 50u);
  EXPECT_EQ(once, all.take_sample(false, 50, 1));
  EXPECT_NE(once, all.take_sample(false, 50, 2));
  EXPECT_FALSE(std::is_sorted(once.begin(), once.end())) << "in a random order";
  EXPECT_THAT(all.take_sample(false, 5000, 1), SizeIs(1000)) << "no more than there are";
  EXPECT_THAT(all.take_sample(true, 5000, 1), SizeIs(5000));
  EXPECT_THAT(none().take_sample(true, 5, 1), IsEmpty());
}

TEST_F(ActionsTest, EachRecordIsAsLikelyInASample) {
  const std::vector<uint64_t> sizes{30, 0, 70};
  for (const bool with_replacement : {false, true}) {
    std::vector<int> times(100);
    for (uint64_t seed = 0; seed < 2000; ++seed) {
      const auto positions = detail::sample_positions(sizes, with_replacement, 10, seed);
      ASSERT_THAT(positions, SizeIs(3));
      for (const uint64_t at : positions[0]) ++times.at(at);
      EXPECT_THAT(positions[1], IsEmpty());
      for (const uint64_t at : positions[2]) ++times.at(30 + at);
    }
    for (const int n : times) EXPECT_NEAR(n, 200, 75);
  }
}

TEST_F(ActionsTest, CountsByValueAndKey) {
  const auto letters = context().parallelize(std::vector<std::string>{"a", "b", "a", "c", "a"}, 3);
  EXPECT_THAT(letters.count_by_value(),
              UnorderedElementsAre(Pair("a", 3u), Pair("b", 1u), Pair("c", 1u)));
  const auto pairs = letters.map([](const std::string& s) { return std::pair(s, s.size()); });
  EXPECT_THAT(pairs.count_by_key(),
              UnorderedElementsAre(Pair("a", 3u), Pair("b", 1u), Pair("c", 1u)));
  EXPECT_THAT(none().count_by_value(), IsEmpty());
}

TEST_F(ActionsTest, CollectAsMapKeepsTheLastOfEqualKeys) {
  const auto pairs = context().parallelize(
      std::vector<std::pair<std::string, int>>{{"a", 1}, {"b", 2}, {"a", 3}}, 3);
  EXPECT_THAT(pairs.collect_as_map(), UnorderedElementsAre(Pair("a", 3), Pair("b", 2)));
}

TEST_F(ActionsTest, T195_LookupInAPartitionedRddRunsOnePartition) {
  const auto pairs = numbers(100).key_by([](int n) { return n % 7 - 3; });
  start_counting();
  EXPECT_THAT(pairs.lookup(-3), SizeIs(15));
  EXPECT_THAT(tasks_per_job_since(), ElementsAre(5));
  const auto placed = pairs.partition_by(4);
  EXPECT_EQ(placed.count(), 100u);
  start_counting();
  EXPECT_THAT(placed.lookup(-3),
              ElementsAre(0, 7, 14, 21, 28, 35, 42, 49, 56, 63, 70, 77, 84, 91, 98));
  EXPECT_THAT(tasks_per_job_since(), ElementsAre(1));
  EXPECT_THAT(placed.lookup(1000), IsEmpty());
}

TEST_F(ActionsTest, ApproximateCountsLieWithinTheDeviation) {
  for (const auto& [distinct, deviation] :
       {std::pair(10, 0.05), {1000, 0.05}, {60'000, 0.05}, {60'000, 0.01}}) {
    const auto estimate = numbers(120'000)
                              .map([](int n, int d) { return n % d; }, distinct)
                              .count_approx_distinct(deviation);
    EXPECT_THAT(static_cast<double>(estimate), DoubleNear(distinct, 3 * deviation * distinct + 1));
  }
  EXPECT_EQ(none().count_approx_distinct(), 0u);
  for (const double bad : {0.0, -1.0, 0.5, std::nan("")}) {
    EXPECT_THAT(caught([&] { (void)none().count_approx_distinct(bad); }).text,
                HasSubstr("count_approx_distinct: the relative deviation must be"));
  }
}

TEST_F(ActionsTest, Numbers) {
  EXPECT_EQ(numbers(1000).sum(), 499500);
  EXPECT_EQ(numbers(3).map([](int) { return std::numeric_limits<int>::max(); }).sum(),
            3 * int64_t{std::numeric_limits<int>::max()});
  EXPECT_EQ(none().sum(), 0);
  const auto values = numbers(101).map([](int n) { return n / 4.0; });
  EXPECT_THAT(values.sum(), DoubleEq(1262.5));
  const Statistics stats = values.stats();
  EXPECT_EQ(stats.count, 101u);
  EXPECT_THAT(stats.mean, DoubleNear(12.5, 1e-12));
  EXPECT_THAT(stats.variance(), DoubleNear(53.125, 1e-9));
  EXPECT_THAT(stats.sample_variance(), DoubleNear(53.65625, 1e-9));
  EXPECT_EQ(stats.min, 0);
  EXPECT_EQ(stats.max, 25);
  EXPECT_EQ(none().stats().count, 0u);
  EXPECT_TRUE(std::isnan(none().stats().variance()));
}

TEST_F(ActionsTest, Histograms) {
  const auto values = numbers(100);
  EXPECT_THAT(values.histogram(std::vector<double>{0, 10, 50, 99}), ElementsAre(10, 40, 50));
  EXPECT_THAT(values.histogram(std::vector<double>{90, 95, 1000}), ElementsAre(5, 5));
  EXPECT_THAT(values.histogram(4),
              Pair(ElementsAre(0, 24.75, 49.5, 74.25, 99), ElementsAre(25, 25, 25, 25)));
  EXPECT_THAT(values.map([](int) { return 5; }).histogram(3),
              Pair(ElementsAre(5, 5), ElementsAre(100)));
  const auto odd = context().parallelize(std::vector{1.0, std::nan(""), 2.0, HUGE_VAL}, 2);
  EXPECT_THAT(odd.histogram(std::vector<double>{0, 1.5, 3}), ElementsAre(1, 1));
  for (const auto& [act, text] : std::vector<std::pair<std::function<void()>, std::string>>{
           {[&] { (void)values.histogram(std::vector<double>{1}); }, "two bounds"},
           {[&] { (void)values.histogram(std::vector<double>{1, 1}); }, "above the one before"},
           {[&] { (void)values.histogram(0); }, "must be above 0"},
           {[&] { (void)none().histogram(3); }, "no record"},
           {[&] { (void)odd.histogram(3); }, "must be finite"}}) {
    const auto error = caught(act);
    EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
    EXPECT_THAT(error.text, HasSubstr(text));
  }
}

TEST_F(ActionsTest, LocalIteratorHoldsOnePartitionAtATime) {
  auto records = numbers(10, 3).union_with(none()).to_local_iterator();
  start_counting();
  std::vector<int> seen;
  for (int& n : records) {
    seen.push_back(n);
    if (n == 5) break;
  }
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(jobs_since(), 2u);
  int sum = 0;
  for (const int n : numbers(10, 3).to_local_iterator()) sum += n;
  EXPECT_EQ(sum, 45);
  for ([[maybe_unused]] const int n : none().to_local_iterator()) ADD_FAILURE();
}

TEST_F(ActionsTest, PartitionsAndAsyncForms) {
  const auto total = context().accumulator<int64_t>("total");
  const auto add_all = [](Records<int>& records, const Accumulator<int64_t>& sum) {
    for (const int n : records) sum.add(n);
  };
  numbers(100).for_each_partition(add_all, total);
  EXPECT_EQ(total.value(), 4950);
  EXPECT_EQ(numbers(100).reduce_async(std::plus<>{}).get(), 4950);
  EXPECT_EQ(caught([&] { (void)none().reduce_async(std::plus<>{}).get(); }).kind,
            ErrorKind::invalid_argument);
  static std::atomic<int> visited;
  visited = 0;
  numbers(100).for_each_async([](int) { ++visited; }).get();
  numbers(100)
      .for_each_partition_async([](Records<int>& records) {
        for ([[maybe_unused]] const int n : records) ++visited;
      })
      .get();
  EXPECT_EQ(visited, 200);
  auto failing = numbers(3).for_each_async([](int) { throw std::runtime_error("no"); });
  EXPECT_EQ(caught([&] { failing.get(); }).kind, ErrorKind::job_failed);
}

}  // namespace
}  // namespace tenon
