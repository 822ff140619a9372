#include "rdd/node.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "rdd/walk.hpp"

namespace tenon::rdd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NodeTest : public ::testing::Test {
 protected:
  NodePtr node(int32_t partitions, std::vector<Dependency> dependencies = {},
               const std::string& operation = "map", const std::string& name = "") {
    NodeSpec spec;
    spec.id = next_++;
    spec.name = name;
    spec.call_site = {operation, "/src/app/wc.cpp", static_cast<uint32_t>(10 + spec.id)};
    spec.op.id = 1;
    spec.dependencies = std::move(dependencies);
    spec.partitions = [this, partitions, id = spec.id] {
      ++calls_[id];
      return Partitions(static_cast<size_t>(partitions));
    };
    return std::make_shared<const Node>(std::move(spec));
  }
  ShufflePtr shuffle(NodePtr parent, int32_t reduces = 1) {
    ShuffleDependency dependency;
    dependency.shuffle_id = next_shuffle_++;
    dependency.parent = std::move(parent);
    dependency.reduces = reduces;
    return std::make_shared<const ShuffleDependency>(std::move(dependency));
  }
  static Dependency narrow(NodePtr parent) { return NarrowDependency{std::move(parent), {}}; }

  std::map<int32_t, int> calls_;

 private:
  int32_t next_ = 0, next_shuffle_ = 0;
};

TEST_F(NodeTest, PartitionsAreComputedOnce) {
  const auto source = node(3);
  EXPECT_EQ(source->partition_count(), 3);
  EXPECT_EQ(source->partition_count(), 3);
  EXPECT_EQ(&source->partitions(), &source->partitions());
  EXPECT_EQ(calls_[0], 1);
}

TEST_F(NodeTest, AThrowKeepsNothing) {
  int calls = 0;
  NodeSpec spec;
  spec.partitions = [&calls]() -> Partitions {
    if (++calls < 3) throw std::runtime_error("not yet");
    return Partitions(2);
  };
  const Node node(std::move(spec));
  EXPECT_THROW(static_cast<void>(node.partitions()), std::runtime_error);
  EXPECT_THROW(static_cast<void>(node.partition_count()), std::runtime_error);
  EXPECT_EQ(node.partition_count(), 2);
  EXPECT_EQ(calls, 3);
}

TEST_F(NodeTest, NodeWithoutPartitionFunctionHasNone) {
  const Node node{NodeSpec{}};
  EXPECT_EQ(node.partition_count(), 0);
}

TEST_F(NodeTest, PartitionsOfManyThreadsAreComputedOnce) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> calls{0};
    NodeSpec spec;
    spec.partitions = [&calls] {
      ++calls;
      return Partitions(1);
    };
    const auto shared = std::make_shared<const Node>(std::move(spec));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { compute_partitions(shared); });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(calls, 1);
  }
}

TEST_F(NodeTest, C2_5_ComputePartitionsOfAllAncestorsEachOnce) {
  const auto a = node(1);
  const auto b = node(1, {narrow(a), shuffle(a)});
  const auto c = node(1, {narrow(a), narrow(b), shuffle(b)});
  compute_partitions(c);
  compute_partitions(c);
  EXPECT_THAT(calls_, ElementsAre(std::pair(0, 1), std::pair(1, 1), std::pair(2, 1)));
}

TEST_F(NodeTest, C2_5_ThrowOfAnAncestorBehindAShuffleReachesTheCaller) {
  NodeSpec spec;
  spec.partitions = []() -> Partitions { throw std::domain_error("missing"); };
  const auto broken = std::make_shared<const Node>(std::move(spec));
  const auto last = node(1, {shuffle(broken)});
  EXPECT_THROW(compute_partitions(last), std::domain_error);
  EXPECT_EQ(calls_[0], 0);
}

TEST_F(NodeTest, MillionStepsAreBuiltComputedWalkedAndDestroyed) {
  NodePtr last = node(1);
  for (int i = 0; i < 1000000; ++i) {
    NodeSpec spec;
    spec.id = i + 1;
    spec.dependencies = {narrow(last)};
    spec.partitions = [parent = last] { return Partitions(parent->partitions().size()); };
    last = std::make_shared<const Node>(std::move(spec));
  }
  EXPECT_EQ(last->partition_count(), 1);
  EXPECT_EQ(parents_first(*last, Reach::stage).size(), 1000001u);
  EXPECT_THAT(direct_shuffles(last), IsEmpty());
  last.reset();
}

TEST_F(NodeTest, LongChainsOfShufflesAreDestroyed) {
  NodePtr last = node(1);
  std::weak_ptr<const Node> first = last;
  for (int i = 0; i < 200000; ++i) {
    ShuffleDependency dependency;
    dependency.parent = std::move(last);
    NodeSpec spec;
    spec.dependencies = {std::make_shared<const ShuffleDependency>(std::move(dependency))};
    last = std::make_shared<const Node>(std::move(spec));
  }
  EXPECT_EQ(parents_first(*last, Reach::lineage).size(), 200001u);
  last.reset();
  EXPECT_TRUE(first.expired());
}

TEST_F(NodeTest, SharedAncestorsOutliveOneChild) {
  auto source = node(2);
  auto left = node(2, {narrow(source)});
  auto right = node(2, {narrow(source)});
  const std::weak_ptr<const Node> weak = source;
  source.reset();
  left.reset();
  EXPECT_FALSE(weak.expired());
  EXPECT_EQ(weak.lock()->partition_count(), 2);
  right.reset();
  EXPECT_TRUE(weak.expired());
}

TEST_F(NodeTest, ParentsFirstOrderAndReach) {
  const auto a = node(1), b = node(1);
  const auto c = node(1, {narrow(a), narrow(b)});
  const auto d = node(1, {narrow(c), narrow(a), shuffle(b)});
  EXPECT_THAT(parents_first(*d, Reach::stage), ElementsAre(a.get(), b.get(), c.get(), d.get()));
  const auto e = node(1, {shuffle(d)});
  EXPECT_THAT(parents_first(*e, Reach::stage), ElementsAre(e.get()));
  EXPECT_THAT(parents_first(*e, Reach::lineage),
              ElementsAre(a.get(), b.get(), c.get(), d.get(), e.get()));
}

TEST_F(NodeTest, S004_085_DirectShufflesAreTheNearestEachOnce) {
  const auto far = shuffle(node(1));
  const auto near = shuffle(node(1, {far}));
  const auto reader = node(1, {near});
  const auto left = node(1, {narrow(reader)}), right = node(1, {narrow(reader)});
  const auto other = shuffle(node(1));
  EXPECT_THAT(direct_shuffles(node(1, {narrow(left), narrow(right), other, near})),
              ElementsAre(other, near));
  EXPECT_THAT(direct_shuffles(node(1, {narrow(left), narrow(node(1, {other}))})),
              ElementsAre(near, other));
}

TEST_F(NodeTest, C3_1_SelfZipThirtyTimesVisitsEachOnce) {
  NodePtr zipped = node(1, {shuffle(node(1))});
  for (int i = 0; i < 30; ++i) zipped = node(1, {narrow(zipped), narrow(zipped)});
  EXPECT_EQ(parents_first(*zipped, Reach::stage).size(), 31u);
  EXPECT_EQ(direct_shuffles(zipped).size(), 1u);
  EXPECT_EQ(zipped->partition_count(), 1);
  const std::string text = debug_string(*zipped);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 100);
}

TEST_F(NodeTest, NameFallsBackToTheOperationAndCanBeSet) {
  const auto unnamed = node(1);
  EXPECT_EQ(unnamed->name(), "map");
  unnamed->set_name("words");
  EXPECT_EQ(unnamed->name(), "words");
  EXPECT_EQ(node(1, {}, "text_file", "/data/x")->name(), "/data/x");
}

TEST_F(NodeTest, InfoOf) {
  const auto a = node(4);
  const auto b = node(4, {narrow(a)});
  const auto c = node(2, {narrow(b), shuffle(a)}, "join");
  c->set_level(StorageLevel::memory);
  const RddInfo info = info_of(*c);
  EXPECT_EQ(info.id, 2);
  EXPECT_EQ(info.name, "join");
  EXPECT_EQ(info.partitions, 2);
  EXPECT_THAT(info.parents, ElementsAre(1, 0));
  EXPECT_TRUE(info.cached);
  EXPECT_EQ(info.call_site.text(), "join at wc.cpp:12");
  c->set_level(StorageLevel::none);
  EXPECT_FALSE(info_of(*c).cached);
}

TEST_F(NodeTest, S004_053_DebugStringIndentsAtShuffles) {
  const auto text = node(2, {}, "text_file", "/data/words");
  const auto words = node(2, {narrow(text)}, "flat_map");
  const auto pairs = node(2, {narrow(words)}, "map");
  const auto counts = node(13, {shuffle(pairs, 13)}, "reduce_by_key");
  counts->set_level(StorageLevel::memory);
  const auto last = node(13, {narrow(counts)}, "filter");
  EXPECT_EQ(debug_string(*last),
            "(13) filter[4] at filter at wc.cpp:14 []\n"
            " |   reduce_by_key[3] at reduce_by_key at wc.cpp:13 [Memory Deserialized 1x "
            "Replicated]\n"
            " +-(2) map[2] at map at wc.cpp:12 []\n"
            "    |  flat_map[1] at flat_map at wc.cpp:11 []\n"
            "    |  /data/words text_file[0] at text_file at wc.cpp:10 []");
}

TEST_F(NodeTest, S004_053_DebugStringOfSeveralParents) {
  const auto left = node(2, {}, "parallelize"), right = node(3, {}, "range");
  const auto source = node(1, {}, "parallelize");
  const auto joined = node(2, {shuffle(left, 2), shuffle(right, 2), narrow(source)}, "join");
  EXPECT_EQ(debug_string(*node(2, {narrow(joined), narrow(left)}, "union_with")),
            "(2) union_with[4] at union_with at wc.cpp:14 []\n"
            " |  join[3] at join at wc.cpp:13 []\n"
            " +-(2) parallelize[0] at parallelize at wc.cpp:10 []\n"
            " +-(3) range[1] at range at wc.cpp:11 []\n"
            " |  parallelize[2] at parallelize at wc.cpp:12 []\n"
            " |  parallelize[0] at parallelize at wc.cpp:10 []");
}

TEST_F(NodeTest, DebugStringShowsSharedAncestorsOnce) {
  const auto source = node(1, {}, "range");
  const auto shared = node(1, {narrow(source)}, "map");
  const auto twice = node(1, {narrow(shared), narrow(shared)}, "zip");
  EXPECT_EQ(debug_string(*twice),
            "(1) zip[2] at zip at wc.cpp:12 []\n"
            " |  map[1] at map at wc.cpp:11 []\n"
            " |  range[0] at range at wc.cpp:10 []\n"
            " |  map[1] at map at wc.cpp:11 [] (parents: see above)");
}

TEST_F(NodeTest, DebugStringOfALongLineage) {
  NodePtr last = node(1);
  for (int i = 0; i < 100000; ++i) last = node(1, {narrow(last)});
  const std::string text = debug_string(*last);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 100000);
}

}  // namespace
}  // namespace tenon::rdd
