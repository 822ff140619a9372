// The small containers and value conversions under the operators.
#include <random>

#include "tenon/detail/flat_table.hpp"
#include "tenon/detail/hash.hpp"
#include "tenon/detail/kept.hpp"
#include "tenon/detail/owned.hpp"
#include "tenon/words.hpp"

namespace tenon::detail {
namespace {

using Random = std::mt19937_64;

// ------------------------------------------------------------------------------- FlatTable

template <class K, class V>
std::vector<std::pair<K, V>> entries_of(FlatTable<K, V>& table) {
  std::vector<std::pair<K, V>> all;
  for (size_t i = 0; i < table.chunk_count(); ++i) {
    for (const auto& entry : table.chunk(i)) all.push_back(entry);
  }
  return all;
}

// hash: of a key; bad ones make many keys collide.
template <class Hasher>
void compare_with_map(uint64_t seed, size_t operations, uint64_t keys, Hasher hash) {
  Random random(seed);
  FlatTable<std::string, uint64_t> table;
  std::unordered_map<std::string, uint64_t> map;
  std::vector<std::string> order;
  for (size_t i = 0; i < operations; ++i) {
    const std::string key = "key" + std::to_string(random() % keys);
    if (random() % 3 == 0) {
      const uint64_t* found = table.find(std::string_view(key), hash(key));
      const auto at = map.find(key);
      ASSERT_EQ(found != nullptr, at != map.end());
      if (found != nullptr) {
        ASSERT_EQ(*found, at->second);
      }
      continue;
    }
    const auto [value, fresh] =
        table.find_or_insert(std::string_view(key), hash(key), [] { return uint64_t{0}; });
    ASSERT_EQ(fresh, !map.contains(key));
    if (fresh) order.push_back(key);
    *value += i;
    map[key] += i;
    ASSERT_EQ(*value, map[key]);
  }
  ASSERT_EQ(table.size(), map.size());
  const auto entries = entries_of(table);
  ASSERT_EQ(entries.size(), order.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    ASSERT_EQ(entries[i].first, order[i]) << "entries come in the order of their first appearance";
    ASSERT_EQ(entries[i].second, map[order[i]]);
  }
}

TEST(FlatTable, LikeAnUnorderedMap) {
  const auto good = [](const std::string& key) { return hash_bytes(key); };
  for (uint64_t seed = 1; seed < 20; ++seed)
    compare_with_map(seed, 2000, 1 + seed * seed * 7, good);
  compare_with_map(99, 60000, 20000, good);  // many chunks
}

TEST(FlatTable, CollidingHashes) {
  compare_with_map(3, 2000, 300, [](const std::string&) { return uint64_t{7}; });
  compare_with_map(4, 3000, 500, [](const std::string& key) { return hash_bytes(key) % 5; });
  compare_with_map(5, 3000, 500, [](const std::string& key) { return hash_bytes(key) << 32; });
}

TEST(FlatTable, MoveAndClear) {
  FlatTable<int, std::string> table;
  for (int i = 0; i < 3000; ++i)
    table.find_or_insert(i, static_cast<uint64_t>(i), [&] { return std::to_string(i); });
  FlatTable<int, std::string> moved = std::move(table);
  EXPECT_EQ(moved.size(), 3000u);
  EXPECT_EQ(*moved.find(2999, 2999), "2999");
  EXPECT_EQ(moved.find(3000, 3000), nullptr);
  moved.clear();
  EXPECT_EQ(moved.size(), 0u);
  EXPECT_EQ(moved.find(1, 1), nullptr);
  moved.find_or_insert(5, 5, [] { return std::string("five"); });
  EXPECT_EQ(*moved.find(5, 5), "five");
}

// ------------------------------------------------------------------------------- Batch and Chunks

struct Counted {
  explicit Counted(int v) : value(v) { ++alive; }
  Counted(const Counted& other) : value(other.value) { ++alive; }
  ~Counted() { --alive; }
  int value;
  static inline int alive = 0;
};

TEST(Batch, HoldsWithoutADefaultConstructorAndDestroys) {
  {
    Batch<Counted> batch;
    EXPECT_TRUE(batch.empty());
    EXPECT_TRUE(batch.span().empty());
    for (int i = 0; !batch.full(); ++i) batch.emplace(i);
    EXPECT_EQ(batch.size(), kBatchSize);
    EXPECT_EQ(Counted::alive, static_cast<int>(kBatchSize));
    EXPECT_EQ(batch[kBatchSize - 1].value, static_cast<int>(kBatchSize) - 1);
    Batch<Counted> moved = std::move(batch);
    EXPECT_EQ(Counted::alive, static_cast<int>(kBatchSize));
    moved.clear();
    EXPECT_EQ(Counted::alive, 0);
    moved.emplace(1);
  }
  EXPECT_EQ(Counted::alive, 0);
}

TEST(Chunks, GrowWithoutMoving) {
  {
    Chunks<Counted> chunks;
    EXPECT_EQ(chunks.size(), 0u);
    const Counted* first = &chunks.emplace(0);
    for (int i = 1; i < 5000; ++i) chunks.emplace(i);
    EXPECT_EQ(&chunks[0], first);
    EXPECT_EQ(chunks.size(), 5000u);
    EXPECT_EQ(chunks.chunk_count(), (5000 + kBatchSize - 1) / kBatchSize);
    size_t n = 0;
    for (size_t c = 0; c < chunks.chunk_count(); ++c) {
      for (const Counted& element : chunks.chunk(c)) {
        ASSERT_EQ(element.value, static_cast<int>(n++));
      }
    }
    EXPECT_EQ(n, 5000u);
    EXPECT_EQ(Counted::alive, 5000);
  }
  EXPECT_EQ(Counted::alive, 0);
}

// ------------------------------------------------------------------------------- words

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> all;
  for (const std::string_view word : words(text)) all.emplace_back(word);
  return all;
}

TEST(Words, AreRunsBetweenTheSixBlanks) {
  using V = std::vector<std::string>;
  EXPECT_EQ(words_of(""), V{});
  EXPECT_EQ(words_of(" \t\n\v\f\r"), V{});
  EXPECT_EQ(words_of("one"), V{"one"});
  EXPECT_EQ(words_of("  a\tb\nc\vd\fe\rf "), (V{"a", "b", "c", "d", "e", "f"}));
  EXPECT_EQ(words_of(std::string_view("x\0y \x1c \x85 \xa0", 9)),
            (V{std::string("x\0y", 3), "\x1c", "\x85", "\xa0"}));
}

TEST(Words, LikeASlowSplit) {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 30, '\0');
    for (char& c : text)
      c = random() % 3 == 0 ? " \t\n\v\f\r"[random() % 6] : static_cast<char>(random());
    std::vector<std::string> expected;
    std::string word;
    for (const char c : text + " ") {
      if (std::string_view(" \t\n\v\f\r").find(c) == std::string_view::npos) {
        word.push_back(c);
      } else if (!word.empty()) {
        expected.push_back(std::exchange(word, {}));
      }
    }
    ASSERT_EQ(words_of(text), expected);
  }
}

// ------------------------------------------------------------------------------- owned and views

using View = std::string_view;

TEST(Owned, Types) {
  EXPECT_TRUE((std::is_same_v<owned_t<View>, std::string>));
  EXPECT_TRUE((std::is_same_v<owned_t<const std::string&>, std::string>));
  EXPECT_TRUE((std::is_same_v<owned_t<int>, int>));
  EXPECT_TRUE((std::is_same_v<owned_t<std::pair<View, int>>, std::pair<std::string, int>>));
  EXPECT_TRUE((std::is_same_v<owned_t<std::tuple<int, View, std::pair<View, View>>>,
                              std::tuple<int, std::string, std::pair<std::string, std::string>>>));
  EXPECT_TRUE((std::is_same_v<owned_t<std::vector<View>>, std::vector<View>>))
      << "only alone, in pairs and in tuples";
  EXPECT_TRUE((is_owned_v<std::vector<std::string>>));
  EXPECT_FALSE((is_owned_v<std::pair<int, View>>));
}

TEST(Owned, CopiesViewsAndMovesTheRest) {
  std::string text = "text that is too long to be kept within the object";
  const char* data = text.data();
  std::string moved = to_owned(std::move(text));
  EXPECT_EQ(moved.data(), data);

  auto pair = to_owned(std::pair(View(moved), std::move(moved)));
  EXPECT_EQ(pair.second.data(), data);
  EXPECT_NE(pair.first.data(), data);
  EXPECT_EQ(pair.first, pair.second);

  const std::tuple<int, View, std::pair<View, bool>> record(1, "a", {"b", true});
  const auto owned = to_owned(record);
  EXPECT_EQ(owned,
            (std::tuple<int, std::string, std::pair<std::string, bool>>(1, "a", {"b", true})));
}

TEST(Owned, ViewsLookIntoTheOwnedValue) {
  const std::pair<std::string, std::tuple<int, std::string>> owned("key", {7, "value"});
  const auto view = view_of<std::pair<View, std::tuple<int, View>>>(owned);
  EXPECT_EQ(view.first.data(), owned.first.data());
  EXPECT_EQ(std::get<1>(view.second).data(), std::get<1>(owned.second).data());
  EXPECT_EQ(std::get<0>(view.second), 7);
  EXPECT_EQ(to_owned(view), owned);
}

// ------------------------------------------------------------------------------- hash

struct Key {
  std::string name;
  int64_t id = 0;
  TENON_FIELDS(name, id)
};

// A change of these spreads keys differently: every process of a program must agree, so they may
// change with a release only.
TEST(Hash, PinnedValues) {
  EXPECT_EQ(hash_bytes(""), 0x2d06800538d394c2ULL);
  EXPECT_EQ(hash_bytes("abc"), 0x78af5f94892f3950ULL);
  EXPECT_EQ(Hash<int>::of(0), 0u);
  EXPECT_EQ(Hash<int>::of(1), 0xb456bcfc34c2cb2cULL);
  EXPECT_EQ(Hash<int64_t>::of(-1), 0x64b5720b4b825f21ULL);
  EXPECT_EQ(Hash<std::string>::of("abc"), hash_bytes("abc"));
}

TEST(Hash, EqualKeysHaveEqualHashes) {
  EXPECT_EQ(Hash<std::string>::of("key"), Hash<View>::of("key"));
  EXPECT_EQ((Hash<std::pair<std::string, int>>::of({"key", 1})),
            (Hash<std::pair<View, int>>::of({"key", 1})));
  EXPECT_EQ((Hash<std::tuple<std::string, int>>::of({"key", 1})),
            (Hash<std::tuple<View, int>>::of({"key", 1})));
  EXPECT_EQ(Hash<double>::of(0.0), Hash<double>::of(-0.0));
  EXPECT_EQ(Hash<Key>::of({"a", 1}), Hash<Key>::of({"a", 1}));
  EXPECT_EQ((Hash<std::vector<int>>::of({1, 2})), (Hash<std::vector<int>>::of({1, 2})));
}

TEST(Hash, OrderAndPlaceMatter) {
  EXPECT_NE((Hash<std::pair<int, int>>::of({1, 2})), (Hash<std::pair<int, int>>::of({2, 1})));
  EXPECT_NE((Hash<std::vector<int>>::of({0})), (Hash<std::vector<int>>::of({0, 0})));
  EXPECT_NE((Hash<std::optional<int>>::of(std::nullopt)), (Hash<std::optional<int>>::of(0)));
  EXPECT_NE(Hash<Key>::of({"a", 1}), Hash<Key>::of({"a", 2}));
}

// ------------------------------------------------------------------------------- weight of kept
// partitions

TEST(HeapBytes, CountsWhatAValuePointsTo) {
  EXPECT_EQ(heap_bytes(7), 0u);
  EXPECT_EQ(heap_bytes(std::string("short")), 0u);
  const std::string text(1000, 'x');
  EXPECT_EQ(heap_bytes(text), text.capacity() + 1);
  std::vector<std::string> texts(10, text);
  EXPECT_EQ(heap_bytes(texts), texts.capacity() * sizeof(std::string) + 10 * heap_bytes(texts[0]));
  EXPECT_EQ(heap_bytes(std::pair(1, text)), heap_bytes(text));
  EXPECT_EQ(heap_bytes(Key{text, 1}), heap_bytes(text));
  const std::map<int, std::string> map{{1, text}, {2, text}};
  EXPECT_GE(heap_bytes(map), 2 * (sizeof(std::pair<const int, std::string>) + heap_bytes(text)));
  EXPECT_EQ(heap_bytes(std::optional<std::string>(text)), heap_bytes(text));
  EXPECT_EQ(heap_bytes(std::make_unique<std::string>(text)),
            sizeof(std::string) + heap_bytes(text));
  EXPECT_EQ((heap_bytes(std::variant<int, std::string>(text))), heap_bytes(text));
}

}  // namespace
}  // namespace tenon::detail
