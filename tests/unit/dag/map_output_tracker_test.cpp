#include "dag/map_output_tracker.hpp"

#include <gmock/gmock.h>

#include <random>

namespace tenon::dag {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

task::MapStatus status(const std::string& executor, const std::string& host,
                       std::vector<uint64_t> sizes, uint64_t map_id = 0) {
  return {{executor, host, host + ":9"}, std::move(sizes), map_id};
}

class MapOutputTrackerTest : public ::testing::Test {
 protected:
  MapOutputTrackerTest() {
    tracker_.register_shuffle(1, 3, 2);
    tracker_.register_shuffle(2, 1, 1);
    tracker_.register_map_output(1, 0, status("e1", "h1", {1, 2}, 10));
    tracker_.register_map_output(1, 1, status("e2", "h1", {3, 4}, 11));
    tracker_.register_map_output(1, 2, status("e3", "h2", {0, 50}, 12));
    tracker_.register_map_output(2, 0, status("e1", "h1", {7}, 13));
  }
  [[nodiscard]] bool rose() {
    const bool higher = tracker_.epoch() > epoch_;
    epoch_ = tracker_.epoch();
    return higher;
  }

  MapOutputTracker tracker_;
  uint64_t epoch_ = 0;
};

TEST_F(MapOutputTrackerTest, C16_1_RegisterAndLookUp) {
  EXPECT_TRUE(tracker_.contains(1));
  EXPECT_EQ(tracker_.available(1), 3);
  EXPECT_THAT(tracker_.missing(1), IsEmpty());
  EXPECT_FALSE(rose());  // registering raises nothing
  const MapOutputs outputs = tracker_.outputs(1);
  EXPECT_EQ(outputs.shuffle_id, 1);
  EXPECT_EQ(outputs.reduces, 2);
  ASSERT_EQ(outputs.statuses.size(), 3u);
  EXPECT_EQ(outputs.statuses[1]->location, (task::BlockManagerId{"e2", "h1", "h1:9"}));
  EXPECT_EQ(outputs.statuses[1]->map_id, 11u);
  EXPECT_THAT(outputs.statuses[1]->sizes, ElementsAre(3, 4));
  tracker_.register_shuffle(1, 3, 2);  // once more: nothing
  EXPECT_EQ(tracker_.available(1), 3);
}

TEST_F(MapOutputTrackerTest, C16_1_LaterOutputReplaces) {
  tracker_.register_map_output(1, 0, status("e9", "h9", {8, 8}, 20));
  EXPECT_EQ(tracker_.available(1), 3);
  EXPECT_EQ(tracker_.outputs(1).statuses[0]->location.host, "h9");
  EXPECT_THAT(tracker_.statistics(1).bytes_by_partition, ElementsAre(11, 62));
}

TEST_F(MapOutputTrackerTest, C16_1_UnregisterOne) {
  tracker_.unregister_map_output(1, 0, {"e2", "h1", "h1:9"});  // not there
  EXPECT_TRUE(rose());
  EXPECT_EQ(tracker_.available(1), 3);
  tracker_.unregister_map_output(1, 0, {"e1", "h1", "h1:9"});
  EXPECT_TRUE(rose());
  EXPECT_THAT(tracker_.missing(1), ElementsAre(0));
  tracker_.unregister_map_output(1, 0, {"e1", "h1", "h1:9"});
  EXPECT_EQ(tracker_.available(1), 2);
  tracker_.unregister_map_output(1, 99, {});
  tracker_.unregister_map_output(1, -1, {});
  tracker_.unregister_map_output(99, 0, {});
  EXPECT_EQ(tracker_.available(1), 2);
}

TEST_F(MapOutputTrackerTest, C16_1_UnregisterExecutorHostAll) {
  tracker_.remove_outputs_on_executor("e1");
  EXPECT_TRUE(rose());
  EXPECT_THAT(tracker_.missing(1), ElementsAre(0));
  EXPECT_THAT(tracker_.missing(2), ElementsAre(0));
  tracker_.remove_outputs_on_host("h1");
  EXPECT_TRUE(rose());
  EXPECT_THAT(tracker_.missing(1), ElementsAre(0, 1));
  tracker_.unregister_all(1);
  EXPECT_TRUE(rose());
  EXPECT_EQ(tracker_.available(1), 0);
  tracker_.remove_outputs_on_executor("nobody");
  EXPECT_TRUE(rose());  // C5.3: epoch + 1 whatever was there
}

TEST_F(MapOutputTrackerTest, C16_7_UnregisterShuffleForgetsIt) {
  tracker_.unregister_shuffle(1);
  EXPECT_TRUE(rose());
  EXPECT_FALSE(tracker_.contains(1));
  EXPECT_EQ(tracker_.available(1), 0);
  EXPECT_EQ(tracker_.encoded(1), nullptr);
  EXPECT_THAT(tracker_.outputs(1).statuses, IsEmpty());
  tracker_.unregister_shuffle(1);
  EXPECT_FALSE(rose());
}

TEST_F(MapOutputTrackerTest, OutputsThatDoNotFitAreRefused) {
  EXPECT_THROW(tracker_.register_map_output(3, 0, status("e", "h", {1})), Error);
  EXPECT_THROW(tracker_.register_map_output(1, 3, status("e", "h", {1, 2})), Error);
  EXPECT_THROW(tracker_.register_map_output(1, -1, status("e", "h", {1, 2})), Error);
  EXPECT_THROW(tracker_.register_map_output(1, 0, status("e", "h", {1})), Error);
  EXPECT_EQ(tracker_.outputs(1).statuses[0]->location.executor_id, "e1");
}

TEST_F(MapOutputTrackerTest, C6_2_HostsWithBigOutputs) {
  // Reduce 0: h1 has 1 + 3 of 4; reduce 1: h1 has 2 + 4, h2 50 of 56.
  EXPECT_THAT(tracker_.hosts_with_big_outputs(1, 0, 0.2), ElementsAre("h1"));
  EXPECT_THAT(tracker_.hosts_with_big_outputs(1, 1, 0.2), ElementsAre("h2"));
  EXPECT_THAT(tracker_.hosts_with_big_outputs(1, 1, 0.1), ElementsAre("h1", "h2"));
  EXPECT_THAT(tracker_.hosts_with_big_outputs(1, 2, 0.2), IsEmpty());
  EXPECT_THAT(tracker_.hosts_with_big_outputs(9, 0, 0.2), IsEmpty());
}

TEST_F(MapOutputTrackerTest, C6_2_OnlyBelowAThousandMapsAndReduces) {
  struct Row {
    int32_t maps, reduces;
    bool some;
  };
  int32_t id = 10;
  for (const Row& row : {Row{999, 999, true}, Row{1000, 1, false}, Row{1, 1000, false}}) {
    tracker_.register_shuffle(id, row.maps, row.reduces);
    const std::vector<uint64_t> sizes(static_cast<size_t>(row.reduces), 1);
    for (int32_t map = 0; map < row.maps; ++map) {
      tracker_.register_map_output(id, map, status("e", "h", sizes));
    }
    EXPECT_EQ(!tracker_.hosts_with_big_outputs(id, 0, 0.2).empty(), row.some) << row.maps;
    ++id;
  }
}

TEST_F(MapOutputTrackerTest, EncodedRoundTripAndCaching) {
  tracker_.unregister_map_output(1, 1, {"e2", "h1", "h1:9"});
  const auto bytes = tracker_.encoded(1);
  EXPECT_EQ(tracker_.encoded(1), bytes);
  const MapOutputs back = decode_map_outputs(*bytes);
  EXPECT_EQ(back.shuffle_id, 1);
  EXPECT_EQ(back.epoch, tracker_.epoch());
  EXPECT_EQ(back.reduces, 2);
  ASSERT_EQ(back.statuses.size(), 3u);
  EXPECT_FALSE(back.statuses[1]);
  EXPECT_EQ(back.statuses[2]->location, (task::BlockManagerId{"e3", "h2", "h2:9"}));
  EXPECT_EQ(back.statuses[2]->map_id, 12u);
  EXPECT_THAT(back.statuses[2]->sizes, ElementsAre(0, 50));
  tracker_.register_map_output(1, 1, status("e4", "h4", {1, 1}));
  EXPECT_NE(tracker_.encoded(1), bytes);
  const auto before = tracker_.encoded(1);
  tracker_.increment_epoch();
  EXPECT_EQ(decode_map_outputs(*tracker_.encoded(1)).epoch, tracker_.epoch());
  EXPECT_NE(tracker_.encoded(1), before);
}

TEST_F(MapOutputTrackerTest, DecoderRefusesEveryCutAndSurvivesEveryFlip) {
  const std::string bytes = *tracker_.encoded(1);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_THROW(static_cast<void>(decode_map_outputs(bytes.substr(0, cut))), Error) << cut;
  }
  EXPECT_THROW(static_cast<void>(decode_map_outputs(bytes + "x")), Error);
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = bytes;
    for (int flips = 1 + i % 3; flips > 0; --flips) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    try {
      const MapOutputs outputs = decode_map_outputs(bad);
      for (const auto& each : outputs.statuses) {
        if (!each) continue;
        EXPECT_EQ(each->sizes.size(), static_cast<size_t>(outputs.reduces));
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::codec);
    }
  }
}

TEST_F(MapOutputTrackerTest, DecoderTakesNoMemoryForPromises) {
  // A header that promises 4 billion maps, and one with 4 billion locations.
  const std::string maps("\x96\x01\x01\x00\xce\xff\xff\xff\xff\x01\x90", 11);
  EXPECT_THROW(static_cast<void>(decode_map_outputs(maps)), Error);
  const std::string locations("\x96\x01\x01\x00\x01\x01\xdd\xff\xff\xff\xff\x90", 12);
  EXPECT_THROW(static_cast<void>(decode_map_outputs(locations)), Error);
}

}  // namespace
}  // namespace tenon::dag
