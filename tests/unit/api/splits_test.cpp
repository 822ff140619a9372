// Which files text_file means, how they are cut, and which lines come out.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "api/api_fixture.hpp"
#include "rdd/input_files.hpp"

namespace tenon::rdd {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What getline with \n and a cut of \r makes of a text.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t at = text.find('\n');
    const bool ended = at != std::string_view::npos;
    std::string_view line = text.substr(0, at);
    if (ended && line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(ended ? at + 1 : text.size());
  }
  return lines;
}

std::string random_text(std::mt19937_64& random) {
  static constexpr std::string_view kPieces[] = {"\n",    "\r\n", "\r",   "a",
                                                 "word ", "\xff", "\n\n", "longer piece of a line"};
  std::string text;
  for (size_t n = random() % 40; n > 0; --n) text += kPieces[random() % std::size(kPieces)];
  return text;
}

class TextLines : public test::ApiTest {
 protected:
  // The lines that come out of splits, in their order.
  std::vector<std::string> read(const std::string& path, int32_t splits) {
    return context().text_file(path, splits).collect();
  }
  std::vector<std::string> read_views(const std::string& path, int32_t splits) {
    return context().text_file<std::string_view>(path, splits).collect();
  }
};

TEST_F(TextLines, S004_032_AnySplitSizeGivesTheSameLines) {
  std::mt19937_64 random(23);
  for (int i = 0; i < 60; ++i) {
    const std::string text = random_text(random);
    const std::string path = folder().write("text", text);
    const auto expected = lines_of(text);
    for (const size_t splits : {size_t{1}, size_t{2}, 1 + random() % 9, text.size() + 1}) {
      ASSERT_EQ(read(path, static_cast<int32_t>(splits)), expected)
          << splits << " splits of " << ::testing::PrintToString(text);
    }
    ASSERT_EQ(read_views(path, static_cast<int32_t>(1 + random() % 9)), expected);
  }
}

TEST_F(TextLines, SeveralFilesKeepTheirLinesApart) {
  std::mt19937_64 random(24);
  for (int i = 0; i < 30; ++i) {
    std::vector<std::string> expected, paths;
    for (size_t f = 0; f < 1 + random() % 8; ++f) {
      const std::string text = random_text(random);
      paths.push_back(folder().write("file" + std::to_string(f), text));
      const auto lines = lines_of(text);
      expected.insert(expected.end(), lines.begin(), lines.end());
    }
    ASSERT_EQ(context().text_file(paths, static_cast<int32_t>(1 + random() % 12)).collect(),
              expected);
  }
}

TEST_F(TextLines, LongLinesReachOverManySplits) {
  const std::string line(300'000, 'x');
  const std::string path = folder().write("long", "first\n" + line + "\nlast");
  EXPECT_THAT(read(path, 50), ElementsAre("first", line, "last"));
  EXPECT_EQ(context().text_file(path, 50).partition_count(), 50);
}

TEST_F(TextLines, AFileThatShrinksOrGoesAwayIsAnErrorThatNamesIt) {
  const std::string path =
      folder().write("text", std::string(1000, 'x') + "\n" + std::string(1000, 'y'));
  auto lines = context().text_file(path, 2);
  EXPECT_EQ(lines.partition_count(), 2);
  fs::remove(path);
  try {
    static_cast<void>(lines.count());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::job_failed);
    EXPECT_THAT(error.what(), HasSubstr(path));
    EXPECT_THAT(error.what(), HasSubstr("No such file"));
    EXPECT_THAT(error.what(), HasSubstr("text_file at "));
  }
  folder().write("text", "short\n");
  EXPECT_THAT(lines.collect(), ElementsAre("short"));
}

// ------------------------------------------------------------------------------- splits

TEST(MakeSplits, CoverEachByteOnceInOrder) {
  std::mt19937_64 random(25);
  for (int i = 0; i < 500; ++i) {
    std::vector<InputFile> files;
    for (size_t f = random() % 6; f > 0; --f)
      files.push_back({"f" + std::to_string(f), random() % 5 == 0 ? 0 : random() % 5000});
    const uint64_t least = 1 + random() % 20, most_bytes = 1 + random() % 2000;
    std::map<std::string, uint64_t> covered;
    std::vector<std::string> order;
    const auto splits = make_splits(files, {.min_splits = least, .max_bytes = most_bytes});
    for (const auto& split : splits) {
      ASSERT_FALSE(split.empty());
      uint64_t bytes = 0;
      for (const FileRange& range : split) {
        ASSERT_GT(range.length, 0u);
        ASSERT_EQ(covered[range.path], range.offset);
        covered[range.path] += range.length;
        bytes += range.length;
        if (order.empty() || order.back() != range.path) order.push_back(range.path);
      }
      ASSERT_LE(bytes, most_bytes + most_bytes / 10);
    }
    std::vector<std::string> expected_order;
    uint64_t total = 0;
    for (const InputFile& file : files) {
      ASSERT_EQ(covered[file.path], file.size);
      if (file.size != 0) expected_order.push_back(file.path);
      total += file.size;
    }
    ASSERT_EQ(order, expected_order);
    if (files.size() == 1 && total >= 20 * least) {
      ASSERT_GE(splits.size(), least) << total << " bytes";
    }
  }
}

TEST(MakeSplits, SmallFilesShareOne) {
  std::vector<InputFile> files;
  for (int i = 0; i < 10'000; ++i) files.push_back({std::to_string(i).append("f"), 20});
  EXPECT_EQ(make_splits(files, {.min_splits = 2, .max_bytes = uint64_t{32} << 20}).size(), 2u);
}

TEST(MakeSplits, TravelAsBytes) {
  const std::vector<FileRange> split{{"a", 0, 7}, {"b,c \xff", uint64_t{1} << 40, 300}};
  const auto back = decode_split(encode_split(split));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[1].path, split[1].path);
  EXPECT_EQ(back[1].offset, split[1].offset);
  EXPECT_EQ(back[1].length, split[1].length);
  EXPECT_THROW(static_cast<void>(decode_split("\5ab")), Error);
}

// ------------------------------------------------------------------------------- paths

class InputFiles : public ::testing::Test {
 protected:
  // Names relative to the folder, joined with blanks.
  std::string list(const std::string& paths) { return names(list_input_files(in_folder(paths))); }
  std::string names(const std::vector<InputFile>& files) {
    std::string all;
    for (const InputFile& file : files) {
      all += (all.empty() ? "" : " ") + (file.path.starts_with(folder_.path())
                                             ? file.path.substr(folder_.path().size() + 1)
                                             : file.path);
    }
    return all;
  }
  std::string in_folder(const std::string& paths) {
    std::string all = folder_.path() + "/";
    for (const char c : paths) {
      all.push_back(c);
      if (c == ',') all += folder_.path() + "/";
    }
    return all;
  }
  static std::string refusal(const std::function<void()>& act) {
    try {
      act();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input_output);
      return error.what();
    }
    return "no error";
  }

  ScratchFolder folder_;
};

TEST_F(InputFiles, FoldersAreWalkedInOrderWithoutHiddenNames) {
  for (const char* name : {"d/b.txt", "d/a.txt", "d/sub/z", "d/sub/deep/y", "d/.hidden",
                           "d/_SUCCESS", "d/_logs/x", "d/.git/x", "d/c"}) {
    folder_.write(name, "text");
  }
  EXPECT_EQ(list("d"), "d/a.txt d/b.txt d/c d/sub/deep/y d/sub/z");
  EXPECT_EQ(list("d/"), "d/a.txt d/b.txt d/c d/sub/deep/y d/sub/z");
  EXPECT_EQ(list("d/_logs"), "d/_logs/x") << "a folder that was asked for by name";
  EXPECT_EQ(list("d/.hidden"), "d/.hidden");
}

TEST_F(InputFiles, Globs) {
  for (const char* name : {"a1", "a2", "b1", ".a3", "_a4", "sub/a5", "x[1]"})
    folder_.write(name, "text");
  EXPECT_EQ(list("a*"), "a1 a2");
  EXPECT_EQ(list("?1"), "a1 b1");
  EXPECT_EQ(list("[!a]1"), "b1");
  EXPECT_EQ(list("*/a*"), "sub/a5");
  EXPECT_EQ(list("*"), "a1 a2 b1 sub/a5 x[1]");
  EXPECT_EQ(list("_*"), "_a4");
  EXPECT_EQ(list(".a*"), ".a3");
  EXPECT_EQ(list("x[1]"), "x[1]") << "a name that exists is no glob";
}

TEST_F(InputFiles, CommaLists) {
  for (const char* name : {"a", "b", "c,d", "{x"}) folder_.write(name, "text");
  EXPECT_EQ(list("b,a"), "b a") << "in the order given";
  EXPECT_EQ(names(list_input_files(folder_.path() + "/c,d")), "c,d")
      << "a name that exists is no list";
  EXPECT_EQ(names(list_input_files(
                std::vector<std::string>{folder_.path() + "/c,d", folder_.path() + "/a"})),
            "c,d a");
}

TEST_F(InputFiles, RefusalsNameThePath) {
  folder_.write("a", "text");
  EXPECT_THAT(refusal([&] { list("a,missing"); }),
              HasSubstr(folder_.path() + "/missing: No such file"));
  EXPECT_THAT(refusal([&] { list("none*"); }), HasSubstr("none*: matches no file"));
  EXPECT_THAT(refusal([&] { std::ignore = list_input_files(""); }),
              HasSubstr("input path is empty"));
  EXPECT_THAT(refusal([&] { std::ignore = list_input_files(folder_.path() + "/a,,"); }),
              HasSubstr("input path is empty"));
  EXPECT_THAT(refusal([&] { std::ignore = list_input_files(std::vector<std::string>()); }),
              HasSubstr("no input path"));
  EXPECT_THAT(refusal([&] { std::ignore = list_input_files("/dev/null"); }),
              HasSubstr("/dev/null: is neither a file nor a folder"));
  EXPECT_THAT(refusal([&] {
                std::ignore = list_input_files(std::vector<std::string>{folder_.path() + "/a,b"});
              }),
              HasSubstr("a,b: No such file"));
  fs::create_symlink("nowhere", folder_.path() + "/link");
  EXPECT_THAT(refusal([&] { list("link"); }), HasSubstr("/link: No such file"));
  if (::geteuid() != 0) {
    ::chmod((folder_.path() + "/a").c_str(), 0);
    EXPECT_THAT(refusal([&] { list("a"); }), HasSubstr("/a: Permission denied"));
  }
}

TEST_F(InputFiles, LinksInARingEnd) {
  folder_.write("d/file", "text");
  fs::create_directory_symlink("..", folder_.path() + "/d/up");
  EXPECT_EQ(list("d"), "d/file");
}

}  // namespace
}  // namespace tenon::rdd
