// Rdd::persist() at each storage level (contract C15.2 to C15.8), end to end.
#include "api/api_fixture.hpp"
#include "executor/attempt.hpp"
#include "executor/task_services.hpp"

namespace tenon {
namespace {

using test::caught;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
namespace fs = std::filesystem;

std::atomic<int> computed{0};  // records

constexpr StorageLevel kLevels[] = {StorageLevel::memory, StorageLevel::memory_serialized,
                                    StorageLevel::disk, StorageLevel::memory_and_disk,
                                    StorageLevel::memory_and_disk_serialized};

class PersistTest : public test::ApiTest {
 protected:
  PersistTest() { computed = 0; }
  Conf local(const std::string& limit = "100m") const {
    return conf().set("tenon.local.dirs", folder().path()).set("tenon.memory.storageLimit", limit);
  }
  // n partitions of 100 records of about 1000 bytes, counted when they are computed.
  Rdd<std::string> texts(int n) {
    return context().range(0, 100 * n, 1, n).map([](int i) {
      ++computed;
      return std::string(1000, static_cast<char>('a' + i % 26));
    });
  }
  static int computed_by(const std::function<void()>& act) {
    const int before = computed;
    act();
    return computed - before;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder().path())) {
      if (entry.is_regular_file()) all.push_back(entry.path());
    }
    return all;
  }
  context::Services::Usage usage() { return context().driver()->scheduling().services().usage(); }
};

TEST_F(PersistTest, C15_2_EachLevelComputesOnceAndGivesTheSame) {
  start(local());
  const auto expected = texts(3).collect();
  for (const StorageLevel level : kLevels) {
    const auto kept = texts(3).persist(level);
    EXPECT_EQ(kept.storage_level(), level);
    EXPECT_EQ(computed_by([&] { EXPECT_EQ(kept.collect(), expected); }), 300) << to_string(level);
    EXPECT_EQ(computed_by([&] { EXPECT_EQ(kept.collect(), expected); }), 0) << to_string(level);
    EXPECT_EQ(files().size(), level == StorageLevel::disk ? 3U : 0U) << to_string(level);
    EXPECT_EQ(usage().cached > 0, uses_memory(level)) << to_string(level);
    kept.unpersist();
    EXPECT_TRUE(test::wait_until([&] { return usage().cached == 0 && files().empty(); }))
        << to_string(level);
    EXPECT_EQ(computed_by([&] { EXPECT_EQ(kept.collect(), expected); }), 300) << to_string(level);
  }
}

TEST_F(PersistTest, C15_2_RecordsWithoutBytesAndViews) {
  start(local());
  const auto file = folder().write("lines.txt", "one\ntwo\nthree\n");
  for (const StorageLevel level : kLevels) {
    const auto nothing =
        context().range(0, 5000, 1, 2).map([](int) { return std::monostate(); }).persist(level);
    const auto lines = context()
                           .text_file<std::string_view>(file)
                           .map([](std::string_view line) { return std::pair(line, line.size()); })
                           .persist(level);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(nothing.count(), 5000U) << to_string(level);
      EXPECT_EQ(lines.collect(),
                (std::vector<std::pair<std::string, size_t>>{{"one", 3}, {"two", 3}, {"three", 5}}))
          << to_string(level);
    }
  }
}

TEST_F(PersistTest, SerializedTakesLessMemory) {
  start(local());
  const auto pairs = [this] {
    return context().range(0, 20'000, 1, 1).map([](int n) {
      return std::pair(n, std::optional(static_cast<int8_t>(n)));
    });
  };
  const auto objects = pairs().persist(StorageLevel::memory);
  EXPECT_EQ(objects.count(), 20'000U);
  const uint64_t as_objects = usage().cached;
  const auto bytes = pairs().persist(StorageLevel::memory_serialized);
  EXPECT_EQ(bytes.count(), 20'000U);
  const uint64_t as_bytes = usage().cached - as_objects;
  EXPECT_LT(as_bytes, as_objects);
  EXPECT_GT(as_bytes, 20'000U * 6) << "every byte counts against the limit";
}

TEST_F(PersistTest, C15_2_ALevelCannotBeChangedUntilUnpersist) {
  const auto kept = texts(1).persist(StorageLevel::disk);
  EXPECT_EQ(kept.persist(StorageLevel::disk).storage_level(), StorageLevel::disk);
  for (const auto& change : {std::function<void()>([&] { kept.cache(); }),
                             std::function<void()>([&] { kept.persist(StorageLevel::memory); })}) {
    const auto error = caught(change);
    EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
    EXPECT_THAT(error.text,
                AllOf(HasSubstr(" is disk "), HasSubstr(" to memory;"), HasSubstr("unpersist()")));
  }
  EXPECT_EQ(caught([&] { kept.persist(StorageLevel::none); }).kind, ErrorKind::invalid_argument);
  EXPECT_EQ(kept.storage_level(), StorageLevel::disk);
  EXPECT_EQ(kept.unpersist().storage_level(), StorageLevel::none);
  EXPECT_EQ(kept.cache().storage_level(), StorageLevel::memory);
  EXPECT_THAT(kept.to_debug_string(), HasSubstr("[Memory Deserialized 1x Replicated]"));
}

TEST_F(PersistTest, C15_4_WhatDoesNotFitIsOnDiskAndNothingIsComputedAgain) {
  start(local("250k"));  // two partitions of about 115 kB
  for (const StorageLevel level :
       {StorageLevel::memory_and_disk, StorageLevel::memory_and_disk_serialized}) {
    const auto kept = texts(6).persist(level);
    EXPECT_EQ(kept.count(), 600U);
    EXPECT_THAT(files(), SizeIs(4)) << to_string(level);
    EXPECT_EQ(computed_by([&] { EXPECT_EQ(kept.count(), 600U); }), 0) << to_string(level);
    kept.unpersist();
    EXPECT_TRUE(test::wait_until([&] { return usage().cached == 0 && files().empty(); }));
  }
}

TEST_F(PersistTest, C15_4_AnEvictedPartitionIsWrittenToDisk) {
  start(local("250k"));
  const auto first = texts(2).persist(StorageLevel::memory_and_disk);
  const auto expected = first.collect();
  EXPECT_THAT(files(), IsEmpty());
  const auto second = texts(2).persist(StorageLevel::memory);
  EXPECT_EQ(second.count(), 200U);
  EXPECT_THAT(files(), SizeIs(2)) << "of the first one";
  EXPECT_LE(usage().cached, 250U << 10);
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(first.collect(), expected); }), 0);
  EXPECT_EQ(computed_by([&] { static_cast<void>(second.count()); }), 0);
}

TEST_F(PersistTest, C15_8_AMissingOrDamagedFileIsComputedAgain) {
  start(local());
  const auto kept = texts(3).persist(StorageLevel::disk);
  const auto expected = kept.collect();
  ASSERT_THAT(files(), SizeIs(3));
  fs::remove(files().at(0));
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(kept.collect(), expected); }), 100);
  EXPECT_THAT(files(), SizeIs(3));
  std::fstream(files().at(0), std::ios::binary | std::ios::in | std::ios::out).seekp(5000).put('!');
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(kept.collect(), expected); }), 100);
  EXPECT_EQ(computed_by([&] { EXPECT_EQ(kept.collect(), expected); }), 0);
}

TEST_F(PersistTest, FilesGoWithTheApplicationAndWithTheLastHandle) {
  start(local());
  {
    const auto kept = texts(2).persist(StorageLevel::disk);
    EXPECT_EQ(kept.count(), 200U);
    EXPECT_THAT(files(), SizeIs(2));
  }
  EXPECT_TRUE(test::wait_until([&] { return files().empty(); }));
  const auto kept = texts(2).persist(StorageLevel::disk);
  EXPECT_EQ(kept.count(), 200U);
  EXPECT_THAT(files(), SizeIs(2));
  context().stop();
  EXPECT_TRUE(fs::is_empty(folder().path()));
}

TEST_F(PersistTest, ADiskThatRefusesMakesTheJobNoWorse) {
  start(conf().set("tenon.local.dirs", folder().path() + "/is not there"));
  const auto kept = texts(2).persist(StorageLevel::disk);
  EXPECT_EQ(kept.count(), 200U);
  EXPECT_EQ(kept.count(), 200U);
}

TEST_F(PersistTest, C15_3_AFailedPartitionLeavesNoFile) {
  start(local());
  static std::atomic<bool> fail;
  fail = true;
  for (const StorageLevel level : kLevels) {
    fail = true;
    const auto kept = context()
                          .range(0, 5000, 1, 1)
                          .map([](int n) {
                            if (fail && n == 4000) throw std::runtime_error("in the middle");
                            return n;
                          })
                          .persist(level);
    EXPECT_EQ(caught([&] { static_cast<void>(kept.count()); }).kind, ErrorKind::job_failed);
    // What the level before left goes a moment after its last handle.
    EXPECT_TRUE(test::wait_until([&] { return files().empty(); })) << to_string(level);
    fail = false;
    EXPECT_EQ(kept.count(), 5000U);
  }
}

}  // namespace
}  // namespace tenon
