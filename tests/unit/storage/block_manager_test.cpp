#include "storage/block_manager.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

namespace tenon::storage {
namespace {

MapOutputPtr output(std::vector<std::string> blocks) {
  auto made = std::make_shared<MapOutput>();
  made->records.assign(blocks.size(), 1);
  made->blocks = std::move(blocks);
  return made;
}

BroadcastValue text_value(const std::string& text) {
  return {std::make_shared<const std::string>(text), text.size()};
}

std::string text_of(const std::shared_ptr<const void>& value) {
  return *static_cast<const std::string*>(value.get());
}

TEST(BlockManager, MapOutputsAreCountedApartAndGoWithTheirShuffle) {
  BlockManager blocks(100);
  blocks.put_map_output(1, 10, output({"abc", ""}));
  blocks.put_map_output(1, 11, output({"de", "f"}));
  blocks.put_map_output(2, 12, output({"g"}));
  EXPECT_EQ(blocks.map_output(1, 11)->blocks[1], "f");
  EXPECT_EQ(blocks.map_output(1, 12), nullptr);
  EXPECT_EQ(blocks.map_output(3, 10), nullptr);
  EXPECT_EQ(blocks.usage().map_outputs, 7U);
  EXPECT_EQ(blocks.memory().used_bytes(), 0U);
  const MapOutputPtr read = blocks.map_output(1, 10);
  blocks.remove_shuffle(1);
  blocks.remove_shuffle(1);
  EXPECT_EQ(blocks.map_output(1, 10), nullptr);
  EXPECT_EQ(blocks.map_output(1, 11), nullptr);
  EXPECT_EQ(blocks.map_output(2, 12)->blocks[0], "g");
  EXPECT_EQ(read->blocks[0], "abc");
  EXPECT_EQ(blocks.usage().map_outputs, 1U);
}

TEST(BlockManager, C11_3_AResultIsTakenOnce) {
  BlockManager blocks(100);
  blocks.put_result(5, "value");
  EXPECT_EQ(blocks.usage().results, 5U);
  EXPECT_EQ(blocks.take_result(6), std::nullopt);
  EXPECT_EQ(blocks.take_result(5), "value");
  EXPECT_EQ(blocks.take_result(5), std::nullopt);
  EXPECT_EQ(blocks.usage().results, 0U);
}

TEST(BlockManager, C15_1_OneCopyOfABroadcastForAllTasks) {
  BlockManager blocks(100);
  std::atomic<int> made{0};
  std::vector<std::shared_ptr<const void>> values(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < values.size(); ++i) {
    threads.emplace_back([&, i] {
      values[i] = blocks.broadcast(1, [&] {
        ++made;
        return text_value("table");
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  for (const auto& value : values) EXPECT_EQ(value, values[0]);
  EXPECT_EQ(text_of(values[0]), "table");
  EXPECT_EQ(blocks.usage().broadcasts, 5U);

  blocks.remove_broadcast(1);
  EXPECT_EQ(blocks.usage().broadcasts, 0U);
  EXPECT_EQ(text_of(values[0]), "table");  // who has it keeps it
  EXPECT_EQ(text_of(blocks.broadcast(1, [] { return text_value("anew"); })), "anew");
}

TEST(BlockManager, ABroadcastThatCannotBeMadeIsTriedAgain) {
  BlockManager blocks(100);
  EXPECT_THROW(static_cast<void>(blocks.broadcast(
                   1, []() -> BroadcastValue { throw std::runtime_error("gone"); })),
               std::runtime_error);
  EXPECT_EQ(text_of(blocks.broadcast(1, [] { return text_value("there"); })), "there");
  EXPECT_EQ(blocks.usage().broadcasts, 5U);
}

TEST(BlockManager, ABroadcastThatIsRemovedWhileItIsMadeIsNotCounted) {
  BlockManager blocks(100);
  const auto value = blocks.broadcast(1, [&] {
    blocks.remove_broadcast(1);
    return text_value("late");
  });
  EXPECT_EQ(text_of(value), "late");
  EXPECT_EQ(blocks.usage().broadcasts, 0U);
  EXPECT_EQ(text_of(blocks.broadcast(1, [] { return text_value("anew"); })), "anew");
}

}  // namespace
}  // namespace tenon::storage
