// Operations over a shuffle (contract C26.4, C16.6), on a real local[2].
#include <random>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using IntPairs = std::vector<std::pair<int, int>>;

class PairsTest : public test::CountingTest {
 protected:
  // Negative, repeated and extreme keys.
  static IntPairs random_pairs(uint64_t seed, size_t n, int keys) {
    std::mt19937_64 random(seed);
    IntPairs pairs;
    for (size_t i = 0; i < n; ++i) {
      int key = static_cast<int>(random() % static_cast<uint64_t>(keys)) - keys / 2;
      if (random() % 50 == 0)
        key = random() % 2 == 0 ? std::numeric_limits<int>::min() : std::numeric_limits<int>::max();
      pairs.emplace_back(key, static_cast<int>(random() % 1000));
    }
    return pairs;
  }
  template <class K, class V>
  static std::map<K, V> by_key(const std::vector<std::pair<K, V>>& pairs) {
    std::map<K, V> map;
    for (const auto& [key, value] : pairs) {
      EXPECT_TRUE(map.emplace(key, value).second) << "key twice: " << key;
    }
    return map;
  }
  // In which partition each key lies.
  template <class V>
  static std::map<int, std::set<int>> places(const Rdd<std::pair<int, V>>& rdd) {
    std::map<int, std::set<int>> all;
    for (const auto& [key, partition] : rdd.map([](const auto& pair) {
                                             return std::pair(pair.first,
                                                              TaskContext::current()->partition());
                                           })
                                            .collect()) {
      all[key].insert(partition);
    }
    return all;
  }
};

TEST_F(PairsTest, T193_ReduceAndGroupByKeyAreExact) {
  const std::tuple<int, int, int, int> cases[] = {
      {0, 5, 3, 4}, {1, 1, 1, 1}, {5000, 7, 4, 3}, {5000, 3000, 3, 20}, {20000, 100000, 2, 1}};
  for (const auto& [n, keys, maps, reduces] : cases) {
    const auto pairs = random_pairs(static_cast<uint64_t>(n + keys), static_cast<size_t>(n), keys);
    std::map<int, int> sums;
    std::map<int, std::vector<int>> groups;
    for (const auto& [key, value] : pairs) {
      sums[key] += value;
      groups[key].push_back(value);
    }
    const auto rdd = context().parallelize(pairs, maps);
    const auto reduced = rdd.reduce_by_key(std::plus<>{}, reduces);
    EXPECT_EQ(reduced.partition_count(), reduces);
    EXPECT_EQ(by_key(reduced.collect()), sums);
    EXPECT_EQ(by_key(rdd.group_by_key(reduces).collect()), groups)
        << "values in the order of partitions and records";
    EXPECT_EQ(rdd.collect(), pairs) << "the source is not changed";
  }
}

TEST_F(PairsTest, StringKeysAndLargeValues) {
  const auto pairs = context().range(0, 3000, 1, 3).map([](int n) {
    return std::pair("key " + std::to_string(n % 100),
                     std::string(2000, static_cast<char>('a' + n % 26)));
  });
  const auto lengths = pairs.reduce_by_key(std::plus<>{}, 4).map_values([](const std::string& s) {
    return s.size();
  });
  for (const auto& [key, length] : lengths.collect()) {
    EXPECT_EQ(length, 30u * 2000) << key;
  }
  EXPECT_EQ(lengths.count(), 100u);
}

TEST_F(PairsTest, SameInputGivesTheSameOrder) {
  const auto pairs =
      context().parallelize(random_pairs(3, 5000, 500), 4).reduce_by_key(std::plus<>{}, 3);
  const auto again =
      context().parallelize(random_pairs(3, 5000, 500), 4).reduce_by_key(std::plus<>{}, 3);
  EXPECT_EQ(pairs.collect(), again.collect());
}

TEST_F(PairsTest, T193_JoinIsEveryPairOfValues) {
  const auto left = random_pairs(5, 300, 40), right = random_pairs(6, 200, 60);
  std::multiset<std::tuple<int, int, int>> expected;
  for (const auto& [k, v] : left) {
    for (const auto& [k2, w] : right) {
      if (k == k2) expected.insert({k, v, w});
    }
  }
  const auto a = context().parallelize(left, 3), b = context().parallelize(right, 2);
  for (const int partitions : {0, 1, 7}) {
    std::multiset<std::tuple<int, int, int>> rows;
    for (const auto& [k, both] : a.join(b, partitions).collect())
      rows.insert({k, both.first, both.second});
    EXPECT_EQ(rows, expected);
  }
  const auto empty = context().parallelize(IntPairs(), 2);
  EXPECT_THAT(a.join(empty).collect(), IsEmpty());
  EXPECT_THAT(empty.join(a).collect(), IsEmpty());
  EXPECT_THAT(empty.join(empty).collect(), IsEmpty());
  // A key with more matches than a batch holds, on both sides.
  const auto same = context().range(0, 2000).map([](int n) { return std::pair(1, n); });
  EXPECT_EQ(same.join(context().parallelize(IntPairs{{1, 1}, {2, 2}, {1, 3}})).count(), 4000u);
}

TEST_F(PairsTest, SortByKeyIsStableOverAllPartitions) {
  const std::tuple<int, int, int, int> cases[] = {
      {0, 5, 2, 3}, {1, 1, 1, 4}, {3000, 10, 4, 3}, {3000, 100000, 4, 5}, {500, 2, 3, 0}};
  for (const auto& [n, keys, maps, reduces] : cases) {
    auto pairs = random_pairs(static_cast<uint64_t>(n * 3 + keys), static_cast<size_t>(n), keys);
    const auto rdd = context().parallelize(pairs, maps);
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto sorted = rdd.sort_by_key(true, reduces);
    EXPECT_EQ(sorted.collect(), pairs);
    EXPECT_LE(sorted.partition_count(), std::max(reduces, maps));
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    EXPECT_EQ(rdd.sort_by_key(false, reduces).collect(), pairs);
  }
}

TEST_F(PairsTest, C16_6_RangesAreRoughlyEven) {
  const auto sorted =
      context().parallelize(random_pairs(9, 20'000, 1'000'000), 4).sort_by_key(true, 8);
  EXPECT_EQ(sorted.partition_count(), 8);
  const auto sizes = sorted
                         .map_partitions([](Records<std::pair<int, int>>& records) {
                           int n = 0;
                           for ([[maybe_unused]] const auto& record : records) ++n;
                           return std::vector{n};
                         })
                         .collect();
  for (const int size : sizes) {
    EXPECT_GT(size, 20'000 / 8 / 3);
    EXPECT_LT(size, 20'000 / 8 * 3);
  }
}

TEST_F(PairsTest, Distinct) {
  EXPECT_THAT(context()
                  .parallelize(std::vector<std::string>{"b", "a", "b", "", "a", ""}, 3)
                  .distinct()
                  .collect(),
              UnorderedElementsAre("a", "b", ""));
  EXPECT_EQ(context().range(0, 10'000).map([](int n) { return n % 321 - 100; }).distinct(4).count(),
            321u);
  EXPECT_THAT(context().parallelize(std::vector<double>{0.0, -0.0, 1.5}).distinct().collect(),
              UnorderedElementsAre(0.0, 1.5));
}

TEST_F(PairsTest, C16_6_PartitionByPutsEqualKeysTogether) {
  const auto rdd = context().parallelize(random_pairs(11, 3000, 200), 3);
  const auto spread = rdd.partition_by(5);
  EXPECT_EQ(spread.partition_count(), 5);
  auto expected = rdd.collect(), records = spread.collect();
  std::sort(expected.begin(), expected.end());
  std::sort(records.begin(), records.end());
  EXPECT_EQ(records, expected);
  std::set<int> used;
  for (const auto& [key, partitions] : places(spread)) {
    EXPECT_EQ(partitions.size(), 1u) << key;
    used.insert(partitions.begin(), partitions.end());
  }
  EXPECT_EQ(used.size(), 5u);
  for (const int n : {0, -3}) {
    EXPECT_THAT(test::caught([&] { static_cast<void>(rdd.partition_by(n)); }).text,
                HasSubstr("partition_by: the number of partitions must be above 0"));
  }
  EXPECT_EQ(test::caught([&] { static_cast<void>(rdd.reduce_by_key(std::plus<>{}, -1)); }).kind,
            ErrorKind::invalid_argument);
}

TEST_F(PairsTest, T194_S004_046_NoFurtherShuffleWhenPartitionedAlready) {
  const auto pairs = random_pairs(12, 1000, 100);
  std::map<int, int> sums;
  for (const auto& [key, value] : pairs) sums[key] += value;
  const auto spread = context().parallelize(pairs, 3).partition_by(4);
  start_counting();
  const auto reduced = spread.reduce_by_key(std::plus<>{});
  EXPECT_EQ(by_key(reduced.collect()), sums);
  EXPECT_EQ(stages_since(), 2u) << "the map side of partition_by and the result";
  EXPECT_EQ(reduced.partition_count(), 4);

  // filter and map_values keep the partitioner, map drops it.
  start_counting();
  const auto kept =
      reduced.filter([](const auto& p) { return p.second > 0; }).map_values([](int v) {
        return v + 1;
      });
  EXPECT_EQ(kept.group_by_key().count(), kept.count());
  EXPECT_EQ(stages_since(), 2u) << "partition_by's map side is skipped, nothing else shuffles";
  start_counting();
  EXPECT_EQ(kept.map([](const auto& p) { return p; }).reduce_by_key(std::plus<>{}).count(),
            kept.count());
  EXPECT_EQ(stages_since(), 3u) << "map gave the partitioner up";

  // Another number of partitions shuffles.
  start_counting();
  EXPECT_EQ(by_key(spread.reduce_by_key(std::plus<>{}, 6).collect()), sums);
  EXPECT_EQ(stages_since(), 2u);
}

TEST_F(PairsTest, CoPartitionedJoinHasNoShuffle) {
  const auto left = context().parallelize(random_pairs(13, 500, 50), 2).partition_by(3);
  const auto right = context().parallelize(random_pairs(14, 500, 50), 2).partition_by(3);
  const uint64_t expected = context()
                                .parallelize(left.collect(), 2)
                                .join(context().parallelize(right.collect(), 2))
                                .count();
  start_counting();
  const auto joined = left.join(right);
  EXPECT_EQ(joined.partition_count(), 3);
  EXPECT_EQ(joined.count(), expected);
  EXPECT_EQ(stages_since(), 1u) << "both sides were shuffled before";
  // One side only is partitioned that way: the other one is shuffled.
  start_counting();
  EXPECT_EQ(left.join(right.map([](const auto& p) { return p; })).count(), expected);
  EXPECT_EQ(stages_since(), 2u);
}

TEST_F(PairsTest, DefaultNumberOfPartitions) {
  const auto three = context().parallelize(IntPairs{{1, 1}}, 3),
             five = context().parallelize(IntPairs{{1, 1}}, 5);
  EXPECT_EQ(three.reduce_by_key(std::plus<>{}).partition_count(), 3);
  EXPECT_EQ(three.join(five).partition_count(), 5) << "the largest parent";
  EXPECT_EQ(three.join(five.partition_by(2)).partition_count(), 2)
      << "the parent with a partitioner";
  EXPECT_EQ(three.partition_by(4).join(five.partition_by(2)).partition_count(), 4)
      << "the largest of those";
}

TEST_F(PairsTest, DefaultNumberOfPartitionsBySetting) {
  Conf settings = conf();
  start(settings.set("tenon.default.parallelism", "7"));
  const auto three = context().parallelize(IntPairs{{1, 1}}, 3);
  EXPECT_EQ(three.reduce_by_key(std::plus<>{}).partition_count(), 7);
  EXPECT_EQ(context().range(0, 100).partition_count(), 7);
  EXPECT_EQ(context().default_parallelism(), 7);
}

}  // namespace
}  // namespace tenon
