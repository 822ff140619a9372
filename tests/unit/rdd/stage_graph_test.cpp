#include "rdd/stage_graph.hpp"

#include <gmock/gmock.h>

#include <random>

#include "tenon/error.hpp"

namespace tenon::rdd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

NodePtr node(int32_t id, Partitions partitions, std::vector<Dependency> dependencies = {},
             Operator op = {1, "op"}) {
  NodeSpec spec;
  spec.id = id;
  spec.call_site = {"map", "/x/y.cpp", static_cast<uint32_t>(id)};
  spec.op = std::move(op);
  spec.dependencies = std::move(dependencies);
  spec.partitions = [partitions = std::move(partitions)] { return partitions; };
  return std::make_shared<const Node>(std::move(spec));
}

Dependency narrow(NodePtr parent, std::function<std::vector<int32_t>(int32_t)> parents_of = {}) {
  return NarrowDependency{std::move(parent), std::move(parents_of)};
}

ShufflePtr shuffle(int32_t id, NodePtr parent, int32_t reduces) {
  ShuffleDependency dependency;
  dependency.shuffle_id = id;
  dependency.parent = std::move(parent);
  dependency.reduces = reduces;
  dependency.writer = {77, std::string("wri\0ter", 7)};
  return std::make_shared<const ShuffleDependency>(std::move(dependency));
}

Partitions with_data(std::vector<std::string> data) {
  Partitions partitions(data.size());
  for (size_t i = 0; i < data.size(); ++i) partitions[i].data = std::move(data[i]);
  return partitions;
}

const StageHeader kHeader{"app-7", "2", 3, 4, {{"key", "value"}, {"k2", ""}}};

NodePtr sample() {
  const auto source = node(5, with_data({"a", "b"}), {}, {11, std::string("\0\xff", 2)});
  const auto reader = node(6, Partitions(2), {shuffle(8, node(4, Partitions(9)), 2)});
  reader->set_name("read");
  const auto both = node(7, Partitions(2), {narrow(source), narrow(reader), narrow(source)});
  both->set_keeper({12, {}});
  both->set_level(StorageLevel::memory);
  return both;
}

TEST(StageGraph, ResultStageRoundTrip) {
  const StageGraph graph = decode_stage_graph(encode_stage(kHeader, sample(), {99, "act"}));
  EXPECT_EQ(graph.header.app_id, "app-7");
  EXPECT_EQ(graph.header.app_attempt_id, "2");
  EXPECT_EQ(graph.header.stage_id, 3);
  EXPECT_EQ(graph.header.stage_attempt, 4);
  EXPECT_THAT(graph.header.properties, ElementsAre(Pair("k2", ""), Pair("key", "value")));
  ASSERT_EQ(graph.nodes.size(), 3u);  // nothing above the shuffle
  EXPECT_EQ(graph.nodes[0].id, 5);
  EXPECT_EQ(graph.nodes[0].op.id, 11u);
  EXPECT_EQ(graph.nodes[0].op.bytes, std::string("\0\xff", 2));
  EXPECT_EQ(graph.nodes[0].call_site, "map at y.cpp:5");
  EXPECT_EQ(graph.nodes[0].name, "map");
  EXPECT_TRUE(graph.nodes[0].dependencies.empty());
  EXPECT_EQ(graph.nodes[1].name, "read");
  ASSERT_EQ(graph.nodes[1].dependencies.size(), 1u);
  const auto& edge = std::get<ShuffleEdge>(graph.nodes[1].dependencies[0]);
  EXPECT_EQ(edge.shuffle_id, 8);
  EXPECT_EQ(edge.reduces, 2);
  EXPECT_EQ(graph.nodes[2].id, 7);
  EXPECT_EQ(graph.nodes[2].partitions, 2);
  EXPECT_EQ(graph.nodes[2].level, StorageLevel::memory);
  EXPECT_EQ(graph.nodes[2].keeper.id, 12U);
  EXPECT_EQ(graph.nodes[1].level, StorageLevel::none);
  ASSERT_EQ(graph.nodes[2].dependencies.size(), 3u);
  EXPECT_EQ(std::get<NarrowEdge>(graph.nodes[2].dependencies[0]).parent, 0u);
  EXPECT_EQ(std::get<NarrowEdge>(graph.nodes[2].dependencies[1]).parent, 1u);
  EXPECT_EQ(std::get<NarrowEdge>(graph.nodes[2].dependencies[2]).parent, 0u);
  EXPECT_EQ(std::get<ActionStep>(graph.last_step).action.id, 99u);
  EXPECT_EQ(std::get<ActionStep>(graph.last_step).action.bytes, "act");
}

TEST(StageGraph, MapStageRoundTrip) {
  const auto dependency = shuffle(12, sample(), 6);
  const StageGraph graph = decode_stage_graph(encode_stage(kHeader, *dependency));
  EXPECT_EQ(graph.nodes.back().id, 7);
  const auto& step = std::get<ShuffleWriteStep>(graph.last_step);
  EXPECT_EQ(step.shuffle_id, 12);
  EXPECT_EQ(step.reduces, 6);
  EXPECT_EQ(step.writer.id, 77u);
  EXPECT_EQ(step.writer.bytes, std::string("wri\0ter", 7));
}

TEST(StageGraph, UnknownOperatorsAreRefused) {
  const auto known = [](uint64_t id) { return id != 11; };
  try {
    static_cast<void>(encode_stage(kHeader, sample(), {99, ""}, known));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::codec);
    EXPECT_THAT(error.message(), HasSubstr("Rdd 5 (map at y.cpp:5) (id 11)"));
  }
  EXPECT_THROW(static_cast<void>(encode_stage(kHeader, sample(), {0, ""})), Error);
  const auto no_writer = [](uint64_t id) { return id != 77; };
  EXPECT_THROW(static_cast<void>(encode_stage(kHeader, *shuffle(1, sample(), 1), no_writer)),
               Error);
}

TEST(StageGraph, DecoderRefusesEveryCut) {
  const std::string bytes = encode_stage(kHeader, sample(), {99, "act"});
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_THROW(static_cast<void>(decode_stage_graph(std::string_view(bytes).substr(0, cut))),
                 Error)
        << cut;
  }
  EXPECT_THROW(static_cast<void>(decode_stage_graph(bytes + "x")), Error);
}

TEST(StageGraph, DecoderSurvivesEveryFlip) {
  const std::string bytes = encode_stage(kHeader, sample(), {99, "act"});
  std::mt19937 random(3);
  for (int i = 0; i < 30000; ++i) {
    std::string bad = bytes;
    for (int flips = 1 + i % 4; flips > 0; --flips) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    try {
      const StageGraph graph = decode_stage_graph(bad);
      ASSERT_FALSE(graph.nodes.empty());
      for (size_t n = 0; n < graph.nodes.size(); ++n) {
        for (const StageEdge& edge : graph.nodes[n].dependencies) {
          const auto* parent = std::get_if<NarrowEdge>(&edge);
          ASSERT_TRUE(parent == nullptr || parent->parent < n);
        }
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::codec);
    }
  }
}

TEST(StageGraph, DecoderTakesNoMemoryForPromises) {
  const std::string header("\x97\x01\xa0\xa0\x00\x00\x80", 7);
  EXPECT_THROW(
      static_cast<void>(decode_stage_graph(header + std::string("\xce\xff\xff\xff\xff", 5))),
      Error);
  EXPECT_THROW(static_cast<void>(decode_stage_graph(header + std::string("\x00", 1))),
               Error);  // no node
  EXPECT_THROW(static_cast<void>(decode_stage_graph(std::string("\xdd\xff\xff\xff\xff", 5))),
               Error);
  EXPECT_THROW(static_cast<void>(decode_stage_graph(std::string(100000, '\x91'))),
               Error);  // nested
  EXPECT_THROW(
      static_cast<void>(decode_stage_graph(std::string("\x97\x02\xa0\xa0\x00\x00\x80\x01", 8))),
      Error);
}

TEST(PartitionData, OneToOneChain) {
  const auto source = node(5, with_data({"zero", "", std::string(300, 'x')}));
  const auto last = node(7, Partitions(3), {narrow(node(6, Partitions(3), {narrow(source)}))});
  const PartitionDataEncoder encoder(last);
  const auto first = encoder.encode(0);
  ASSERT_NE(first, nullptr);
  const PartitionData data(*first);
  EXPECT_EQ(data.size(), 1u);
  EXPECT_EQ(data.find(5, 0), "zero");
  EXPECT_EQ(data.find(5, 1), "");
  EXPECT_EQ(data.find(6, 0), "");
  EXPECT_EQ(encoder.encode(1), nullptr);
  EXPECT_EQ(PartitionData(*encoder.encode(2)).find(5, 2), std::string(300, 'x'));
  EXPECT_LT(first->size(), 10u);
}

TEST(PartitionData, NothingToRead) {
  EXPECT_EQ(partition_data(node(1, Partitions(2)), 1), nullptr);
  const auto reader = node(2, Partitions(2), {shuffle(1, node(1, with_data({"a"})), 2)});
  EXPECT_EQ(partition_data(reader, 0), nullptr);  // what lies behind a shuffle is another stage's
  EXPECT_EQ(PartitionData(std::string_view()).size(), 0u);
  EXPECT_EQ(PartitionData(std::string_view()).find(1, 1), "");
}

TEST(PartitionData, ManyParentsEachOnce) {
  const auto left = node(1, with_data({"l0", "l1"})),
             right = node(2, with_data({"r0", "r1", "r2"}));
  const auto all =
      node(5, Partitions(5),
           {narrow(left, [](int32_t p) { return p < 2 ? std::vector{p} : std::vector<int32_t>{}; }),
            narrow(right,
                   [](int32_t p) { return p < 2 ? std::vector<int32_t>{} : std::vector{p - 2}; })});
  const auto mapped = node(6, Partitions(5), {narrow(all)});
  const auto few = node(7, with_data({"own", "own"}), {narrow(mapped, [](int32_t p) {
                          return p == 0 ? std::vector{0, 1, 2, 0} : std::vector{3, 4};
                        })});
  const auto bytes = partition_data(few, 0);
  const PartitionData data(*bytes);
  EXPECT_EQ(data.size(), 4u);
  EXPECT_EQ(data.find(7, 0), "own");
  EXPECT_EQ(data.find(1, 0), "l0");
  EXPECT_EQ(data.find(1, 1), "l1");
  EXPECT_EQ(data.find(2, 0), "r0");
  EXPECT_EQ(data.find(2, 1), "");
  EXPECT_EQ(PartitionData(*partition_data(few, 1)).find(2, 2), "r2");
}

TEST(PartitionData, BadPartitionsThrow) {
  const auto source = node(1, with_data({"a"}));
  EXPECT_THROW(static_cast<void>(partition_data(source, 1)), std::out_of_range);
  EXPECT_THROW(static_cast<void>(partition_data(source, -1)), std::out_of_range);
  const auto wide = node(2, Partitions(2), {narrow(source)});
  EXPECT_THROW(static_cast<void>(partition_data(wide, 1)), std::out_of_range);
  const auto wrong =
      node(3, Partitions(1), {narrow(source, [](int32_t) { return std::vector{9}; })});
  EXPECT_THROW(static_cast<void>(partition_data(wrong, 0)), std::out_of_range);
}

TEST(PartitionData, DecoderRefusesCutsAndSurvivesFlips) {
  const auto source = node(5, with_data({"zero"}));
  const std::string bytes = *partition_data(node(6, with_data({"own"}), {narrow(source)}), 0);
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    try {
      EXPECT_LT(PartitionData(std::string_view(bytes).substr(0, cut)).size(), 2u);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::codec);
    }
  }
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = bytes;
    bad[random() % bad.size()] = static_cast<char>(random());
    try {
      const PartitionData data(bad);
      EXPECT_LE(data.size(), bad.size());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::codec);
    }
  }
}

}  // namespace
}  // namespace tenon::rdd
