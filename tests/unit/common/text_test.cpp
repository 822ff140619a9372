#include "common/text.hpp"

namespace tenon {
namespace {

TEST(Text, EditDistanceCountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("local", "lcoal"), 1u);  // a swap of neighbours is one edit
  EXPECT_EQ(edit_distance("core", "cores"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("Local", "local"), 1u);
}

TEST(Text, NearestNameFindsWhatWasMeant) {
  const std::vector<std::string> names = {"local", "standalone", "local-cluster", "k8s"};
  EXPECT_EQ(nearest_name("lcoal", names), "local");
  EXPECT_EQ(nearest_name("LOCAL", names), "local");
  EXPECT_EQ(nearest_name("standalon", names), "standalone");
  EXPECT_EQ(nearest_name("local-clsuter", names), "local-cluster");
  EXPECT_EQ(nearest_name("k8", names), "k8s");
}

TEST(Text, NearestNameIsNothingWhenNoneIsNear) {
  const std::vector<std::string> names = {"local", "standalone"};
  EXPECT_EQ(nearest_name("mesos", names), std::nullopt);
  EXPECT_EQ(nearest_name("x", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
  EXPECT_EQ(nearest_name("local", {}), std::nullopt);
}

TEST(Text, NearestNameTakesTheFirstOfEquals) {
  EXPECT_EQ(nearest_name("abcd", std::vector<std::string>{"abce", "abcf"}), "abce");
}

TEST(Text, TrimAndJoin) {
  EXPECT_EQ(trim(" \t a b \t"), "a b");
  EXPECT_EQ(trim(" \t"), "");
  EXPECT_EQ(join(std::vector<std::string>{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join({}, ", "), "");
}

}  // namespace
}  // namespace tenon
