// save_as_text_file: what stands in the files, and what is left of a save that fails.
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using test::caught;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SaveTest : public test::CountingTest {
 protected:
  [[nodiscard]] std::string out() const { return folder().path() + "/some/where/out"; }
  // Names below a folder.
  static std::vector<std::string> names(const std::string& directory) {
    std::vector<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(directory))
      all.push_back(entry.path().lexically_relative(directory));
    std::sort(all.begin(), all.end());
    return all;
  }
  [[nodiscard]] std::string part(int n) const {
    return test::ScratchFolder::read(out() + "/part-0000" + std::to_string(n));
  }
};

TEST_F(SaveTest, OneFileAPartitionAndSuccess) {
  context().range(0, 5, 1, 3).save_as_text_file(out());
  EXPECT_THAT(names(out()), ElementsAre("_SUCCESS", "part-00000", "part-00001", "part-00002"));
  EXPECT_EQ(part(0), "0\n");
  EXPECT_EQ(part(1), "1\n2\n");
  EXPECT_EQ(part(2), "3\n4\n");
  EXPECT_EQ(fs::file_size(out() + "/_SUCCESS"), 0u);
  EXPECT_THAT(context().text_file(out()).collect(), ElementsAre("0", "1", "2", "3", "4"))
      << "_SUCCESS is no input";
}

TEST_F(SaveTest, EmptyPartitionsHaveFilesToo) {
  context().parallelize(std::vector<std::string>{"x"}, 2).save_as_text_file(out());
  EXPECT_THAT(names(out()), ElementsAre("_SUCCESS", "part-00000", "part-00001"));
  EXPECT_EQ(part(0) + part(1), "x\n");
}

TEST_F(SaveTest, RecordsAsText) {
  const auto one = [&](auto record) {
    fs::remove_all(out());
    context().parallelize(std::vector{record}, 1).save_as_text_file(out());
    return part(0);
  };
  EXPECT_EQ(one(std::string("any bytes \xff\0x", 13)), std::string("any bytes \xff\0x\n", 14));
  EXPECT_EQ(one(int64_t{-9223372036854775807 - 1}), "-9223372036854775808\n");
  EXPECT_EQ(one(uint8_t{200}), "200\n");
  EXPECT_EQ(one('c'), "c\n");
  EXPECT_EQ(one(true), "true\n");
  EXPECT_EQ(one(0.1), "0.1\n");
  EXPECT_EQ(one(1e300), "1e+300\n");
  EXPECT_EQ(one(std::pair(std::string("k"), 1)), "(k,1)\n");
  EXPECT_EQ(one(std::tuple(1, std::pair(std::string("a b"), 2.5), false)), "(1,(a b,2.5),false)\n");
}

TEST_F(SaveTest, ManyRecordsAndViews) {
  const std::string path = folder().write("in", "a b\nc\n");
  context().text_file<std::string_view>(path, 1).flat_map(fn<words>).save_as_text_file(out());
  EXPECT_EQ(part(0), "a\nb\nc\n");
  fs::remove_all(out());
  context().range(0, 200'000, 1, 1).save_as_text_file(out());
  std::string expected;
  for (int i = 0; i < 200'000; ++i) expected += std::to_string(i) + "\n";
  EXPECT_TRUE(part(0) == expected);
}

TEST_F(SaveTest, AnExistingDirectoryIsRefusedBeforeAnyTask) {
  fs::create_directories(out());
  folder().write("some/where/out/mine", "keep");
  folder().write("file", "keep");
  fs::create_symlink("nowhere", folder().path() + "/link");
  expect_usable();
  start_counting();
  for (const std::string& path : {out(), folder().path() + "/file", folder().path() + "/link"}) {
    const auto error = caught([&] { context().range(0, 5).save_as_text_file(path); });
    EXPECT_EQ(error.kind, ErrorKind::input_output);
    EXPECT_THAT(error.text, AllOf(HasSubstr(path), HasSubstr("it exists already")));
  }
  EXPECT_EQ(jobs_since(), 0u);
  EXPECT_THAT(names(out()), ElementsAre("mine"));
  EXPECT_TRUE(fs::exists(folder().path() + "/file"));
  const auto below =
      caught([&] { context().range(0, 5).save_as_text_file(folder().path() + "/file/out"); });
  EXPECT_EQ(below.kind, ErrorKind::input_output);
  EXPECT_THAT(below.text, HasSubstr("Not a directory"));
  EXPECT_THAT(caught([&] { context().range(0, 5).save_as_text_file(""); }).text,
              HasSubstr("output directory cannot be written: its name is empty"));
  expect_usable();
}

TEST_F(SaveTest, AFailedJobLeavesNothing) {
  const auto error = caught([&] {
    context()
        .range(0, 10, 1, 5)
        .map([](int n) -> int {
          if (n == 9) throw std::runtime_error("boom");
          return n;
        })
        .save_as_text_file(out());
  });
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_FALSE(fs::exists(folder().path() + "/some")) << "neither the folders above it";
  context().range(0, 10).save_as_text_file(out());
  EXPECT_TRUE(fs::exists(out() + "/_SUCCESS"));
}

TEST_F(SaveTest, AMissingInputLeavesNothing) {
  const auto error =
      caught([&] { context().text_file(folder().path() + "/missing").save_as_text_file(out()); });
  EXPECT_EQ(error.kind, ErrorKind::input_output);
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(SaveTest, ARetriedTaskWritesItsPartOnce) {
  start(conf("local[2,4]"));
  context()
      .range(0, 10, 1, 2)
      .map([](int n) {
        if (n % 5 == 4 && TaskContext::current()->attempt() < 2)
          throw std::runtime_error("late in the partition");
        return n;
      })
      .save_as_text_file(out());
  EXPECT_THAT(names(out()), ElementsAre("_SUCCESS", "part-00000", "part-00001"));
  EXPECT_EQ(part(0), "0\n1\n2\n3\n4\n");
  EXPECT_EQ(part(1), "5\n6\n7\n8\n9\n");
}

// C9.5: what stands where a task's output is to be stands there for the next attempt too.
TEST_F(SaveTest, C9_5_AnOutputThatExistsIsNotTriedAgain) {
  start(conf("local[2,4]"));
  static std::string directory;
  directory = out();
  const auto error = caught([&] {
    context()
        .range(0, 4, 1, 1)
        .map([](int n) {
          fs::create_directories(directory + "/_temporary/part-00000");
          return n;
        })
        .save_as_text_file(out());
  });
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_THAT(error.text,
              AllOf(HasSubstr(out() + "/_temporary/part-00000 cannot be committed: Is a directory"),
                    HasSubstr("not retrying")));
  static_cast<void>(events<event::JobEnd>(1));
  EXPECT_THAT(events<event::TaskStart>(), ::testing::SizeIs(1));
  EXPECT_FALSE(fs::exists(out()));
  expect_usable();
}

TEST_F(SaveTest, AFolderThatGoesAwayFailsTheJob) {
  static std::string directory;
  directory = out();
  const auto error = caught([&] {
    context()
        .range(0, 4, 1, 2)
        .map([](int n) {
          fs::remove_all(directory);
          return n;
        })
        .save_as_text_file(out());
  });
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_THAT(error.text, HasSubstr(out()));
  EXPECT_FALSE(fs::exists(out()));
  expect_usable();
}

// A limit on the size of files stands for the full disk: write() fails in the middle of a part.
TEST_F(SaveTest, AFullDiskFailsTheJobAndLeavesNothing) {
  struct rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = before;
  small.rlim_cur = 1'000'000;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto error = caught([&] { context().range(0, 1'000'000, 1, 2).save_as_text_file(out()); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_THAT(error.text, AllOf(HasSubstr(out()), HasSubstr("cannot be written: File too large")));
  EXPECT_FALSE(fs::exists(out()));
  context().range(0, 1'000'000, 1, 2).save_as_text_file(out());
  EXPECT_EQ(context().text_file(out()).count(), 1'000'000u);
}

}  // namespace
}  // namespace tenon
