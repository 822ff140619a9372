#include "storage/disk_store.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fakes.hpp"
#include "storage/memory_store.hpp"

namespace tenon::storage {
namespace {

using namespace testing;  // NOLINT: the fakes of this folder
using ::testing::ElementsAre;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

class Disk : public ::testing::Test {
 protected:
  Disk() {
    std::string name = fs::temp_directory_path() / "tenon-disk-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) parent_ = name;
    store_ = std::make_shared<DiskStore>(std::vector<std::string>{parent_});
  }
  ~Disk() override {
    std::error_code ignored;
    fs::remove_all(parent_, ignored);
  }

  bool write(RddBlockId id, std::string_view text) {
    return store_->write(id, [&](const detail::ByteSink& sink) { sink(text); });
  }
  static std::string text_of(const detail::CachedPtr& block) {
    if (!block) return "nothing";
    return std::string(dynamic_cast<const detail::EncodedPartition&>(*block).records());
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(parent_)) {
      if (entry.is_regular_file()) all.push_back(entry.path());
    }
    return all;
  }

  std::string parent_;
  std::shared_ptr<DiskStore> store_;
};

TEST_F(Disk, WhatIsWrittenIsRead) {
  EXPECT_EQ(store_->read({1, 0}), nullptr);
  EXPECT_TRUE(write({1, 0}, "some records"));
  EXPECT_TRUE(write({1, 1}, ""));
  EXPECT_EQ(text_of(store_->read({1, 0})), "some records");
  EXPECT_EQ(text_of(store_->read({1, 1})), "");
  EXPECT_EQ(store_->used_bytes(), 12U + 2 * 8U) << "with two checksums";
}

TEST_F(Disk, AllFilesGoWithTheStore) {
  EXPECT_TRUE(write({1, 0}, "one"));
  const detail::CachedPtr held = store_->read({1, 0});
  store_.reset();
  EXPECT_TRUE(fs::is_empty(parent_));
  EXPECT_EQ(text_of(held), "one") << "what is being read stays readable";
}

TEST_F(Disk, C15_7_AnRddIsRemovedAlone) {
  EXPECT_TRUE(write({1, 0}, "one"));
  EXPECT_TRUE(write({2, 0}, "two"));
  EXPECT_THAT(store_->remove_rdd(1), ElementsAre(RddBlockId{1, 0}));
  EXPECT_EQ(store_->read({1, 0}), nullptr);
  EXPECT_EQ(text_of(store_->read({2, 0})), "two");
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(Disk, C15_8_AMissingFileIsForgotten) {
  EXPECT_TRUE(write({1, 0}, "one"));
  fs::remove(files().at(0));
  EXPECT_EQ(store_->read({1, 0}), nullptr);
  EXPECT_FALSE(store_->contains({1, 0}));
}

TEST_F(Disk, C15_8_ADamagedFileIsForgotten) {
  for (const bool shorten : {true, false}) {
    EXPECT_TRUE(write({1, 0}, std::string(1000, 'x')));
    const fs::path file = files().at(0);
    if (shorten) {
      fs::resize_file(file, 5);
    } else {
      std::fstream(file, std::ios::binary | std::ios::in | std::ios::out).seekp(500).put('y');
    }
    EXPECT_EQ(store_->read({1, 0}), nullptr) << shorten;
    EXPECT_FALSE(store_->contains({1, 0}));
    EXPECT_THAT(files(), IsEmpty());
  }
}

TEST_F(Disk, ADiskThatRefusesKeepsNothing) {
  DiskStore nowhere({parent_ + "/is not there"});
  EXPECT_FALSE(nowhere.write({1, 0}, [](const detail::ByteSink& sink) { sink("one"); }));
  EXPECT_EQ(nowhere.read({1, 0}), nullptr);
  DiskStore second({parent_ + "/is not there", parent_});
  EXPECT_TRUE(second.write({1, 0}, [](const detail::ByteSink& sink) { sink("one"); }));
}

TEST_F(Disk, WhatTheProgramThrowsGoesOnAndLeavesNothing) {
  EXPECT_THROW(store_->write({1, 0},
                             [](const detail::ByteSink& sink) {
                               sink("one");
                               throw std::runtime_error("of the program");
                             }),
               std::runtime_error);
  EXPECT_EQ(store_->read({1, 0}), nullptr);
  EXPECT_THAT(files(), IsEmpty());
}

// ------------------------------------------------------------------------------- behind memory

TEST_F(Disk, T183_C15_4_WhatIsDrivenOutOfMemoryGoesToDisk) {
  std::vector<BlockUpdate> news;
  MemoryStore memory(200, [&](const BlockUpdate& update) { news.push_back(update); }, store_);
  EXPECT_TRUE(memory.put({1, 0}, partition(100), Overflow::to_disk));
  EXPECT_TRUE(memory.put({2, 0}, partition(100)));
  EXPECT_TRUE(memory.put({3, 0}, partition(100)));
  EXPECT_TRUE(memory.put({4, 0}, partition(100)));
  EXPECT_EQ(memory.used_bytes(), 200U);
  EXPECT_TRUE(store_->contains({1, 0}));
  EXPECT_FALSE(store_->contains({2, 0})) << "memory alone";
  const FakeTask task;
  auto found = memory.get_or_claim({1, 0}, task);
  ASSERT_TRUE(std::holds_alternative<detail::CachedPtr>(found));
  EXPECT_EQ(text_of(std::get<detail::CachedPtr>(found)), std::string(100, 'x'));
  std::vector<std::pair<int, bool>> seen;
  for (const BlockUpdate& update : news) seen.emplace_back(update.id.rdd, update.stored);
  EXPECT_THAT(seen, ElementsAre(std::pair(1, true), std::pair(2, true), std::pair(3, true),
                                std::pair(1, true), std::pair(2, false), std::pair(4, true)))
      << "the one that moved was never reported lost";
}

TEST_F(Disk, C15_5_WhatHasNoRoomGoesToDiskAndEvictsNothing) {
  MemoryStore memory(200, nullptr, store_);
  EXPECT_TRUE(memory.put({1, 0}, partition(150)));
  const FakeTask task;
  for (const Overflow overflow : {Overflow::drop, Overflow::to_disk}) {
    auto found = memory.get_or_claim({2, 0}, task);
    const auto read = std::get<MemoryStore::Claim>(found).store(partition(300, 7), overflow);
    EXPECT_EQ(value_of(read), 7);
    EXPECT_EQ(store_->contains({2, 0}), overflow == Overflow::to_disk);
  }
  EXPECT_EQ(memory.used_bytes(), 150U);
  EXPECT_NE(memory.get({1, 0}), nullptr);
}

TEST_F(Disk, C15_8_ALostFileIsComputedAgain) {
  std::vector<bool> stored;
  MemoryStore memory(
      200, [&](const BlockUpdate& update) { stored.push_back(update.stored); }, store_);
  const FakeTask task;
  const auto write_it = [&] {
    auto found = memory.get_or_claim({1, 0}, task);
    ASSERT_TRUE(std::holds_alternative<MemoryStore::Claim>(found));
    EXPECT_EQ(text_of(std::get<MemoryStore::Claim>(found).store_on_disk(
                  [](const detail::ByteSink& sink) { sink("one"); })),
              "one");
  };
  write_it();
  EXPECT_EQ(memory.used_bytes(), 0U);
  fs::remove(files().at(0));
  write_it();
  EXPECT_THAT(stored, ElementsAre(true, false, true));
}

TEST_F(Disk, C15_7_RemovedWhileItIsComputedIsNotKept) {
  MemoryStore memory(200, nullptr, store_);
  const FakeTask task;
  auto found = memory.get_or_claim({1, 0}, task);
  EXPECT_EQ(std::get<MemoryStore::Claim>(found).store_on_disk([&](const detail::ByteSink& sink) {
    sink("one");
    memory.remove_rdd(1);
  }),
            nullptr);
  EXPECT_FALSE(store_->contains({1, 0}));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Disk, ReportAllNamesFilesToo) {
  std::vector<RddBlockId> news;
  MemoryStore memory(100, [&](const BlockUpdate& update) { news.push_back(update.id); }, store_);
  EXPECT_TRUE(memory.put({1, 0}, partition(100), Overflow::to_disk));
  EXPECT_TRUE(memory.put({2, 0}, partition(100)));
  news.clear();
  memory.report_all();
  EXPECT_THAT(news, ::testing::UnorderedElementsAre(RddBlockId{1, 0}, RddBlockId{2, 0}));
}

}  // namespace
}  // namespace tenon::storage
