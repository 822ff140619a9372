// cache, unpersist and broadcast (contract C15), end to end.
#include <thread>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using test::caught;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::atomic<int> computed{0};  // records

class CacheTest : public test::CountingTest {
 protected:
  CacheTest() { computed = 0; }
  // n partitions of 100 records of about 1000 bytes, counted when they are computed.
  Rdd<std::string> texts(int n) {
    return context().range(0, 100 * n, 1, n).map([](int i) {
      ++computed;
      return std::string(1000, static_cast<char>('a' + i % 26));
    });
  }
  // Records that were computed while the act ran.
  static int computed_by(const std::function<void()>& act) {
    const int before = computed;
    act();
    return computed - before;
  }
};

TEST_F(CacheTest, ComputedOnce) {
  const auto kept = texts(4).cache();
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(kept.count(), 400u); }), 400);
  EXPECT_EQ(computed_by([&] {
              EXPECT_EQ(
                  kept.map([](const std::string& s) { return s.size(); }).reduce(std::plus<>{}),
                  400'000u);
            }),
            0);
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(kept.collect().at(27), std::string(1000, 'b')); }), 0);
}

TEST_F(CacheTest, ARecordThatIsMovedFromStaysInTheCache) {
  const auto kept = texts(1).cache();
  const auto take_them = [](std::string&& s) { return std::string(std::move(s)).size(); };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(kept.map(take_them).reduce(std::plus<>{}), 100'000u);
  }
}

TEST_F(CacheTest, C15_7_UnpersistComputesAgainAndMayBeKeptAgain) {
  const auto kept = texts(2).cache();
  static_cast<void>(kept.count());
  kept.unpersist();
  EXPECT_EQ(computed_by([&] { static_cast<void>(kept.count()); }), 200);
  EXPECT_EQ(computed_by([&] { static_cast<void>(kept.count()); }), 200) << "it is kept no more";
  kept.cache();
  EXPECT_EQ(computed_by([&] { static_cast<void>(kept.count()); }), 200);
  EXPECT_EQ(computed_by([&] { static_cast<void>(kept.count()); }), 0);
  EXPECT_THAT(events<event::UnpersistRdd>(1),
              ElementsAre(::testing::Field(&event::UnpersistRdd::rdd, kept.id())));
}

TEST_F(CacheTest, NothingAboveAFullyCachedRddRuns) {
  const auto sums = texts(2)
                        .map([](const std::string& s) { return std::pair(s[0], 1); })
                        .reduce_by_key(std::plus<>{})
                        .cache();
  EXPECT_EQ(sums.count(), 26u);
  start_counting();
  EXPECT_EQ(sums.map([](const auto& p) { return p; }).count(), 26u);
  EXPECT_EQ(stages_since(), 1u);
}

TEST_F(CacheTest, C15_3_AFailedOrPartlyReadPartitionIsNotKept) {
  static std::atomic<bool> fail;
  fail = true;
  const auto kept = texts(1)
                        .map([](std::string s) {
                          if (fail && computed > 50) throw std::runtime_error("in the middle");
                          return s;
                        })
                        .cache();
  EXPECT_EQ(caught([&] { static_cast<void>(kept.count()); }).kind, ErrorKind::job_failed);
  fail = false;
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(kept.count(), 100u); }), 100);
  // Whoever wants one record only has the whole partition computed, and kept.
  const auto other = texts(3).cache();
  EXPECT_EQ(computed_by([&] { static_cast<void>(other.first()); }), 100);
  EXPECT_EQ(computed_by([&] { static_cast<void>(other.count()); }), 200);
}

TEST_F(CacheTest, C15_4_LeastRecentlyUsedGoFirst) {
  start(conf().set("tenon.memory.storageLimit", "400k"));  // three partitions of about 115 kB
  const auto a = texts(1).cache(), b = texts(1).cache(), c = texts(1).cache(), d = texts(1).cache();
  for (const auto* rdd : {&a, &b, &c}) static_cast<void>(rdd->count());
  EXPECT_EQ(computed_by([&] { static_cast<void>(a.count()); }), 0)
      << "all three fit; a is the newest now";
  EXPECT_EQ(computed_by([&] { static_cast<void>(d.count()); }), 100) << "b goes";
  EXPECT_EQ(computed_by([&] { static_cast<void>(a.count()); }), 0);
  EXPECT_EQ(computed_by([&] { static_cast<void>(c.count()); }), 0);
  EXPECT_EQ(computed_by([&] { static_cast<void>(b.count()); }), 100);
}

TEST_F(CacheTest, C15_4_PartitionsOfOneRddDoNotDriveEachOtherOut) {
  start(conf().set("tenon.memory.storageLimit", "400k"));
  const auto kept = texts(8).cache();
  EXPECT_EQ(kept.count(), 800u);
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(kept.count(), 800u); }), 500) << "three of eight are there";
}

TEST_F(CacheTest, C15_5_ABlockBeyondTheLimitIsNotKeptAndEvictsNothing) {
  start(conf().set("tenon.memory.storageLimit", "150k"));
  const auto small = texts(1).cache();
  static_cast<void>(small.count());
  const auto large = texts(2).coalesce(1).cache();
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(large.count(), 200u); }), 200);
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(large.count(), 200u); }), 200);
  EXPECT_EQ(computed_by([&] { static_cast<void>(small.count()); }), 0);
}

TEST_F(CacheTest, NestedRecordsAreWeighed) {
  start(conf().set("tenon.memory.storageLimit", "50k"));
  // Each record is small itself but points to 1000 bytes, in every way a record can.
  using Record =
      std::tuple<std::optional<std::string>, std::vector<std::string>, std::map<int, std::string>>;
  const auto kept = context()
                        .range(0, 100, 1, 1)
                        .map([](int) {
                          ++computed;
                          const std::string text(300, 'x');
                          return Record(text, {text}, {{1, text}});
                        })
                        .cache();
  static_cast<void>(kept.count());
  EXPECT_EQ(computed_by([&] { static_cast<void>(kept.count()); }), 100) << "90 kB do not fit";
}

TEST_F(CacheTest, TwoJobsWantingAPartitionComputeItOnce) {
  static std::atomic<bool> gate;
  gate = false;
  const auto kept = context()
                        .range(0, 100, 1, 1)
                        .map([](int n) {
                          ++computed;
                          while (!gate) std::this_thread::sleep_for(std::chrono::microseconds(100));
                          return n;
                        })
                        .cache();
  auto one = kept.count_async(), two = kept.count_async();
  ASSERT_TRUE(test::wait_until([] { return computed > 0; }));
  EXPECT_EQ(events<event::TaskStart>(2).size(), 2u);
  gate = true;
  EXPECT_EQ(one.get(), 100u);
  EXPECT_EQ(two.get(), 100u);
  EXPECT_EQ(computed, 100);
}

// ------------------------------------------------------------------------------- broadcast

struct Table {  // counts how often it is decoded
  std::map<std::string, int> rows;
  static inline std::atomic<int> decoded{0};
};

}  // namespace

template <>
struct Codec<Table> {
  static void write(ByteWriter& out, const Table& table) {
    Codec<std::map<std::string, int>>::write(out, table.rows);
  }
  static Table read(ByteReader& in) {
    ++Table::decoded;
    return {Codec<std::map<std::string, int>>::read(in)};
  }
};

namespace {

class BroadcastTest : public test::ApiTest {};

TEST_F(BroadcastTest, C15_1_OneCopyPerExecutorSharedByItsTasks) {
  Table::decoded = 0;
  const auto table = context().broadcast(Table{{{"a", 1}, {"b", 2}}});
  EXPECT_EQ(table->rows.at("b"), 2) << "in the driver";
  EXPECT_EQ(Table::decoded, 0);
  const auto look_up =
      context()
          .range(0, 1000, 1, 10)
          .map([](int n, const Broadcast<Table>& t) { return t->rows.at(n % 2 == 0 ? "a" : "b"); },
               table);
  EXPECT_EQ(look_up.reduce(std::plus<>{}), 1500);
  EXPECT_EQ(look_up.reduce(std::plus<>{}), 1500);
  EXPECT_EQ(Table::decoded, 1);
  table.unpersist();
  // Executors hear of it a moment later.
  EXPECT_TRUE(test::wait_until([&] {
    return look_up.reduce(std::plus<>{}) == 1500 && Table::decoded == 2;
  })) << "fetched again";
}

TEST_F(BroadcastTest, ManyAndLarge) {
  const auto large = context().broadcast(std::vector<int64_t>(2'000'000, 7));
  const auto small = context().broadcast(std::string("small"));
  EXPECT_NE(large.id(), small.id());
  const auto sizes =
      context()
          .range(0, 4, 1, 4)
          .map([](int, const Broadcast<std::vector<int64_t>>& l,
                  const Broadcast<std::string>& s) { return l->size() + (*s).size(); },
               large, small);
  EXPECT_THAT(sizes.distinct().collect(), ElementsAre(2'000'005u));
}

TEST_F(BroadcastTest, ACodecThatRefusesTheValue) {
  const Broadcast<std::string> unknown(nullptr, 4711, nullptr);
  const auto error = caught([&] {
    static_cast<void>(
        context()
            .range(0, 2)
            .map([](int, const Broadcast<std::string>& b) { return b->size(); }, unknown)
            .count());
  });
  EXPECT_THAT(error.text, AllOf(HasSubstr("roadcast 4711"), HasSubstr("destroyed")));
  expect_usable();
}

}  // namespace
}  // namespace tenon
