// How keys are spread over partitions, and what is not shuffled again (contract C26.4, C16.6).
#include <random>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using IntPairs = std::vector<std::pair<int, int>>;
using ByInt = Partitioner<int>;

// Remainders, from the first partition on; a key that is negative has a negative one.
struct Remainder {
  int by = 1;
  TENON_FIELDS(by)
  int32_t operator()(int key) const { return key % by; }
};
// The same for every key.
struct Floored {
  int by = 1;
  TENON_FIELDS(by)
  int32_t operator()(int key) const { return (key % by + by) % by; }
};
struct FirstLetter {
  int32_t operator()(const std::string& key) const { return key.empty() ? 0 : key[0] - 'a'; }
};

IntPairs random_pairs(uint64_t seed, size_t n, int keys) {
  std::mt19937_64 random(seed);
  IntPairs pairs;
  for (size_t i = 0; i < n; ++i) {
    pairs.emplace_back(static_cast<int>(random() % static_cast<uint64_t>(keys)) - keys / 2,
                       static_cast<int>(random() % 1000));
  }
  return pairs;
}

class PartitionerTest : public test::CountingTest {
 protected:
  // Each partition's records.
  template <class T>
  static std::vector<std::vector<T>> parts(const Rdd<T>& rdd) {
    return rdd.glom().collect();
  }
  // Where the pairs must be, in the order of the input.
  template <class Place>
  static std::vector<IntPairs> placed(const IntPairs& pairs, int n, const Place& place) {
    std::vector<IntPairs> parts(static_cast<size_t>(n));
    for (const auto& pair : pairs) parts.at(static_cast<size_t>(place(pair.first))).push_back(pair);
    return parts;
  }
};

TEST_F(PartitionerTest, ValuesAreEqualWhenTheySpreadAlike) {
  EXPECT_EQ(ByInt::hash(4), ByInt(4));
  EXPECT_NE(ByInt::hash(4), ByInt::hash(5));
  EXPECT_EQ(ByInt::range({1, 5}), ByInt::range({1, 5}));
  EXPECT_NE(ByInt::range({1, 5}), ByInt::range({1, 6}));
  EXPECT_NE(ByInt::range({1}), ByInt::range({1}, false));
  EXPECT_NE(ByInt::range({1, 2, 3}), ByInt::hash(4));
  EXPECT_EQ(ByInt::custom(Floored{3}, 3), ByInt::custom(Floored{3}, 3));
  EXPECT_NE(ByInt::custom(Floored{3}, 3), ByInt::custom(Floored{3}, 4));
  EXPECT_NE(ByInt::custom(Floored{3}, 3), ByInt::custom(Floored{2}, 3));
  EXPECT_NE(ByInt::custom(Floored{3}, 3), ByInt::custom(Remainder{3}, 3));
  EXPECT_EQ(ByInt().partitions(), 0);
}

TEST_F(PartitionerTest, OfSaysThePartition) {
  const auto ranges = ByInt::range({-5, 0, 7});
  EXPECT_EQ(ranges.partitions(), 4);
  for (const auto& [key, partition] :
       IntPairs{{-100, 0}, {-5, 0}, {-4, 1}, {0, 1}, {1, 2}, {7, 2}, {8, 3}}) {
    EXPECT_EQ(ranges.of(key), partition) << key;
  }
  const auto falling = ByInt::range({7, 0}, false);
  for (const auto& [key, partition] : IntPairs{{8, 0}, {7, 0}, {6, 1}, {0, 1}, {-1, 2}}) {
    EXPECT_EQ(falling.of(key), partition) << key;
  }
  EXPECT_EQ(Partitioner<std::string>::range({"k"}).of("l"), 1);
  EXPECT_EQ(ByInt::custom(Floored{4}, 4).of(-1), 3);
  for (int key = -50; key < 50; ++key) {
    EXPECT_GE(ByInt::hash(3).of(key), 0);
    EXPECT_LT(ByInt::hash(3).of(key), 3);
  }
}

TEST_F(PartitionerTest, WrongArgumentsAreNamed) {
  const auto text = [](const auto& act) {
    const test::Caught caught = test::caught(act);
    EXPECT_EQ(caught.kind, ErrorKind::invalid_argument);
    return caught.text;
  };
  EXPECT_THAT(text([] { static_cast<void>(ByInt::hash(0)); }), HasSubstr("Partitioner::hash"));
  EXPECT_THAT(text([] { static_cast<void>(ByInt::custom(Floored{1}, -1)); }), HasSubstr("not -1"));
  EXPECT_THAT(text([] { static_cast<void>(ByInt::range({3, 3})); }),
              HasSubstr("Partitioner::range: each bound must be above the one before"));
  EXPECT_THAT(text([] { static_cast<void>(ByInt::range({3, 4}, false)); }), HasSubstr("below"));
  EXPECT_THAT(text([] { static_cast<void>(ByInt().of(3)); }), HasSubstr("Partitioner::of"));
}

TEST_F(PartitionerTest, C16_6_PartitionByPutsEachKeyWhereThePartitionerSays) {
  const auto pairs = random_pairs(1, 700, 90);
  const auto rdd = context().parallelize(pairs, 4);
  for (const ByInt& partitioner : {ByInt::hash(5), ByInt(1), ByInt::hash(300),
                                   ByInt::range({-20, -1, 30}), ByInt::range({30, -1}, false),
                                   ByInt::custom(Floored{7}, 7), ByInt::custom(Floored{3}, 9)}) {
    const auto spread = rdd.partition_by(partitioner);
    EXPECT_EQ(parts(spread), placed(pairs, partitioner.partitions(),
                                    [&](int key) { return partitioner.of(key); }));
    EXPECT_EQ(spread.partitioner(), partitioner);
  }
  const auto empty =
      context().parallelize(IntPairs(), 2).partition_by(ByInt::custom(Floored{3}, 3));
  EXPECT_EQ(empty.partition_count(), 3);
  EXPECT_THAT(empty.collect(), IsEmpty());
}

TEST_F(PartitionerTest, TextAndViewsAreSpreadAlike) {
  const std::string file = folder().write("text", "cab bad add\nb a c\n");
  const auto by_letter = Partitioner<std::string>::custom(FirstLetter{}, 3);
  const auto by_range = Partitioner<std::string>::range({"az", "bz"});
  const auto pairs = context()
                         .text_file<std::string_view>(file, 2)
                         .flat_map([](std::string_view line) { return tenon::words(line); })
                         .map([](std::string_view word) { return std::pair(word, 1); });
  for (const auto& partitioner : {by_letter, by_range}) {
    auto all = parts(pairs.partition_by(partitioner).keys());
    for (auto& words : all) std::sort(words.begin(), words.end());
    EXPECT_THAT(all, ElementsAre(ElementsAre("a", "add"), ElementsAre("b", "bad"),
                                 ElementsAre("c", "cab")));
  }
}

TEST_F(PartitionerTest, T194_EveryOperationByKeyTakesOne) {
  const auto pairs = random_pairs(2, 600, 50);
  std::map<int, int> sums;
  for (const auto& [key, value] : pairs) sums[key] += value;
  const auto rdd = context().parallelize(pairs, 3);
  const auto by = ByInt::custom(Floored{4}, 4);
  const auto check = [&](const auto& result) {
    EXPECT_EQ(result.partitioner(), by);
    EXPECT_EQ(result.partition_count(), 4);
    std::set<int> keys;
    const auto all = parts(result.keys());
    for (size_t p = 0; p < all.size(); ++p) {
      for (const int key : all[p]) {
        EXPECT_EQ(by.of(key), static_cast<int>(p));
        keys.insert(key);
      }
    }
    return keys.size();
  };
  const auto reduced = rdd.reduce_by_key(std::plus<>{}, by);
  EXPECT_EQ(check(reduced), sums.size());
  const auto collected = reduced.collect();
  EXPECT_EQ((std::map<int, int>(collected.begin(), collected.end())), sums);
  EXPECT_EQ(check(rdd.fold_by_key(0, std::plus<>{}, by)), sums.size());
  EXPECT_EQ(check(rdd.aggregate_by_key(0, std::plus<>{}, std::plus<>{}, by)), sums.size());
  EXPECT_EQ(check(rdd.combine_by_key([](int v) { return v; }, std::plus<>{}, std::plus<>{}, by)),
            sums.size());
  EXPECT_EQ(check(rdd.group_by_key(by)), sums.size());
  EXPECT_EQ(check(rdd.join(reduced, by)), sums.size());
  EXPECT_EQ(check(rdd.left_outer_join(reduced, by)), sums.size());
  EXPECT_EQ(check(rdd.right_outer_join(reduced, by)), sums.size());
  EXPECT_EQ(check(rdd.full_outer_join(reduced, by)), sums.size());
  EXPECT_EQ(check(rdd.cogroup(reduced, by)), sums.size());
  EXPECT_EQ(check(rdd.cogroup(reduced, rdd, by)), sums.size());
  EXPECT_EQ(check(rdd.cogroup(reduced, rdd, rdd, by)), sums.size());
  EXPECT_EQ(check(rdd.subtract_by_key(context().parallelize(IntPairs()), by)), sums.size());
}

TEST_F(PartitionerTest, T194_S004_046_EqualPartitionersDoNotShuffle) {
  const auto pairs = random_pairs(3, 500, 60);
  const auto rdd = context().parallelize(pairs, 3);
  for (const ByInt& by :
       {ByInt::hash(4), ByInt::range({-3, 8, 20}), ByInt::custom(Floored{4}, 4)}) {
    const auto spread = rdd.partition_by(by);
    static_cast<void>(spread.count());
    start_counting();
    EXPECT_EQ(spread.partition_by(by).collect(), spread.collect());
    EXPECT_EQ(spread.reduce_by_key(std::plus<>{}, by).count(),
              spread.reduce_by_key(std::plus<>{}).count());
    EXPECT_EQ(spread.group_by_key().partitioner(), by);
    EXPECT_EQ(stages_since(), 4u) << "four jobs of a stage each";
    start_counting();
    EXPECT_EQ(spread.partition_by(by.partitions() + 1).count(), pairs.size());
    EXPECT_EQ(stages_since(), 2u) << "another partitioner shuffles";
  }
  // As many partitions are not enough.
  const auto spread = rdd.partition_by(ByInt::custom(Floored{4}, 4));
  static_cast<void>(spread.count());
  start_counting();
  EXPECT_EQ(spread.partition_by(4).count(), pairs.size());
  EXPECT_EQ(stages_since(), 2u);
}

TEST_F(PartitionerTest, C26_4_TheResultOfAJoinHasTheLargestParentsPartitioner) {
  const auto left = random_pairs(4, 300, 40), right = random_pairs(5, 200, 40);
  const auto a = context().parallelize(left, 9), b = context().parallelize(right, 2);
  const uint64_t expected = a.join(b).count();
  const auto by = ByInt::custom(Floored{3}, 3);
  const auto three = b.partition_by(by), five = a.partition_by(5);
  static_cast<void>(three.count());
  static_cast<void>(five.count());
  EXPECT_EQ(a.join(three).partitioner(), by) << "the one that has one";
  EXPECT_EQ(three.join(five).partitioner(), ByInt::hash(5)) << "the larger one";
  EXPECT_EQ(five.left_outer_join(three).partitioner(), ByInt::hash(5));
  EXPECT_EQ(three.cogroup(a, five).partitioner(), ByInt::hash(5));
  start_counting();
  EXPECT_EQ(a.join(three).count(), expected);
  EXPECT_EQ(stages_since(), 2u) << "the other side is shuffled by it";
  start_counting();
  EXPECT_EQ(three.join(a.partition_by(by)).count(), expected);
  EXPECT_EQ(stages_since(), 2u) << "partition_by's map side, then one stage";
  EXPECT_EQ(a.join(b).partitioner(), ByInt::hash(9)) << "as many as the largest has";
}

TEST_F(PartitionerTest, C26_4_WhatKeepsThePartitioner) {
  const auto by = ByInt::range({0});
  const auto spread = context().parallelize(random_pairs(6, 100, 20), 3).partition_by(by);
  EXPECT_EQ(spread.map_values([](int v) { return v + 1; }).partitioner(), by);
  EXPECT_EQ(spread.filter([](const auto& p) { return p.second > 5; }).partitioner(), by);
  EXPECT_EQ(spread.flat_map_values([](int v) { return std::vector{v, v}; }).partitioner(), by);
  EXPECT_EQ(spread.sample(false, 0.5).partitioner(), by);
  EXPECT_EQ(spread.map([](const auto& p) { return p; }).partitioner(), std::nullopt);
  EXPECT_EQ(spread.coalesce(1).partitioner(), std::nullopt);
  EXPECT_EQ(spread.union_with(spread).partitioner(), std::nullopt);
  EXPECT_EQ(spread.repartition(2).partitioner(), std::nullopt);
}

TEST_F(PartitionerTest, T195_LookupRunsThePartitionOfTheKey) {
  const auto pairs = random_pairs(7, 400, 30);
  for (const ByInt& by :
       {ByInt::hash(4), ByInt::range({-3, 8, 20}), ByInt::custom(Floored{4}, 4)}) {
    const auto spread = context().parallelize(pairs, 3).partition_by(by);
    static_cast<void>(spread.count());
    for (const int key : {-15, -1, 0, 3, 1000}) {
      std::vector<int> expected;
      for (const auto& [k, value] : pairs) {
        if (k == key) expected.push_back(value);
      }
      start_counting();
      EXPECT_EQ(spread.lookup(key), expected);
      EXPECT_THAT(tasks_per_job_since(), ElementsAre(1));
    }
  }
}

TEST_F(PartitionerTest, T195_AResultThatIsNoPartitionIsAnInvalidArgument) {
  const auto rdd = context().parallelize(IntPairs{{0, 1}, {5, 2}, {-4, 3}}, 1);
  const auto by = ByInt::custom(Remainder{3}, 3);
  const std::string text =
      "the partitioner put a key into partition -1, but there are 3 partitions, 0 to 2";
  const auto spread = rdd.filter([](const auto& p) { return p.first >= 0; }).partition_by(by);
  const auto asked = test::caught([&] { static_cast<void>(spread.lookup(-4)); });
  EXPECT_EQ(asked.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(asked.text, HasSubstr(text));
  EXPECT_THAT(spread.lookup(5), ElementsAre(2));

  for (const auto& act : std::vector<std::function<void()>>{
           [&] { static_cast<void>(rdd.partition_by(by).count()); },
           [&] { static_cast<void>(rdd.reduce_by_key(std::plus<>{}, by).count()); },
           [&] { static_cast<void>(rdd.join(rdd, by).count()); }}) {
    const auto failed = test::caught(act);
    EXPECT_EQ(failed.kind, ErrorKind::job_failed);
    EXPECT_THAT(failed.text, HasSubstr(text));
  }
  const auto too_large = test::caught(
      [&] { static_cast<void>(rdd.partition_by(ByInt::custom(Floored{6}, 2)).count()); });
  EXPECT_THAT(too_large.text, HasSubstr("into partition 5, but there are 2 partitions, 0 to 1"));
  expect_usable();
}

TEST_F(PartitionerTest, T196_RangesOfASampleAreTheOnesOfTheSort) {
  const auto pairs = random_pairs(8, 4000, 100'000);
  const auto rdd = context().parallelize(pairs, 4);
  const auto by = rdd.range_partitioner(true, 5);
  EXPECT_EQ(by.partitions(), 5);
  const auto sorted = rdd.sort_by_key(true, 5);
  EXPECT_EQ(sorted.partitioner(), by);
  for (const auto& part : parts(rdd.partition_by(by))) EXPECT_GT(part.size(), 4000u / 5 / 3);
  // What is sorted already is not shuffled for another sort over the same ranges.
  const auto again = sorted.map_values([](int v) { return v; }).partition_by(by);
  static_cast<void>(sorted.count());
  start_counting();
  EXPECT_EQ(again.collect(), sorted.collect());
  EXPECT_EQ(stages_since(), 2u) << "two jobs of one stage";
  EXPECT_EQ(rdd.range_partitioner(true, 1), ByInt::range({}));
  EXPECT_EQ(context().parallelize(IntPairs(), 2).range_partitioner().partitions(), 1);
  EXPECT_EQ(test::caught([&] { static_cast<void>(rdd.range_partitioner(true, -1)); }).text,
            "range_partitioner: the number of partitions must be above 0, not -1");
}

}  // namespace
}  // namespace tenon
