// Records that cross a shuffle by a codec of the program's.
#include <random>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using ::testing::UnorderedElementsAre;

using IntPairs = std::vector<std::pair<int, int>>;

// Loses the last digit of what it writes, which shows where it was used.
struct Tens {
  static void write(ByteWriter& out, int64_t value) { out.fixed(value / 10); }
  template <class T>
  static T read(ByteReader& in) {
    return static_cast<T>(in.fixed<int64_t>() * 10);
  }
};
// No tenon::Codec, but one for a shuffle.
struct Note {
  explicit Note(std::string t) : text(std::move(t)) {}
  std::string text;
};
struct NoteCodec {
  static void write(ByteWriter& out, const std::string& key) { out.text(key); }
  static void write(ByteWriter& out, const Note& note) { out.text(note.text + "!"); }
  template <class T>
  static T read(ByteReader& in) {
    return T(std::string(in.text()));
  }
};
static_assert(!Encodable<Note>);

class ShuffleCodecTest : public test::CountingTest {
 protected:
  static IntPairs random_pairs(uint64_t seed, size_t n) {
    std::mt19937_64 random(seed);
    IntPairs pairs;
    for (size_t i = 0; i < n; ++i) {
      pairs.emplace_back((static_cast<int>(random() % 20) - 10) * 10,
                         static_cast<int>(random() % 1000) - 500);
    }
    return pairs;
  }
  template <class Rows>
  static Rows sorted(Rows rows) {
    std::sort(rows.begin(), rows.end());
    return rows;
  }
};

TEST_F(ShuffleCodecTest, S004_047_S004_133_PartitionByTakesOneAndTheDefaultGoesByType) {
  const auto pairs = random_pairs(1, 500);
  auto rounded = pairs;
  for (auto& [key, value] : rounded) value = value / 10 * 10;
  const auto rdd = context().parallelize(pairs, 3);
  EXPECT_EQ(sorted(rdd.partition_by(4, Tens{}).collect()), sorted(rounded));
  EXPECT_EQ(sorted(rdd.partition_by(4, TypeCodec{}).collect()), sorted(pairs));
  EXPECT_EQ(sorted(rdd.partition_by(4).collect()), sorted(pairs));
  const auto spread = rdd.partition_by(4);
  EXPECT_EQ(sorted(spread.partition_by(4, Tens{}).collect()), sorted(pairs)) << "no shuffle";
}

TEST_F(ShuffleCodecTest, S004_047_WithAMapSideCombineItWritesTheCombinedValues) {
  const auto pairs = random_pairs(2, 600);
  const auto rdd = context().parallelize(pairs, 2);
  std::map<int, int64_t> expected;
  for (const auto& part : rdd.glom().collect()) {
    std::map<int, int64_t> sums;
    for (const auto& [key, value] : part) sums[key] += value;
    for (const auto& [key, sum] : sums) expected[key] += sum / 10 * 10;
  }
  const auto sums = rdd.combine_by_key([](int value) { return int64_t{value}; }, std::plus<>{},
                                       std::plus<>{}, 3, Tens{});
  const auto collected = sums.collect();
  EXPECT_EQ((std::map<int, int64_t>(collected.begin(), collected.end())), expected);
  EXPECT_EQ(collected.size(), expected.size());
}

TEST_F(ShuffleCodecTest, S004_047_ATypeWithoutACodecMayCrossByOne) {
  const auto notes = context()
                         .parallelize(std::vector<std::string>{"b", "a", "b"}, 2)
                         .map([](const std::string& s) { return std::pair(s, Note(s)); });
  EXPECT_THAT(
      notes.partition_by(2, NoteCodec{})
          .map_values([](const Note& note) { return note.text; })
          .collect(),
      UnorderedElementsAre(std::pair("a", "a!"), std::pair("b", "b!"), std::pair("b", "b!")));
}

TEST_F(ShuffleCodecTest, S004_047_OtherOperationsFollowWithoutAShuffleOfTheirOwn) {
  const auto pairs = random_pairs(3, 200);
  const auto rdd = context().parallelize(pairs, 2);
  const auto spread = rdd.partition_by(3, Tens{});
  static_cast<void>(spread.count());
  start_counting();
  for (const auto& [key, both] : spread.join(spread).collect()) {
    EXPECT_EQ(both.first % 10, 0);
    EXPECT_EQ(both.second % 10, 0);
  }
  EXPECT_EQ(stages_since(), 1u);
}

}  // namespace
}  // namespace tenon
