// Rdd::checkpoint() and local_checkpoint() (contract C15.11), end to end.
#include <thread>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using test::caught;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
namespace fs = std::filesystem;

std::atomic<int> computed{0};  // records

class CheckpointTest : public test::CountingTest {
 protected:
  CheckpointTest() { computed = 0; }
  // n partitions of 100 numbers, counted when they are computed.
  Rdd<int> numbers(int n) {
    return context().range(0, 100 * n, 1, n).map([](int i) {
      ++computed;
      return i * 2;
    });
  }
  static int computed_by(const std::function<void()>& act) {
    const int before = computed;
    act();
    return computed - before;
  }
  std::string checkpoints() const { return folder().path() + "/some/checkpoints"; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder().path())) {
      if (entry.is_regular_file()) all.push_back(entry.path());
    }
    std::sort(all.begin(), all.end());
    return all;
  }
};

TEST_F(CheckpointTest, C15_11_WithoutADirectoryItIsAnError) {
  const auto error = caught([&] { numbers(1).checkpoint(); });
  EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(error.text, HasSubstr("set_checkpoint_dir()"));
  const auto file = folder().write("file", "");
  EXPECT_EQ(caught([&] { context().set_checkpoint_dir(file + "/below"); }).kind,
            ErrorKind::input_output);
}

TEST_F(CheckpointTest, C15_11_WrittenAfterTheFirstJobThenReadInsteadOfTheLineage) {
  context().set_checkpoint_dir(checkpoints());
  const auto marked = numbers(3).checkpoint();
  const auto derived = marked.map([](int n) { return n + 1; });
  EXPECT_FALSE(marked.is_checkpointed());
  EXPECT_THAT(files(), SizeIs(0)) << "nothing before a job";
  start_counting();
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(derived.count(), 300U); }), 600)
      << "by the job, and by the one that writes";
  EXPECT_EQ(jobs_since(), 2U);
  EXPECT_TRUE(marked.is_checkpointed());
  EXPECT_THAT(files(), SizeIs(3));
  EXPECT_EQ(computed_by([&] {
              EXPECT_EQ(derived.reduce(std::plus<>{}), 299 * 300 + 300);
              EXPECT_EQ(marked.collect().at(150), 300);
              EXPECT_EQ(marked.partition_count(), 3);
            }),
            0);
  EXPECT_THAT(derived.to_debug_string(), AllOf(HasSubstr("checkpointed"), Not(HasSubstr("range"))))
      << "the lineage is cut";
}

TEST_F(CheckpointTest, C15_11_WithCacheItIsComputedOnce) {
  context().set_checkpoint_dir(checkpoints());
  const auto marked = numbers(3).cache().checkpoint();
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(marked.count(), 300U); }), 300);
  marked.unpersist();
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(marked.count(), 300U); }), 0);
}

TEST_F(CheckpointTest, C15_11_ThePartitionerIsKeptAndTheShuffleIsFreed) {
  context().set_checkpoint_dir(checkpoints());
  const auto sums = numbers(2)
                        .map([](int n) { return std::pair(n % 7, n); })
                        .reduce_by_key(std::plus<>{}, 3)
                        .checkpoint();
  const auto expected = sums.collect();
  EXPECT_TRUE(sums.is_checkpointed());
  EXPECT_EQ(sums.collect(), expected);
  start_counting();
  EXPECT_EQ(sums.reduce_by_key(std::plus<>{}, 3).count(), 7U);
  EXPECT_EQ(stages_since(), 1U) << "no shuffle, as it is partitioned already";
  detail::Driver& driver = *context().driver();
  EXPECT_TRUE(test::wait_until([&] {
    size_t shuffles = 1;
    driver.on_loop([&] { shuffles = driver.scheduling().map_outputs().shuffles(); });
    return shuffles == 0;
  }));
}

TEST_F(CheckpointTest, C15_11_AMissingOrDamagedFileIsAnErrorThatNamesIt) {
  context().set_checkpoint_dir(checkpoints());
  const auto marked = numbers(2).checkpoint();
  EXPECT_EQ(marked.count(), 200U);
  ASSERT_THAT(files(), SizeIs(2));
  std::fstream(files().at(1), std::ios::binary | std::ios::in | std::ios::out).seekp(20).put('!');
  EXPECT_THAT(caught([&] { static_cast<void>(marked.count()); }).text,
              AllOf(HasSubstr(files().at(1).string()), HasSubstr("damaged")));
  const std::string missing = files().at(1);
  fs::remove(missing);
  EXPECT_THAT(caught([&] { static_cast<void>(marked.count()); }).text, HasSubstr(missing));
  expect_usable();
}

TEST_F(CheckpointTest, C15_11_AWrongNumberOfPartsIsAnErrorAndTheLineageStays) {
  context().set_checkpoint_dir(checkpoints());
  const auto marked = numbers(2).checkpoint();
  const auto made = *fs::directory_iterator(checkpoints());
  const fs::path below = made.path() / ("rdd-" + std::to_string(marked.id()));
  fs::create_directories(below);
  std::ofstream(below / "part-00007") << "of somebody else";
  const auto error = caught([&] { static_cast<void>(marked.count()); });
  EXPECT_EQ(error.kind, ErrorKind::input_output);
  EXPECT_THAT(error.text, AllOf(HasSubstr("3 parts"), HasSubstr("2 partitions")));
  EXPECT_FALSE(marked.is_checkpointed());
  fs::remove(below / "part-00007");
  EXPECT_EQ(marked.count(), 200U);
  EXPECT_TRUE(marked.is_checkpointed()) << "it stayed marked";
}

TEST_F(CheckpointTest, SeveralInOneLineageAreMadeFromTheTopDown) {
  context().set_checkpoint_dir(checkpoints());
  const auto first = numbers(2).checkpoint();
  const auto second = first.map([](int n) { return n + 1; }).checkpoint();
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(second.count(), 200U); }), 400)
      << "the second is written from the files of the first";
  EXPECT_TRUE(first.is_checkpointed());
  EXPECT_TRUE(second.is_checkpointed());
  EXPECT_EQ(second.collect().at(3), 7);
}

TEST_F(CheckpointTest, JobsOfOtherThreadsGoOnWhileALineageIsCut) {
  context().set_checkpoint_dir(checkpoints());
  std::atomic<bool> stop{false};
  auto base = numbers(2);
  std::vector<std::jthread> others;
  for (int i = 0; i < 2; ++i) {
    others.emplace_back([&] {
      while (!stop) {
        EXPECT_EQ(base.map([](int n) { return n; }).count(), 200U);
        static_cast<void>(base.to_debug_string());
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    const auto marked = base.map([](int n) { return n; }).checkpoint();
    EXPECT_EQ(marked.count(), 200U);
    if (i == 5) {
      EXPECT_EQ(base.checkpoint().count(), 200U);
    }
  }
  EXPECT_TRUE(base.is_checkpointed());
  stop = true;
}

TEST_F(CheckpointTest, C15_11_LocalCheckpointKeepsPartitionsInExecutors) {
  start(conf()
            .set("tenon.local.dirs", folder().path())
            .set("tenon.memory.storageLimit", "100"));  // nothing fits
  const auto marked = numbers(3).local_checkpoint();
  EXPECT_EQ(marked.storage_level(), StorageLevel::memory_and_disk);
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(marked.count(), 300U); }), 300);
  EXPECT_TRUE(marked.is_checkpointed());
  EXPECT_THAT(files(), SizeIs(3));
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(marked.collect().at(150), 300); }), 0);
  EXPECT_THAT(marked.to_debug_string(), Not(HasSubstr("range")));
}

TEST_F(CheckpointTest, C15_11_AlsoOfWhatWasInMemoryAlone) {
  start(conf().set("tenon.local.dirs", folder().path()).set("tenon.memory.storageLimit", "2k"));
  const auto marked = numbers(3).cache();
  EXPECT_EQ(marked.count(), 300U);
  marked.local_checkpoint();
  EXPECT_EQ(marked.count(), 300U);
  const auto other = context().range(0, 350, 1, 1).cache();  // drives them out
  EXPECT_EQ(other.count(), 350U);
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(marked.collect().at(250), 500); }), 0);
}

TEST_F(CheckpointTest, C15_11_ALostPartOfALocalCheckpointIsAnErrorWithAdvice) {
  const auto marked = numbers(2).local_checkpoint();
  EXPECT_EQ(marked.count(), 200U);
  marked.unpersist();
  std::string text;
  // The executor hears of unpersist() a moment later.
  EXPECT_TRUE(test::wait_until([&] {
    try {
      static_cast<void>(marked.count());
      return false;
    } catch (const Error& error) {
      text = error.what();
      return true;
    }
  }));
  EXPECT_THAT(text, AllOf(HasSubstr("local checkpoint"), HasSubstr("checkpoint() with")));
  expect_usable();
}

}  // namespace
}  // namespace tenon
