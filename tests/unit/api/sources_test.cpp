// Input files other than plain lines: compressed, whole, binary, with offsets.
#include <cstdlib>
#include <random>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using test::caught;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class SourcesTest : public test::ApiTest {
 protected:
  // Lines that a compressor finds something in, `lines` of them.
  static std::string text(int lines, uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    std::string all;
    for (int i = 0; i < lines; ++i) all += "line " + std::to_string(random() % 100'000) + "\n";
    return all;
  }
  static std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
      lines.emplace_back(text.substr(0, text.find('\n')));
      text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
    }
    return lines;
  }
  void run(const std::string& command) const {
    ASSERT_EQ(std::system(("cd '" + folder().path() + "' && " + command).c_str()), 0) << command;
  }
  [[nodiscard]] std::string at(const std::string& name) const {
    return folder().path() + "/" + name;
  }
};

// UR-81: a gzip file may hold several members.
TEST_F(SourcesTest, UR_81_CompressedFilesAreReadToTheEndOfTheLastMember) {
  const std::string one = text(60'000), two = text(40'000, 2);
  folder().write("one", one);
  folder().write("two", two);
  const auto expected = lines_of(one + two);
  for (const auto& [compress, ending] :
       {std::pair("gzip -c", ".gz"), {"zstd -qc", ".zst"}, {"lz4 -qc", ".lz4"}}) {
    run(std::string(compress) + " one > both" + ending + " && " + compress + " two >> both" +
        ending);
    const auto rdd = context().text_file(at(std::string("both") + ending), 4);
    EXPECT_EQ(rdd.partition_count(), 1) << "one split";
    EXPECT_EQ(rdd.collect(), expected) << ending;
  }
}

TEST_F(SourcesTest, CompressedAndPlainFilesTogether) {
  folder().write("in/a.txt", "1\n2\n");
  folder().write("b", "3\n4");
  folder().write("c", "");
  run("gzip -c b > in/b.gz; zstd -qc c > in/c.zst; lz4 -qc b > in/d.lz4");
  EXPECT_THAT(context().text_file(at("in")).collect(), ElementsAre("1", "2", "3", "4", "3", "4"));
  EXPECT_THAT(context().text_file<std::string_view>(at("in")).count(), 6u);
}

TEST_F(SourcesTest, ADamagedOrCutCompressedFileFailsTheJobAndIsNamed) {
  folder().write("text", text(50'000));
  for (const auto& [compress, ending] :
       {std::pair("gzip -c", ".gz"), {"zstd -qc", ".zst"}, {"lz4 -qc", ".lz4"}}) {
    const std::string name = std::string("all") + ending;
    run(std::string(compress) + " text > " + name);
    const std::string whole = test::ScratchFolder::read(at(name));
    const auto refused = [&](const std::string& bytes, const std::string& why) {
      const std::string bad = folder().write(std::string("bad") + ending, bytes);
      const auto error = caught([&] { (void)context().text_file(bad).count(); });
      EXPECT_EQ(error.kind, ErrorKind::job_failed) << ending;
      EXPECT_THAT(error.text, AllOf(HasSubstr(bad), HasSubstr("cannot be decompressed"),
                                    HasSubstr(why), HasSubstr("text_file at ")));
    };
    refused(whole.substr(0, whole.size() / 2), "it ends in the middle");
    refused(whole.substr(0, 5), "it ends in the middle");
    std::string damaged = whole;
    for (size_t i = 1000; i < 1100; ++i) damaged[i] = static_cast<char>(damaged[i] ^ 0x5a);
    refused(damaged, "");
    refused("this is plain text", "");
    refused(whole + "rubbish at the end", "");
  }
  expect_usable();
}

TEST_F(SourcesTest, S004_135_LinesWithTheirOffsets) {
  const std::string all = "one\r\n\ntwo\n" + text(20'000) + "no end";
  const std::string path = folder().write("text", all);
  for (const int32_t partitions : {1, 2, 7}) {
    const auto records = context().text_file_with_offsets(path, partitions).collect();
    ASSERT_THAT(records, SizeIs(20'004));
    uint64_t expected = 0;
    for (const auto& [offset, line] : records) {
      ASSERT_EQ(offset, expected);
      ASSERT_EQ(all.compare(offset, line.size(), line), 0);
      expected = all.find('\n', offset) + 1;
    }
  }
  run("gzip -k text");
  EXPECT_EQ(context().text_file_with_offsets(path + ".gz").collect(),
            context().text_file_with_offsets(path).collect());
}

TEST_F(SourcesTest, WholeTextFiles) {
  folder().write("in/a", "first\nfile");
  folder().write("in/empty", "");
  folder().write("in/sub/b", std::string("\0\xff\n", 3));
  folder().write("in/_hidden", "no");
  folder().write("big", text(100'000));
  run("gzip -c big > in/big.gz");
  const auto files = context().whole_text_files(at("in"), 3);
  EXPECT_THAT(files.collect(),
              UnorderedElementsAre(Pair(at("in/a"), "first\nfile"), Pair(at("in/empty"), ""),
                                   Pair(at("in/sub/b"), std::string("\0\xff\n", 3)),
                                   Pair(at("in/big.gz"), text(100'000))));
  EXPECT_EQ(context().whole_text_files(at("big"), 10).partition_count(), 1) << "never cut";
  EXPECT_THAT(caught([&] { (void)context().whole_text_files(at("none")).count(); }).text,
              HasSubstr(at("none") + ": No such file"));
}

struct Sample {
  int64_t at;
  double value;
};

TEST_F(SourcesTest, BinaryRecords) {
  std::string bytes;
  for (int64_t i = 0; i < 5000; ++i) {
    const Sample sample{i, static_cast<double>(i) / 4};
    bytes.append(reinterpret_cast<const char*>(&sample), sizeof sample);
  }
  const std::string path = folder().write("in/samples", bytes);
  folder().write("in/more", bytes.substr(0, 32));
  folder().write("in/none", "");
  for (const int32_t partitions : {1, 3, 8}) {
    const auto samples = context().binary_records<Sample>(path, partitions);
    EXPECT_EQ(samples.partition_count(), partitions);
    int64_t expected = 0;
    for (const Sample& sample : samples.collect()) {
      ASSERT_EQ(sample.at, expected);
      ASSERT_EQ(sample.value, static_cast<double>(expected++) / 4);
    }
    EXPECT_EQ(expected, 5000);
  }
  const auto records = context().binary_records(at("in"), 16).collect();
  ASSERT_THAT(records, SizeIs(5002));
  EXPECT_EQ(records[2], bytes.substr(0, 16)) << "'more' comes first";
}

TEST_F(SourcesTest, BinaryRecordsThatAreNone) {
  const std::string path = folder().write("odd", "12345");
  const auto zero = caught([&] { (void)context().binary_records(path, 0); });
  EXPECT_EQ(zero.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(zero.text, HasSubstr("binary_records: the size of a record must be above 0"));
  const auto odd = caught([&] { (void)context().binary_records(path, 4).count(); });
  EXPECT_EQ(odd.kind, ErrorKind::input_output);
  EXPECT_THAT(odd.text, HasSubstr(path + ": its size of 5 bytes is no multiple of the record's 4"));
  const auto packed = folder().write("records.gz", "1234");
  EXPECT_THAT(caught([&] { (void)context().binary_records(packed, 4).count(); }).text,
              HasSubstr("compressed files cannot be read as binary records"));
  const auto shrinking = context().binary_records(folder().write("shrinks", "12345678"), 4);
  EXPECT_EQ(shrinking.partition_count(), 2);
  folder().write("shrinks", "1234");
  EXPECT_THAT(caught([&] { (void)shrinking.count(); }).text,
              HasSubstr("has become shorter since it was listed"));
}

TEST_F(SourcesTest, Empty) {
  const auto none = context().empty<std::string>();
  EXPECT_EQ(none.partition_count(), 0);
  EXPECT_THAT(none.collect(), IsEmpty());
  EXPECT_TRUE(none.is_empty());
  EXPECT_EQ(none.union_with(context().parallelize(std::vector<std::string>{"a"}, 1)).count(), 1u);
}

}  // namespace
}  // namespace tenon
