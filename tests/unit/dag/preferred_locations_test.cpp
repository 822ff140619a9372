#include "dag/preferred_locations.hpp"

#include "unit/dag/harness.hpp"

namespace tenon::dag::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Preferred = DagTest;

task::Location host(const std::string& name) { return {name, ""}; }

TEST_F(Preferred, C6_3_LocationForms) {
  EXPECT_EQ(parse_location("h1"), host("h1"));
  EXPECT_EQ(parse_location("executor_h1_7"), (task::Location{"h1", "7"}));
  EXPECT_EQ(parse_location("executor_h1_a_b"), (task::Location{"h1", "a_b"}));
  EXPECT_EQ(parse_location("hdfs_cache_h2"), host("h2"));
  for (const char* bad : {"executor_", "executor_h1", "executor_h1_", "executor__7"}) {
    EXPECT_THROW(static_cast<void>(parse_location(bad)), Error) << bad;
  }
}

TEST_F(Preferred, C6_1_S004_099_OrderCachedOwnNarrowShuffle) {
  const auto dependency = shuffle(node(1), 1);
  tracker_->register_shuffle(dependency->shuffle_id, 1, 1);
  tracker_->register_map_output(dependency->shuffle_id, 0, {block_manager("map"), {5}, 0});
  const auto source = node(1, {dependency});
  const auto parent = node(1, {}, {{"narrow"}});
  const auto own = node(1, {one_to_one(parent)}, {{"own1", "own2"}});
  own->set_level(StorageLevel::memory);
  EXPECT_THAT(scheduler_->preferred_locations(source, 0), ElementsAre(host("map")));
  EXPECT_THAT(scheduler_->preferred_locations(own, 0), ElementsAre(host("own1"), host("own2")));
  const auto bare = node(1, {one_to_one(node(1)), one_to_one(parent), one_to_one(source)});
  EXPECT_THAT(scheduler_->preferred_locations(bare, 0), ElementsAre(host("narrow")));
  blocks_.cached[{own->id(), 0}] = {{"c", "c-exec"}};
  lose_executor("x");  // clears what is remembered
  EXPECT_THAT(scheduler_->preferred_locations(own, 0), ElementsAre(task::Location{"c", "c-exec"}));
}

TEST_F(Preferred, C6_1_DepthFirst) {
  // The first dependency's grandparent comes before the second dependency.
  const auto deep = node(1, {}, {{"deep"}});
  const auto shallow = node(1, {}, {{"shallow"}});
  const auto middle = node(1, {one_to_one(deep)});
  EXPECT_THAT(
      scheduler_->preferred_locations(node(1, {one_to_one(middle), one_to_one(shallow)}), 0),
      ElementsAre(host("deep")));
  const auto all = [](int32_t) { return std::vector<int32_t>{0}; };
  EXPECT_THAT(scheduler_->preferred_locations(
                  node(1, {rdd::NarrowDependency{middle, all}, one_to_one(shallow)}), 0),
              ElementsAre(host("deep")));
}

TEST_F(Preferred, C6_1_ParentPartitionsInTheirOrder) {
  const auto parent = node(4, {}, {{}, {"h1"}, {"h2"}, {"h3"}});
  const auto coalesced = node(2, {rdd::NarrowDependency{parent, [](int32_t partition) {
                                                          return partition == 0
                                                                     ? std::vector<int32_t>{0, 2, 1}
                                                                     : std::vector<int32_t>{3};
                                                        }}});
  EXPECT_THAT(scheduler_->preferred_locations(coalesced, 0), ElementsAre(host("h2")));
  EXPECT_THAT(scheduler_->preferred_locations(coalesced, 1), ElementsAre(host("h3")));
  EXPECT_THAT(scheduler_->preferred_locations(node(2, {one_to_one(coalesced)}), 1),
              ElementsAre(host("h3")));
}

TEST_F(Preferred, C6_1_PartitionsWithoutPreferenceHaveNone) {
  const auto source = node(2, {}, {{"h"}, {}});
  EXPECT_THAT(scheduler_->preferred_locations(node(2, {one_to_one(source)}), 1), IsEmpty());
  const auto lookup = [](const rdd::Node&) -> const CachedLocations* { return nullptr; };
  EXPECT_TRUE(PreferredLocations(*node(2), lookup, *tracker_, true).none());
  EXPECT_FALSE(PreferredLocations(*source, lookup, *tracker_, true).none());
}

}  // namespace
}  // namespace tenon::dag::testing
