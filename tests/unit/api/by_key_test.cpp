// Operations by key, each beside an answer made without Tenon (contract C26.4).
#include <random>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using IntPairs = std::vector<std::pair<int, int>>;

// A total whose copies share what they hold.
struct Shared {
  std::shared_ptr<std::vector<int>> held = std::make_shared<std::vector<int>>();
};
struct AddShared {
  Shared operator()(Shared total, int value) const {
    total.held->push_back(value);
    return total;
  }
};
struct MergeShared {
  Shared operator()(Shared a, const Shared& b) const {
    a.held->insert(a.held->end(), b.held->begin(), b.held->end());
    return a;
  }
};
// State that travels.
struct Weigh {
  int by = 1;
  TENON_FIELDS(by)
  std::pair<int64_t, int> operator()(int value) const { return {int64_t{by} * value, 1}; }
  std::pair<int64_t, int> operator()(std::pair<int64_t, int> total, int value) const {
    return {total.first + int64_t{by} * value, total.second + 1};
  }
};

}  // namespace

template <>
struct Codec<Shared> {
  static void write(ByteWriter& out, const Shared& shared) {
    Codec<std::vector<int>>::write(out, *shared.held);
  }
  static Shared read(ByteReader& in) {
    return {std::make_shared<std::vector<int>>(Codec<std::vector<int>>::read(in))};
  }
};

namespace {

// Negative, repeated and extreme keys.
IntPairs random_pairs(uint64_t seed, size_t n, int keys) {
  std::mt19937_64 random(seed);
  IntPairs pairs;
  for (size_t i = 0; i < n; ++i) {
    int key = static_cast<int>(random() % static_cast<uint64_t>(keys)) - keys / 2;
    if (random() % 50 == 0)
      key = random() % 2 == 0 ? std::numeric_limits<int>::min() : std::numeric_limits<int>::max();
    pairs.emplace_back(key, static_cast<int>(random() % 1000) - 500);
  }
  return pairs;
}

// Sizes, numbers of keys, partitions before and after.
struct Shape {
  size_t n;
  int keys, maps, reduces;
};
const Shape kShapes[] = {
    {0, 5, 3, 4}, {1, 1, 1, 1}, {3000, 7, 4, 3}, {3000, 2000, 3, 20}, {10, 4, 30, 50}};

template <class Rows>
auto sorted(Rows rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}
template <class K, class V>
std::map<K, V> by_key(std::vector<std::pair<K, V>> pairs) {
  std::map<K, V> map;
  for (auto& [key, value] : pairs) {
    EXPECT_TRUE(map.emplace(key, std::move(value)).second) << "key twice";
  }
  return map;
}

class ByKeyTest : public test::CountingTest {
 protected:
  Rdd<std::pair<int, int>> pairs(const Shape& shape, uint64_t seed) {
    return context().parallelize(random_pairs(seed, shape.n, shape.keys), shape.maps);
  }
};

// ------------------------------------------------------------------------------- aggregates

TEST_F(ByKeyTest, T193_S004_043_S004_044_CombineByKeyIsExact) {
  for (const Shape& shape : kShapes) {
    const auto source = random_pairs(shape.n + 1, shape.n, shape.keys);
    std::map<int, std::pair<int64_t, int>> expected;
    std::map<int, int> sums;
    for (const auto& [key, value] : source) {
      auto& total = expected[key];
      total = {total.first + 3 * value, total.second + 1};
      sums[key] += value;
    }
    const auto rdd = context().parallelize(source, shape.maps);
    const auto combined = rdd.combine_by_key(
        Weigh{3}, Weigh{3},
        [](const auto& a, const auto& b) {
          return std::pair(a.first + b.first, a.second + b.second);
        },
        shape.reduces);
    EXPECT_EQ(combined.partition_count(), shape.reduces);
    EXPECT_EQ(by_key(combined.collect()), expected);
    EXPECT_EQ(rdd.collect(), source) << "the source is not changed";
    EXPECT_EQ(by_key(rdd.reduce_by_key(std::plus<>{}, shape.reduces).collect()), sums);
  }
}

TEST_F(ByKeyTest, T193_AggregateByKeyIsExact) {
  for (const Shape& shape : kShapes) {
    const auto source = random_pairs(shape.n + 2, shape.n, shape.keys);
    std::map<int, std::set<int>> expected;
    for (const auto& [key, value] : source) expected[key].insert(value);
    const auto sets = context()
                          .parallelize(source, shape.maps)
                          .aggregate_by_key(
                              std::set<int>(),
                              [](std::set<int> all, int value) {
                                all.insert(value);
                                return all;
                              },
                              [](std::set<int> a, const std::set<int>& b) {
                                a.insert(b.begin(), b.end());
                                return a;
                              },
                              shape.reduces);
    EXPECT_EQ(by_key(sets.collect()), expected);
  }
}

TEST_F(ByKeyTest, T193_ZeroCountsOncePerKeyAndPartition) {
  const auto rdd = context().parallelize(IntPairs{{1, 10}, {-1, 5}, {1, 20}, {1, 30}}, 2);
  EXPECT_EQ(by_key(rdd.fold_by_key(1000, std::plus<>{}, 3).collect()),
            (std::map<int, int>{{-1, 1005}, {1, 2060}}));
  const auto spread = rdd.partition_by(3);
  EXPECT_EQ(by_key(spread.fold_by_key(1000, std::plus<>{}).collect()),
            (std::map<int, int>{{-1, 1005}, {1, 1060}}))
      << "one partition, one zero";
}

TEST_F(ByKeyTest, T193_FoldByKeyIsExact) {
  for (const Shape& shape : kShapes) {
    const auto source = random_pairs(shape.n + 3, shape.n, shape.keys);
    std::map<int, int> most;
    for (const auto& [key, value] : source) {
      most.emplace(key, std::numeric_limits<int>::min());
      most[key] = std::max(most[key], value);
    }
    EXPECT_EQ(by_key(context()
                         .parallelize(source, shape.maps)
                         .fold_by_key(
                             std::numeric_limits<int>::min(),
                             [](int a, int b) { return std::max(a, b); }, shape.reduces)
                         .collect()),
              most);
  }
}

TEST_F(ByKeyTest, T193_AMutableZeroIsNeverSharedBetweenKeys) {
  const auto source = random_pairs(4, 500, 20);
  std::map<int, std::vector<int>> expected;
  for (const auto& [key, value] : source) expected[key].push_back(value);
  const auto rdd = context().parallelize(source, 3);
  const auto check = [&](const auto& totals) {
    const auto lists = totals.map_values([](const Shared& total) { return *total.held; });
    auto got = by_key(lists.collect());
    for (auto& [key, values] : got) std::sort(values.begin(), values.end());
    auto wanted = expected;
    for (auto& [key, values] : wanted) std::sort(values.begin(), values.end());
    EXPECT_EQ(got, wanted);
  };
  const Shared zero;
  check(rdd.aggregate_by_key(zero, AddShared{}, MergeShared{}, 4));
  check(rdd.partition_by(4).aggregate_by_key(zero, AddShared{}, MergeShared{}));
  EXPECT_THAT(*zero.held, IsEmpty()) << "nor with the program";
}

TEST_F(ByKeyTest, S004_044_ViewsBecomeOwnedBeforeTheyAreCombined) {
  const auto words = context()
                         .text_file<std::string_view>(folder().write("text", "b a\na c b\n\nb\n"))
                         .flat_map([](std::string_view line) { return tenon::words(line); })
                         .map([](std::string_view word) { return std::pair(word, word); });
  EXPECT_EQ(by_key(words
                       .combine_by_key([](const std::string& word) { return word + "!"; },
                                       [](const std::string& all, const std::string& word) {
                                         return all + word;
                                       },
                                       std::plus<>{}, 1)
                       .map_values([](const std::string& all) { return all.size(); })
                       .collect())
                .size(),
            3u);
  EXPECT_EQ(by_key(words.fold_by_key("", std::plus<>{}).collect()).at("b"), "bbb");
}

TEST_F(ByKeyTest, T194_AggregatesOfWhatIsPartitionedAlreadyDoNotShuffle) {
  const auto source = random_pairs(5, 1000, 100);
  const auto spread = context().parallelize(source, 3).partition_by(4);
  const auto summed = spread.aggregate_by_key(
      int64_t{0}, [](int64_t total, int value) { return total + value; }, std::plus<>{});
  start_counting();
  int64_t total = 0;
  for (const auto& [key, sum] : summed.collect()) total += sum;
  EXPECT_EQ(stages_since(), 2u) << "the map side of partition_by and the result";
  EXPECT_EQ(summed.partition_count(), 4);
  int64_t expected = 0;
  for (const auto& [key, value] : source) expected += value;
  EXPECT_EQ(total, expected);
  EXPECT_EQ(test::caught([&] { static_cast<void>(spread.fold_by_key(0, std::plus<>{}, -2)); }).text,
            "fold_by_key: the number of partitions must be above 0, not -2");
}

// ------------------------------------------------------------------------------- joins

using Ints = std::vector<int>;
using Maybe = std::optional<int>;

// The keys' values of each side.
using Groups = std::map<int, std::pair<Ints, Ints>>;
Groups groups(const IntPairs& left, const IntPairs& right) {
  Groups all;
  for (const auto& [key, value] : left) all[key].first.push_back(value);
  for (const auto& [key, value] : right) all[key].second.push_back(value);
  return all;
}
// What a full outer join has; the other joins leave some of it out.
std::vector<std::tuple<int, Maybe, Maybe>> full_join(const IntPairs& left, const IntPairs& right) {
  std::vector<std::tuple<int, Maybe, Maybe>> rows;
  for (const auto& [key, sides] : groups(left, right)) {
    const auto& [a, b] = sides;
    for (const int v : a) {
      for (const int w : b) rows.emplace_back(key, v, w);
      if (b.empty()) rows.emplace_back(key, v, std::nullopt);
    }
    if (!a.empty()) continue;
    for (const int w : b) rows.emplace_back(key, std::nullopt, w);
  }
  return sorted(rows);
}
template <class V, class W>
std::vector<std::tuple<int, Maybe, Maybe>> rows_of(
    const std::vector<std::pair<int, std::pair<V, W>>>& joined) {
  std::vector<std::tuple<int, Maybe, Maybe>> rows;
  for (const auto& [key, both] : joined) rows.emplace_back(key, both.first, both.second);
  return sorted(rows);
}

struct Sides {
  size_t left, right;
  int keys, partitions;
};
const Sides kSides[] = {{0, 0, 5, 3},      {40, 0, 10, 2},      {0, 40, 10, 2},
                        {300, 200, 60, 0}, {500, 500, 900, 25}, {2000, 3, 2, 1}};

TEST_F(ByKeyTest, T193_JoinsOfAllKindsAreExact) {
  for (const Sides& sides : kSides) {
    const auto left = random_pairs(sides.left + 21, sides.left, sides.keys);
    const auto right = random_pairs(sides.right + 22, sides.right, sides.keys + 7);
    const auto a = context().parallelize(left, 3), b = context().parallelize(right, 2);
    const auto all = full_join(left, right);
    auto expected = all;
    EXPECT_EQ(rows_of(a.full_outer_join(b, sides.partitions).collect()), expected);
    std::erase_if(expected, [](const auto& row) { return !std::get<1>(row); });
    EXPECT_EQ(rows_of(a.left_outer_join(b, sides.partitions).collect()), expected);
    std::erase_if(expected, [](const auto& row) { return !std::get<2>(row); });
    EXPECT_EQ(rows_of(a.join(b, sides.partitions).collect()), expected);
    expected = all;
    std::erase_if(expected, [](const auto& row) { return !std::get<2>(row); });
    EXPECT_EQ(rows_of(a.right_outer_join(b, sides.partitions).collect()), expected);
  }
}

TEST_F(ByKeyTest, T193_AKeyMayHaveMoreMatchesThanABatchHolds) {
  const auto many = context().range(0, 1500).map([](int n) { return std::pair(-1, n); });
  const auto few = context().parallelize(IntPairs{{-1, 1}, {2, 2}, {-1, 3}});
  EXPECT_EQ(many.full_outer_join(few, 2).count(), 3001u);
  EXPECT_EQ(few.full_outer_join(many, 2).count(), 3001u);
  EXPECT_EQ(many.left_outer_join(few.filter([](const auto& p) { return p.first > 0; })).count(),
            1500u);
}

TEST_F(ByKeyTest, JoinsOfTextAndFlags) {
  const std::vector<std::pair<std::string, bool>> left{{"a", true}, {"b", false}, {"a", false}};
  const std::vector<std::pair<std::string, std::string>> right{{"a", "x"}, {"c", "y"}};
  const auto joined = context().parallelize(left, 2).full_outer_join(context().parallelize(right));
  using Row = std::pair<std::string, std::pair<std::optional<bool>, std::optional<std::string>>>;
  EXPECT_THAT(joined.collect(),
              ::testing::UnorderedElementsAre(Row{"a", {true, "x"}}, Row{"a", {false, "x"}},
                                              Row{"b", {false, std::nullopt}},
                                              Row{"c", {std::nullopt, "y"}}));
}

TEST_F(ByKeyTest, T193_CogroupOfTwoToFourSidesIsExact) {
  for (const Sides& sides : kSides) {
    const auto left = random_pairs(sides.left + 31, sides.left, sides.keys);
    const auto right = random_pairs(sides.right + 32, sides.right, sides.keys + 7);
    std::map<int, std::tuple<Ints, Ints>> two;
    std::map<int, std::tuple<Ints, Ints, std::vector<std::string>>> three;
    std::map<int, std::tuple<Ints, Ints, std::vector<std::string>, Ints>> four;
    for (const auto& [key, lists] : groups(left, right)) {
      two[key] = {lists.first, lists.second};
      std::vector<std::string> texts;
      for (const int w : lists.second) texts.push_back(std::to_string(w));
      three[key] = {lists.first, lists.second, texts};
      four[key] = {lists.first, lists.second, texts, lists.first};
    }
    const auto a = context().parallelize(left, 3), b = context().parallelize(right, 2);
    const auto c = b.map_values([](int w) { return std::to_string(w); });
    EXPECT_EQ(by_key(a.cogroup(b, sides.partitions).collect()), two);
    EXPECT_EQ(by_key(a.cogroup(b, c, sides.partitions).collect()), three);
    EXPECT_EQ(by_key(a.cogroup(b, c, a, sides.partitions).collect()), four);
  }
}

TEST_F(ByKeyTest, C26_4_CoPartitionedSidesAreNotShuffledWhateverTheKind) {
  const auto left = random_pairs(41, 400, 50), right = random_pairs(42, 300, 60);
  const auto a = context().parallelize(left, 2).partition_by(3);
  const auto b = context().parallelize(right, 2).partition_by(3);
  static_cast<void>(a.count());
  static_cast<void>(b.count());
  const auto all = full_join(left, right);
  start_counting();
  EXPECT_EQ(rows_of(a.full_outer_join(b).collect()), all);
  EXPECT_EQ(stages_since(), 1u);
  start_counting();
  EXPECT_EQ(a.left_outer_join(b).partition_count(), 3);
  EXPECT_EQ(a.left_outer_join(b).count(),
            static_cast<uint64_t>(std::count_if(all.begin(), all.end(), [](const auto& row) {
              return std::get<1>(row).has_value();
            })));
  EXPECT_EQ(a.right_outer_join(b).count(),
            static_cast<uint64_t>(std::count_if(all.begin(), all.end(), [](const auto& row) {
              return std::get<2>(row).has_value();
            })));
  EXPECT_EQ(stages_since(), 2u) << "two jobs of one stage";
  start_counting();
  EXPECT_EQ(a.cogroup(b, a).count(), groups(left, right).size());
  EXPECT_EQ(stages_since(), 1u);
  start_counting();
  const auto loose = b.map([](const auto& pair) { return pair; });
  EXPECT_EQ(a.cogroup(loose).count(), groups(left, right).size());
  EXPECT_EQ(stages_since(), 2u) << "the side without a partitioner is shuffled";
}

}  // namespace
}  // namespace tenon
