// Lineages of very many steps: nothing that walks, runs or ends one may need a stack of that depth.
#include "api/api_fixture.hpp"
#include "executor/deep_stack.hpp"

namespace tenon {
namespace {

using test::caught;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kSteps = 100'000;

class LineageTest : public test::ApiTest {
 protected:
  Rdd<int> chain(int steps) {
    auto rdd = context().range(0, 4, 1, 2);
    for (int i = 0; i < steps; ++i) rdd = rdd.map([](int n) { return n + 1; });
    return rdd;
  }
};

TEST_F(LineageTest, AChainOfMapsRunsAsOneStage) {
  const auto rdd = chain(kSteps);
  EXPECT_EQ(rdd.partition_count(), 2);
  const std::string text = rdd.to_debug_string();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kSteps);
  EXPECT_EQ(rdd.reduce(std::plus<>{}), 0 + 1 + 2 + 3 + 4 * kSteps);
}

TEST_F(LineageTest, AChainOfUnionsRunsAsOneStage) {
  const auto empty = context().text_file(folder().path()).map([](const std::string&) { return 0; });
  ASSERT_EQ(empty.partition_count(), 0);
  auto rdd = context().range(0, 4, 1, 2);
  for (int i = 0; i < kSteps; ++i) rdd = rdd.union_with(empty);
  EXPECT_EQ(rdd.partition_count(), 2);
  EXPECT_EQ(rdd.reduce(std::plus<>{}), 6);
}

TEST_F(LineageTest, ManyShufflesInAChain) {
  auto rdd = context().range(0, 4, 1, 2);
  for (int i = 0; i < 50; ++i) rdd = rdd.map([](int n) { return n + 1; }).repartition(2);
  EXPECT_EQ(rdd.reduce(std::plus<>{}), 6 + 4 * 50);
}

TEST_F(LineageTest, ALoopWithCheckpointsStaysShort) {
  context().set_checkpoint_dir(folder().path());
  auto rdd = context().range(0, 4, 1, 2);
  for (int i = 1; i <= kSteps; ++i) {
    rdd = rdd.map([](int n) { return n + 1; });
    if (i % 10'000 != 0) continue;
    rdd.cache().checkpoint();
    EXPECT_EQ(rdd.count(), 4U);
    ASSERT_TRUE(rdd.is_checkpointed());
    rdd.unpersist();
  }
  const std::string text = rdd.to_debug_string();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 0) << text;
  EXPECT_EQ(rdd.reduce(std::plus<>{}), 6 + 4 * kSteps);
}

TEST_F(LineageTest, AStageThatIsTooDeepSaysToCheckpoint) {
  bool ran = false;
  executor::run_at_depth(executor::kMaxDepth, [&] { ran = true; });
  EXPECT_TRUE(ran);
  const auto error =
      caught([&] { executor::run_at_depth(executor::kMaxDepth + 1, [&] { ran = false; }); });
  EXPECT_THAT(error.text, AllOf(HasSubstr("250001 steps"), HasSubstr("Rdd::checkpoint()")));
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace tenon
