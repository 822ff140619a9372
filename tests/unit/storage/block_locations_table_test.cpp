#include "storage/block_locations_table.hpp"

namespace tenon::storage {
namespace {

std::string text(const BlockLocationsTable& table, int32_t rdd, int32_t partitions) {
  std::string out;
  for (const auto& locations : table.locations(rdd, partitions)) {
    out += "[";
    for (const task::Location& location : locations) {
      out += location.executor_id + "@" + location.host + " ";
    }
    out += "]";
  }
  return out;
}

TEST(BlockLocationsTable, KnowsWhoHoldsWhat) {
  BlockLocationsTable table;
  table.add_executor("1", "a");
  table.add_executor("2", "b");
  table.update("2", {{7, 0}, true, 10});
  table.update("1", {{7, 0}, true, 10});
  table.update("1", {{7, 0}, true, 10});
  table.update("1", {{7, 2}, true, 10});
  table.update("1", {{8, 5}, true, 10});
  EXPECT_EQ(text(table, 7, 3), "[2@b 1@a ][][1@a ]");
  EXPECT_EQ(text(table, 8, 3), "[][][]");  // a partition out of range is left out
  EXPECT_EQ(text(table, 9, 1), "[]");
  table.update("2", {{7, 0}, false, 10});
  table.update("2", {{7, 1}, false, 10});
  EXPECT_EQ(text(table, 7, 3), "[1@a ][][1@a ]");
}

TEST(BlockLocationsTable, ForgetsExecutorsAndRdds) {
  BlockLocationsTable table;
  table.add_executor("1", "a");
  table.add_executor("2", "b");
  table.update("1", {{7, 0}, true, 10});
  table.update("2", {{7, 0}, true, 10});
  table.update("2", {{8, 0}, true, 10});
  table.remove_executor("1");
  EXPECT_EQ(text(table, 7, 1), "[2@b ]");
  table.update("1", {{7, 0}, true, 10});  // it comes too late
  EXPECT_EQ(text(table, 7, 1), "[2@b ]");
  table.remove_rdd(7);
  EXPECT_EQ(text(table, 7, 1), "[]");
  table.remove_executor("2");
  EXPECT_TRUE(table.empty());
}

TEST(BlockLocationsTable, LeavesNothingWhenTheLastBlockGoes) {
  BlockLocationsTable table;
  table.add_executor("1", "a");
  table.update("1", {{7, 0}, true, 10});
  EXPECT_FALSE(table.empty());
  table.update("1", {{7, 0}, false, 10});
  EXPECT_TRUE(table.empty());
}

}  // namespace
}  // namespace tenon::storage
