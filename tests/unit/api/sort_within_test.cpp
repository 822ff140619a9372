// Partitions sorted by key while they are read (contract C16.6).
#include <random>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using ::testing::HasSubstr;

using IntPairs = std::vector<std::pair<int, int>>;
using ByInt = Partitioner<int>;

struct Even {
  int32_t operator()(int key) const { return key % 2 == 0 ? 0 : 1; }
};

class SortWithinTest : public test::CountingTest {};

TEST_F(SortWithinTest, S004_046_EachPartitionIsSortedAndStable) {
  std::mt19937_64 random(1);
  for (const size_t n : {size_t{0}, size_t{1}, size_t{3000}}) {
    IntPairs pairs;
    for (size_t i = 0; i < n; ++i) {
      pairs.emplace_back(static_cast<int>(random() % 200) - 100, static_cast<int>(i));
    }
    const auto rdd = context().parallelize(pairs, 4);
    for (const ByInt& by : {ByInt(1), ByInt(6), ByInt::range({-50, 3}), ByInt::custom(Even{}, 2)}) {
      std::vector<IntPairs> expected(static_cast<size_t>(by.partitions()));
      for (const auto& pair : pairs) {
        expected[static_cast<size_t>(by.of(pair.first))].push_back(pair);
      }
      for (auto& part : expected) {
        std::stable_sort(part.begin(), part.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
      }
      const auto sorted = rdd.repartition_and_sort_within_partitions(by);
      EXPECT_EQ(sorted.glom().collect(), expected);
      EXPECT_EQ(sorted.partitioner(), by);
    }
  }
}

TEST_F(SortWithinTest, S004_046_NoShuffleWhenPartitionedAlready) {
  const auto spread = context()
                          .parallelize(IntPairs{{3, 1}, {-1, 2}, {1, 3}, {2, 4}}, 2)
                          .partition_by(ByInt::custom(Even{}, 2));
  static_cast<void>(spread.count());
  start_counting();
  EXPECT_EQ(spread.repartition_and_sort_within_partitions(ByInt::custom(Even{}, 2)).collect(),
            (IntPairs{{2, 4}, {-1, 2}, {1, 3}, {3, 1}}));
  EXPECT_EQ(stages_since(), 1u);
  EXPECT_THAT(test::caught([&] {
                static_cast<void>(spread.repartition_and_sort_within_partitions(0));
              }).text,
              HasSubstr("repartition_and_sort_within_partitions: the number of partitions"));
}

}  // namespace
}  // namespace tenon
