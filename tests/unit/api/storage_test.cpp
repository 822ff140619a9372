// cache, unpersist and broadcast (contract C15), end to end.
#include <thread>

#include "api/api_fixture.hpp"
#include "executor/attempt.hpp"
#include "executor/task_services.hpp"

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
  // Partitions that the executor has in memory.
  size_t partitions_in_memory() {
    return context()
        .range(0, 1, 1, 1)
        .map([](int) {
          return executor::Attempt::current()->services().blocks.memory().blocks().size();
        })
        .first();
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
  // The executor hears of unpersist() a moment later: till then it may still have the partitions.
  EXPECT_TRUE(test::wait_until([&] { return partitions_in_memory() == 0; }));
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

TEST_F(CacheTest, T187_C18_12_BlocksThatTheDriverForgotAreReportedAnew) {
  start(conf().set("tenon.executor.heartbeatInterval", "20ms"));
  const auto kept = texts(2).cache();
  static_cast<void>(kept.count());
  detail::Driver& driver = *context().driver();
  const auto holders = [&] {
    size_t n = 0;
    expect_usable();  // the scheduler asks anew for each job
    driver.on_loop([&] {
      for (int32_t p = 0; p < 2; ++p) {
        n += driver.scheduling().dag().preferred_locations(kept.node(), p).size();
      }
    });
    return n;
  };
  EXPECT_TRUE(test::wait_until([&] { return holders() == 2; }));
  driver.post(dag::ExecutorLost{"driver", {}});
  EXPECT_TRUE(test::wait_until([&] { return holders() == 2; })) << "by the next heartbeat";
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(kept.count(), 200u); }), 0);
}

// ------------------------------------------------------------------------------- cleaning

class CleanerTest : public CacheTest {
 protected:
  context::Services::Usage usage() { return context().driver()->scheduling().services().usage(); }
  size_t shuffles() {
    size_t n = 0;
    detail::Driver& driver = *context().driver();
    driver.on_loop([&] { n = driver.scheduling().map_outputs().shuffles(); });
    return n;
  }
  // 100 keys with 100 bytes each, in two map tasks.
  Rdd<std::pair<int, std::string>> shuffled() {
    return context()
        .range(0, 100, 1, 2)
        .map([](int n) { return std::pair(n, std::string(100, 'x')); })
        .reduce_by_key([](std::string a, const std::string&) { return a; }, 2);
  }
};

TEST_F(CleanerTest, T182_C15_12_ShufflesThatNobodyHoldsAreRemoved) {
  const auto kept = shuffled();
  EXPECT_EQ(kept.count(), 100u);
  const uint64_t one = usage().map_outputs;
  EXPECT_GT(one, 10'000u);
  uint64_t most = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(shuffled().count(), 100u);
    most = std::max(most, usage().map_outputs);
  }
  EXPECT_LT(most, 100 * one);
  EXPECT_TRUE(test::wait_until([&] { return shuffles() == 1 && usage().map_outputs == one; }))
      << shuffles() << " shuffles, " << usage().map_outputs << " bytes";
  start_counting();
  EXPECT_EQ(kept.count(), 100u);
  EXPECT_EQ(stages_since(), 1u) << "what is held is still there";
}

TEST_F(CleanerTest, T182_C15_12_WhatIsDerivedFromAShuffleKeepsIt) {
  std::optional<Rdd<std::pair<int, std::string>>> base = shuffled();
  const auto derived = base->map([](const auto& p) { return p.first; });
  EXPECT_EQ(derived.count(), 100u);
  base.reset();
  start_counting();
  EXPECT_EQ(derived.reduce(std::plus<>{}), 4950);
  EXPECT_EQ(stages_since(), 1u);
  EXPECT_EQ(shuffles(), 1u);
}

TEST_F(CleanerTest, T182_C15_12_AJobInFlightKeepsItsShuffle) {
  static std::atomic<bool> gate, waiting;
  gate = waiting = false;
  start(conf("local[4]"));
  auto job = shuffled()
                 .map_partitions([](Records<std::pair<int, std::string>>& records) {
                   waiting = true;
                   while (!gate) std::this_thread::sleep_for(std::chrono::microseconds(100));
                   std::vector<int> keys;
                   for (const auto& [key, text] : records) keys.push_back(key);
                   return keys;
                 })
                 .count_async();
  ASSERT_TRUE(test::wait_until([] { return waiting.load(); }));
  expect_usable();
  EXPECT_EQ(shuffles(), 1u);
  EXPECT_GT(usage().map_outputs, 0u);
  gate = true;
  EXPECT_EQ(job.get(), 100u);
  EXPECT_TRUE(test::wait_until([&] { return shuffles() == 0 && usage().map_outputs == 0; }));
}

TEST_F(CleanerTest, T182_C15_12_CachedPartitionsGoWithTheLastHandle) {
  std::optional<Rdd<std::string>> kept = texts(2).cache();
  const int32_t id = kept->id();
  static_cast<void>(kept->count());
  EXPECT_GT(usage().cached, 200'000u);
  std::optional<Rdd<std::string>> copy = kept;
  kept.reset();
  EXPECT_EQ(computed_by([&] { static_cast<void>(copy->count()); }), 0);
  EXPECT_THAT(events<event::UnpersistRdd>(), ::testing::IsEmpty());
  copy.reset();
  EXPECT_TRUE(test::wait_until([&] { return usage().cached == 0; }));
  EXPECT_THAT(events<event::UnpersistRdd>(1),
              ElementsAre(::testing::Field(&event::UnpersistRdd::rdd, id)));
}

TEST_F(CleanerTest, C15_12_ReferenceTrackingCanBeSwitchedOff) {
  start(conf().set("tenon.cleaner.referenceTracking", "false"));
  EXPECT_EQ(shuffled().count(), 100u);
  expect_usable();
  EXPECT_EQ(shuffles(), 1u);
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

TEST_F(BroadcastTest, T202_C15_1_UseAfterDestroySaysWhereItWasDestroyed) {
  const auto text = context().broadcast(std::string("text"));
  const auto copy = text;
  const auto sizes = context()
                         .range(0, 4, 1, 2)
                         .map([](int, const Broadcast<std::string>& t) { return t->size(); }, text);
  EXPECT_EQ(sizes.reduce(std::plus<>{}), 16u);
  const std::string& value = *text;
  const int line = __LINE__ + 1;
  text.destroy();
  EXPECT_EQ(value, "text") << "what the driver looks at stays";
  text.destroy();
  const std::string place = "storage_test.cpp:" + std::to_string(line);
  const std::vector<std::function<void()>> uses = {
      [&] { static_cast<void>(*copy); },
      [&] { static_cast<void>(text->size()); },
      [&] { copy.unpersist(); },
      [&] {
        static_cast<void>(context().range(0, 4).map(
            [](int, const Broadcast<std::string>& t) { return t->size(); }, copy));
      },
  };
  for (size_t i = 0; i < uses.size(); ++i) {
    const auto error = caught(uses[i]);
    EXPECT_EQ(error.kind, ErrorKind::invalid_argument) << i;
    EXPECT_THAT(error.text, AllOf(HasSubstr("roadcast " + std::to_string(text.id())),
                                  HasSubstr("was destroyed by destroy at"), HasSubstr(place)))
        << i;
  }
  // Executors hear of it a moment later.
  std::string in_task;
  EXPECT_TRUE(test::wait_until([&] {
    try {
      return sizes.reduce(std::plus<>{}) != 16u;
    } catch (const Error& error) {
      in_task = error.what();
      return true;
    }
  }));
  EXPECT_THAT(in_task, AllOf(HasSubstr("was destroyed by destroy at"), HasSubstr(place)));
  expect_usable();
}

TEST_F(BroadcastTest, ATaskCannotDestroy) {
  const auto text = context().broadcast(std::string("text"));
  for (const bool destroy : {true, false}) {
    const auto error = caught([&] {
      context().range(0, 1).for_each(
          [](int, const Broadcast<std::string>& t, bool d) { d ? t.destroy() : t.unpersist(); },
          text, destroy);
    });
    EXPECT_THAT(error.text, HasSubstr("in the driver only"));
  }
  EXPECT_EQ(*text, "text");
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
