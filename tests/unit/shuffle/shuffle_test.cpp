#include <atomic>
#include <future>
#include <thread>

#include "executor/attempt.hpp"
#include "shuffle/fetch_failed.hpp"
#include "shuffle/map_output_cache.hpp"
#include "shuffle/shuffle_reader.hpp"
#include "shuffle/shuffle_writer.hpp"

namespace tenon::shuffle {
namespace {

using namespace std::chrono_literals;

class FakeTask final : public TaskContext {
 public:
  FakeTask() = default;
  void kill() { killed_ = true; }
  TaskMetrics& metrics_of() { return metrics_; }
};

const task::BlockManagerId kHere{"1", "host-a", "inproc://1"};
const task::BlockManagerId kThere{"2", "host-b", "inproc://2"};

// Blocks of other executors by (map id, reduce).
class FakeTransfer final : public BlockTransfer {
 public:
  std::optional<FetchedBlock> fetch(const task::BlockManagerId& from, int32_t, uint64_t map_id,
                                    int32_t reduce) override {
    EXPECT_EQ(from, kThere);
    if (broken) throw std::runtime_error("connection refused");
    const auto found = blocks.find({map_id, reduce});
    if (found == blocks.end()) return std::nullopt;
    return FetchedBlock{{found->second, nullptr}, 1};
  }
  std::map<std::pair<uint64_t, int32_t>, std::string> blocks;
  bool broken = false;
};

struct Fixture {
  storage::BlockManager blocks{0};
  FakeTransfer transfer;
  FakeTask task;
  std::string executor_id = "1";
  std::vector<task::FetchFailed> failures;

  task::MapStatus write(uint64_t map_id, const std::vector<std::string>& records) {
    const auto writer =
        make_memory_shuffle_writer({5, 2, map_id}, kHere, blocks, task.metrics_of());
    for (const std::string& record : records) {
      writer->append(record[0] % 2, record, 1);
    }
    return writer->commit();
  }

  std::string read(int32_t reduce, std::vector<std::optional<task::MapStatus>> statuses) {
    auto outputs = std::make_shared<MapOutputs>();
    outputs->statuses = std::move(statuses);
    const auto input = make_shuffle_reader(
        5, reduce, outputs,
        {.blocks = blocks,
         .executor_id = executor_id,
         .transfer = &transfer,
         .task = task,
         .metrics = task.metrics_of(),
         .on_failure = [this](const task::FetchFailed& failure) { failures.push_back(failure); }});
    std::string text;
    while (const auto block = input->next()) text.append("(").append(block->bytes).append(")");
    return text;
  }

  task::FetchFailed failure_of(int32_t reduce,
                               std::vector<std::optional<task::MapStatus>> statuses) {
    try {
      read(reduce, std::move(statuses));
    } catch (const FetchFailedError& error) {
      EXPECT_EQ(failures.size(), 1U);
      EXPECT_EQ(failures.back().message, error.failure().message);
      return error.failure();
    }
    ADD_FAILURE() << "no fetch failure";
    return {};
  }
};

TEST(Shuffle, WhatIsWrittenIsReadByMapIndexWhateverTheOrderOfTheMaps) {
  Fixture f;
  // Written in the order of 12, 10, 11; '0' and '2' go to reduce 0, '1' and '3' to reduce 1.
  const auto third = f.write(12, {"3c", "0c"});
  const auto first = f.write(10, {"0a", "1a", "2a"});
  const auto second = f.write(11, {"1b"});
  EXPECT_EQ(first.sizes, (std::vector<uint64_t>{4, 2}));
  EXPECT_EQ(second.sizes, (std::vector<uint64_t>{0, 2}));
  EXPECT_EQ(first.location, kHere);
  EXPECT_EQ(first.map_id, 10U);
  EXPECT_EQ(f.read(0, {first, second, third}), "(0a2a)(0c)");
  EXPECT_EQ(f.read(1, {first, second, third}), "(1a)(1b)(3c)");
  EXPECT_EQ(f.task.metrics().shuffle_write_bytes, 12U);
  EXPECT_EQ(f.task.metrics().shuffle_write_records, 6U);
  EXPECT_EQ(f.task.metrics().shuffle_read_bytes, 12U);
  EXPECT_EQ(f.task.metrics().shuffle_read_records, 6U);
}

TEST(Shuffle, C16_4_AnOutputIsSeenWholeOrNotAtAll) {
  Fixture f;
  {
    const auto writer =
        make_memory_shuffle_writer({5, 2, 20}, kHere, f.blocks, f.task.metrics_of());
    writer->append(0, "half", 1);
    EXPECT_EQ(f.blocks.map_output(5, 20), nullptr);
  }
  EXPECT_EQ(f.blocks.map_output(5, 20), nullptr);
  EXPECT_EQ(f.blocks.usage().map_outputs, 0U);
  // Two attempts of the same map task at once.
  const auto one = make_memory_shuffle_writer({5, 2, 21}, kHere, f.blocks, f.task.metrics_of());
  const auto two = make_memory_shuffle_writer({5, 2, 22}, kHere, f.blocks, f.task.metrics_of());
  one->append(0, "A", 1);
  two->append(0, "B", 1);
  const auto second = two->commit();
  EXPECT_EQ(f.read(0, {second}), "(B)");
  const auto first = one->commit();
  EXPECT_EQ(f.read(0, {second}), "(B)");
  EXPECT_EQ(f.read(0, {first}), "(A)");
}

TEST(Shuffle, AReducePartitionThatDoesNotExistIsRefused) {
  Fixture f;
  for (const int32_t reduce : {-1, 2}) {
    const auto writer = make_memory_shuffle_writer({5, 2, 1}, kHere, f.blocks, f.task.metrics_of());
    try {
      writer->append(reduce, "x", 1);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
      EXPECT_THAT(error.what(), testing::HasSubstr(std::to_string(reduce)));
    }
  }
}

TEST(Shuffle, C16_2_AMissingStatusIsAFailureWithoutAnAddressAtOnce) {
  Fixture f;
  const auto first = f.write(10, {"0a"});
  const task::FetchFailed failure = f.failure_of(0, {first, std::nullopt});
  EXPECT_FALSE(failure.address);
  EXPECT_EQ(failure.shuffle_id, 5);
  EXPECT_EQ(failure.map_index, 1);
  EXPECT_EQ(failure.reduce_id, 0);
  EXPECT_EQ(f.task.metrics().shuffle_read_bytes, 0U);
}

TEST(Shuffle, AMissingBlockIsAFailureWithTheAddress) {
  Fixture f;
  task::MapStatus lost{kHere, {3, 0}, 99};
  const task::FetchFailed failure = f.failure_of(0, {lost});
  ASSERT_TRUE(failure.address);
  EXPECT_EQ(*failure.address, kHere);
  EXPECT_EQ(failure.map_id, 99);
  EXPECT_EQ(failure.map_index, 0);
  EXPECT_EQ(f.read(1, {lost}), "");  // an empty block is never fetched
}

TEST(Shuffle, BlocksOfOtherExecutorsComeByTheTransfer) {
  Fixture f;
  const auto here = f.write(10, {"0a"});
  const task::MapStatus there{kThere, {3, 0}, 30};
  f.transfer.blocks[{30, 0}] = "far";
  EXPECT_EQ(f.read(0, {there, here}), "(far)(0a)");
  f.transfer.broken = true;
  const task::FetchFailed failure = f.failure_of(0, {there, here});
  EXPECT_EQ(*failure.address, kThere);
  EXPECT_THAT(failure.message, testing::HasSubstr("connection refused"));
  EXPECT_THAT(failure.message, testing::HasSubstr("host-b"));
}

TEST(Shuffle, AKilledTaskReadsNoFurther) {
  Fixture f;
  const auto first = f.write(10, {"0a"});
  f.task.kill();
  EXPECT_THROW(f.read(0, {first}), executor::TaskKilledError);
}

MapOutputsPtr outputs_of(uint64_t epoch, bool complete) {
  auto outputs = std::make_shared<MapOutputs>();
  outputs->epoch = epoch;
  outputs->statuses.emplace_back(task::MapStatus{kHere, {1}, epoch});
  if (!complete) outputs->statuses.emplace_back();
  return outputs;
}

TEST(MapOutputCache, C16_1_AsksOnceAndAgainAfterANewEpoch) {
  std::vector<uint64_t> asked;
  MapOutputCache cache([&](int32_t, uint64_t epoch) {
    asked.push_back(epoch);
    return outputs_of(epoch, true);
  });
  const FakeTask task;
  EXPECT_EQ(cache.get(1, task)->epoch, 0U);
  EXPECT_EQ(cache.get(1, task)->epoch, 0U);
  EXPECT_EQ(asked, (std::vector<uint64_t>{0}));
  cache.advance_epoch(3);
  EXPECT_EQ(cache.get(1, task)->epoch, 3U);
  cache.advance_epoch(2);  // a task of an older set
  EXPECT_EQ(cache.get(1, task)->epoch, 3U);
  EXPECT_EQ(asked, (std::vector<uint64_t>{0, 3}));
  cache.remove_shuffle(1);
  static_cast<void>(cache.get(1, task));
  EXPECT_EQ(asked, (std::vector<uint64_t>{0, 3, 3}));
}

TEST(MapOutputCache, AnIncompleteOrOutdatedAnswerIsNotKept) {
  int asked = 0;
  bool complete = false;
  MapOutputCache* self = nullptr;
  MapOutputCache cache([&](int32_t, uint64_t epoch) {
    if (++asked == 2)
      self->advance_epoch(9);  // a task of a newer epoch comes while the driver answers
    return outputs_of(epoch, complete);
  });
  self = &cache;
  const FakeTask task;
  EXPECT_FALSE(cache.get(1, task)->statuses[1]);
  complete = true;
  EXPECT_EQ(cache.get(1, task)->epoch, 0U);
  EXPECT_EQ(cache.get(1, task)->epoch, 9U);
  EXPECT_EQ(cache.get(1, task)->epoch, 9U);
  EXPECT_EQ(asked, 3);
}

TEST(MapOutputCache, OneTaskAsksAndTheOthersWait) {
  std::promise<void> go;
  auto gate = go.get_future().share();
  std::atomic<int> asked{0};
  MapOutputCache cache([&](int32_t, uint64_t epoch) {
    ++asked;
    gate.wait();
    return outputs_of(epoch, true);
  });
  std::vector<std::future<uint64_t>> tasks;
  for (int i = 0; i < 4; ++i) {
    tasks.push_back(std::async(std::launch::async, [&] {
      const FakeTask task;
      return cache.get(1, task)->epoch;
    }));
  }
  while (asked == 0) std::this_thread::yield();
  FakeTask killed;
  auto waiting = std::async(std::launch::async, [&] { static_cast<void>(cache.get(1, killed)); });
  killed.kill();
  EXPECT_THROW(waiting.get(), executor::TaskKilledError);
  go.set_value();
  for (auto& task : tasks) EXPECT_EQ(task.get(), 0U);
  EXPECT_EQ(asked, 1);
}

TEST(MapOutputCache, WhatTheDriverThrowsGoesToTheTaskAndTheNextAsksAgain) {
  int asked = 0;
  MapOutputCache cache([&](int32_t, uint64_t epoch) {
    if (++asked == 1) throw Error(ErrorKind::unreachable, "no answer");
    return outputs_of(epoch, true);
  });
  const FakeTask task;
  EXPECT_THROW(static_cast<void>(cache.get(1, task)), Error);
  EXPECT_NE(cache.get(1, task), nullptr);
}

}  // namespace
}  // namespace tenon::shuffle
