// Operations within a stage beyond map and filter, and sets (contract C26.4), on a real local[2],
// each against an answer made without Tenon.
#include <numeric>
#include <set>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using test::caught;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class TransformsTest : public test::CountingTest {
 protected:
  // 0 to n - 1; with gaps: every other partition is empty.
  Rdd<int> numbers(int n, int partitions = 3) { return context().range(0, n, 1, partitions); }
  Rdd<int> with_empty_partitions(int n) {
    return numbers(n, 3)
        .union_with(numbers(0, 2))
        .union_with(numbers(n, 2).map([](int x, int k) { return x + k; }, n));
  }
  static std::vector<int> iota(int n) {
    std::vector<int> all(static_cast<size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
};

TEST_F(TransformsTest, S004_037_PartitionsWithTheirIndex) {
  const auto tagged = numbers(10).map_partitions_with_index(
      [](int32_t partition, Records<int>& records, const std::string& mark) {
        std::vector<std::string> out;
        for (const int n : records) {
          out.push_back(std::to_string(partition) + mark + std::to_string(n));
        }
        return out;
      },
      std::string("/"));
  EXPECT_THAT(tagged.collect(),
              ElementsAre("0/0", "0/1", "0/2", "1/3", "1/4", "1/5", "2/6", "2/7", "2/8", "2/9"));
  // The index is the Rdd's own, not that of the partition that reads it.
  const auto index = [](int32_t partition, Records<int>&) { return std::vector{partition}; };
  EXPECT_THAT(
      numbers(3).union_with(numbers(3)).map_partitions_with_index(index).coalesce(2).collect(),
      ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(TransformsTest, GlomHasEachPartitionAsOneRecord) {
  EXPECT_THAT(with_empty_partitions(3).glom().collect(),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), IsEmpty(), IsEmpty(),
                          ElementsAre(3), ElementsAre(4, 5)));
}

TEST_F(TransformsTest, KeysValuesAndKeyBy) {
  const auto pairs = numbers(4).key_by([](int n) { return std::to_string(n % 2); });
  EXPECT_THAT(pairs.collect(), ElementsAre(Pair("0", 0), Pair("1", 1), Pair("0", 2), Pair("1", 3)));
  EXPECT_THAT(pairs.keys().collect(), ElementsAre("0", "1", "0", "1"));
  EXPECT_THAT(pairs.values().collect(), ElementsAre(0, 1, 2, 3));
}

TEST_F(TransformsTest, FlatMapValuesKeepsKeyAndPartitioner) {
  const auto pairs = context().parallelize(
      std::vector<std::pair<int, std::string>>{{1, "a b"}, {2, ""}, {3, "c"}}, 2);
  const auto flat = pairs.partition_by(3).flat_map_values(
      [](const std::string& text) { return std::vector<std::string>{text, text + "!"}; });
  EXPECT_THAT(flat.collect(), UnorderedElementsAre(Pair(1, "a b"), Pair(1, "a b!"), Pair(2, ""),
                                                   Pair(2, "!"), Pair(3, "c"), Pair(3, "c!")));
  start_counting();
  EXPECT_EQ(flat.group_by_key(3).count(), 3u);
  EXPECT_EQ(stages_since(), 1u) << "no shuffle besides partition_by's, which is there already";
}

TEST_F(TransformsTest, SamplesAreTheSameForASeedAndOfTheFraction) {
  const auto all = numbers(20000, 7);
  for (const uint64_t seed : {uint64_t{0}, uint64_t{17}}) {
    const auto once = all.sample(false, 0.3, seed).collect();
    EXPECT_EQ(once, all.sample(false, 0.3, seed).collect());
    EXPECT_THAT(once.size(), AllOf(Ge(5700u), Le(6300u)));
    EXPECT_TRUE(std::is_sorted(once.begin(), once.end()));
    EXPECT_EQ(std::set<int>(once.begin(), once.end()).size(), once.size());
    const auto often = all.sample(true, 1.5, seed).collect();
    EXPECT_THAT(often.size(), AllOf(Ge(29000u), Le(31000u)));
    EXPECT_TRUE(std::is_sorted(often.begin(), often.end()));
  }
  EXPECT_NE(all.sample(false, 0.3, 1).collect(), all.sample(false, 0.3, 2).collect());
  EXPECT_THAT(all.sample(false, 0).collect(), IsEmpty());
  EXPECT_THAT(all.sample(true, 0).collect(), IsEmpty());
  EXPECT_EQ(all.sample(false, 1).count(), 20000u);
  for (const auto& [again, fraction] : {std::pair(false, 1.1), {false, -0.1}, {true, -1.0}}) {
    const auto error = caught([&, repeat = again, f = fraction] { (void)all.sample(repeat, f); });
    EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
    EXPECT_THAT(error.text, HasSubstr("sample: the fraction must be"));
  }
}

TEST_F(TransformsTest, C26_4_ZipWalksEqualPartitionsSideBySide) {
  const auto squares = numbers(5000).map([](int n) { return int64_t{n} * n; });
  const auto zipped = numbers(5000).zip(squares).collect();
  ASSERT_THAT(zipped, SizeIs(5000));
  for (const auto& [n, square] : zipped) EXPECT_EQ(int64_t{n} * n, square);
  auto error = caught([&] { (void)numbers(6, 3).zip(numbers(6, 2)); });
  EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(error.text, HasSubstr("zip: both sides need the same number of partitions, they have "
                                    "3 and 2"));
  error = caught([&] { (void)numbers(6, 3).zip(numbers(7, 3)).count(); });
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_THAT(error.text, HasSubstr("has another number of records on each side"));
  expect_usable();
}

TEST_F(TransformsTest, ZipPartitionsTakesSidesOfDifferentSizes) {
  const auto sums = numbers(6).zip_partitions(numbers(9), [](Records<int>& a, Records<int>& b) {
    int sum = 0;
    for (const int n : a) sum += n;
    for (const int n : b) sum += 100 * n;
    return std::vector{sum};
  });
  EXPECT_THAT(sums.collect(), ElementsAre(301, 1205, 2109));
}

TEST_F(TransformsTest, C26_4_ZipWithIndexRunsAJobForMoreThanOnePartitionOnly) {
  start_counting();
  const auto one = numbers(3, 1).zip_with_index();
  EXPECT_EQ(jobs_since(), 0u);
  EXPECT_THAT(one.collect(), ElementsAre(Pair(0, 0u), Pair(1, 1u), Pair(2, 2u)));
  start_counting();
  const auto many = with_empty_partitions(3000).zip_with_index();
  EXPECT_EQ(jobs_since(), 1u);
  for (const auto& [n, index] : many.collect()) EXPECT_EQ(static_cast<uint64_t>(n), index);
}

TEST_F(TransformsTest, CartesianHasEveryPairInOrder) {
  const auto product = numbers(3, 2).cartesian(numbers(2, 2).map([](int n) { return n * 10; }));
  EXPECT_EQ(product.partition_count(), 4);
  EXPECT_THAT(product.collect(), UnorderedElementsAre(Pair(0, 0), Pair(0, 10), Pair(1, 0),
                                                      Pair(1, 10), Pair(2, 0), Pair(2, 10)));
  EXPECT_EQ(numbers(2000, 2).cartesian(numbers(300, 3)).count(), 600'000u);
  EXPECT_EQ(numbers(5).cartesian(numbers(0)).count(), 0u);
}

TEST_F(TransformsTest, WindowsCrossPartitions) {
  const auto all = with_empty_partitions(4);  // 0 to 7 in small and empty partitions
  for (const uint64_t n : std::vector<uint64_t>{1, 2, 3, 5, 8, 9}) {
    std::vector<std::vector<int>> expected;
    for (int first = 0; first + static_cast<int>(n) <= 8; ++first) {
      auto& window = expected.emplace_back();
      for (uint64_t i = 0; i < n; ++i) window.push_back(first + static_cast<int>(i));
    }
    EXPECT_EQ(all.window(n).collect(), expected) << n;
  }
  EXPECT_THAT(caught([&] { (void)all.window(0); }).text, HasSubstr("must be above 0"));
}

TEST_F(TransformsTest, PrefixSumsCrossPartitions) {
  const auto all = with_empty_partitions(700);
  std::vector<int> expected(1400);
  std::partial_sum(expected.begin(), expected.end(), expected.begin());
  const auto values = iota(1400);
  std::partial_sum(values.begin(), values.end(), expected.begin());
  EXPECT_EQ(all.prefix_sum().collect(), expected);
  // Not commutative: the order counts.
  const auto texts = numbers(4).map([](int n) { return std::to_string(n); });
  EXPECT_THAT(texts.prefix_sum().collect(), ElementsAre("0", "01", "012", "0123"));
}

TEST_F(TransformsTest, ViewsGoThrough) {
  const std::string path = folder().write("text", "one\ntwo\nthree\nfour\n");
  const auto lines = context().text_file<std::string_view>(path, 2);
  EXPECT_THAT(lines.window(2).collect(),
              ElementsAre(ElementsAre("one", "two"), ElementsAre("two", "three"),
                          ElementsAre("three", "four")));
  EXPECT_THAT(lines.zip_with_index().filter([](const auto& p) { return p.second == 2; }).collect(),
              ElementsAre(Pair("three", 2u)));
  EXPECT_EQ(lines.sample(true, 2.0, 3).collect(), lines.sample(true, 2.0, 3).collect());
  EXPECT_EQ(lines.glom().collect().size(), static_cast<size_t>(lines.partition_count()));
  EXPECT_THAT(lines.key_by([](std::string_view s) { return s.size(); }).collect(),
              ElementsAre(Pair(3u, "one"), Pair(3u, "two"), Pair(5u, "three"), Pair(4u, "four")));
  EXPECT_THAT(lines.intersection(lines).collect(),
              UnorderedElementsAre("one", "two", "three", "four"));
  EXPECT_EQ(lines.repartition(3).count(), 4u);
}

// ------------------------------------------------------------------------------- pipe

TEST_F(TransformsTest, PipeGivesEachPartitionToACommand) {
  EXPECT_THAT(numbers(6).pipe("sed s/^/n/").collect(),
              ElementsAre("n0", "n1", "n2", "n3", "n4", "n5"));
  EXPECT_THAT(numbers(6).pipe("wc -l | tr -d ' '").collect(), ElementsAre("2", "2", "2"));
  EXPECT_THAT(numbers(1, 1).pipe("printf 'no end'").collect(), ElementsAre("no end"));
  EXPECT_THAT(numbers(0).pipe("cat").collect(), IsEmpty());
}

TEST_F(TransformsTest, PipeMovesMoreThanAPipeHoldsInEitherDirection) {
  EXPECT_EQ(numbers(200'000, 2).pipe("cat").count(), 200'000u);
  EXPECT_EQ(numbers(200'000, 2).pipe("cat > /dev/null; seq 200000").count(), 400'000u);
  EXPECT_EQ(numbers(200'000, 2).pipe("head -n 1").count(), 2u) << "it need not read all";
}

TEST_F(TransformsTest, ACommandThatFailsFailsTheJob) {
  for (const auto& [command, text] :
       {std::pair("exit 3", "command 'exit 3' ended with exit code 3"),
        {"cat; kill -9 $$", "was ended by signal 9"},
        {"/no/such/program", "ended with exit code 127"}}) {
    const auto error = caught([&, run = command] { (void)numbers(4).pipe(run).count(); });
    EXPECT_EQ(error.kind, ErrorKind::job_failed);
    EXPECT_THAT(error.text, AllOf(HasSubstr(text), HasSubstr("pipe at ")));
    expect_usable();
  }
}

TEST_F(TransformsTest, AKilledTaskEndsItsCommand) {
  const auto file = folder().path() + "/pid";
  auto future = numbers(1, 1).pipe("echo $$ > " + file + "; exec sleep 1000").count_async();
  ASSERT_TRUE(test::wait_until([&] { return !test::ScratchFolder::read(file).empty(); }));
  const int pid = std::stoi(test::ScratchFolder::read(file));
  future.cancel();
  EXPECT_EQ(caught([&] { (void)future.get(); }).kind, ErrorKind::cancelled);
  EXPECT_TRUE(test::wait_until([&] { return ::kill(pid, 0) != 0; }));
}

// ------------------------------------------------------------------------------- over a shuffle

TEST_F(TransformsTest, T191_RepartitionBalances) {
  for (const int from : {1, 3, 10}) {
    for (const int to : {1, 2, 7, 20}) {
      const auto rdd = numbers(1000, from).repartition(to);
      EXPECT_EQ(rdd.partition_count(), to);
      std::vector<int> all;
      for (const auto& partition : rdd.glom().collect()) {
        EXPECT_THAT(static_cast<int>(partition.size()),
                    AllOf(Ge(1000 / to - from), Le(1000 / to + from)));
        all.insert(all.end(), partition.begin(), partition.end());
      }
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all, iota(1000));
    }
  }
  EXPECT_THAT(caught([&] { (void)numbers(3).repartition(0); }).text,
              HasSubstr("repartition: the number of partitions must be above 0, not 0"));
}

TEST_F(TransformsTest, SortByAnyKey) {
  const auto words =
      context().parallelize(std::vector<std::string>{"pear", "fig", "apple", "date", "kiwi"}, 3);
  const auto length = [](const std::string& s) { return s.size(); };
  EXPECT_THAT(words.sort_by(length).collect(), ElementsAre("fig", "pear", "date", "kiwi", "apple"));
  EXPECT_THAT(words.sort_by(length, false, 2).collect(),
              ElementsAre("apple", "pear", "date", "kiwi", "fig"));
  EXPECT_THAT(numbers(0).sort_by([](int n) { return -n; }).collect(), IsEmpty());
}

TEST_F(TransformsTest, SetsOfRecords) {
  const auto left = context().parallelize(std::vector{1, 2, 2, 3, 4, 4, -7}, 3);
  const auto right = context().parallelize(std::vector{4, 4, 2, -7, 9}, 2);
  EXPECT_THAT(left.intersection(right).collect(), UnorderedElementsAre(2, 4, -7));
  EXPECT_THAT(left.subtract(right).collect(), UnorderedElementsAre(1, 3));
  EXPECT_THAT(right.subtract(left, 5).collect(), ElementsAre(9));
  EXPECT_THAT(left.subtract(numbers(0)).collect(), UnorderedElementsAre(1, 2, 2, 3, 4, 4, -7))
      << "as often as they come";
  EXPECT_THAT(left.intersection(numbers(0)).collect(), IsEmpty());
}

TEST_F(TransformsTest, SubtractByKeyOfAPartitionedSideDoesNotShuffleIt) {
  const auto left = context()
                        .parallelize(std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {1, 3}}, 2)
                        .partition_by(4);
  const auto right = context()
                         .parallelize(std::vector<std::pair<int, std::string>>{{2, "x"}, {5, "y"}})
                         .partition_by(4);
  EXPECT_EQ(left.count() + right.count(), 5u);
  start_counting();
  EXPECT_THAT(left.subtract_by_key(right, 4).collect(),
              UnorderedElementsAre(Pair(1, 1), Pair(1, 3)));
  EXPECT_EQ(stages_since(), 1u);
}

}  // namespace
}  // namespace tenon
