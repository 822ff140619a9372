// csv_file: rows, headers, splits, and what is refused. What is expected was made by the csv module
// of Python where it is more than a line.
#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using test::caught;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Fields = std::vector<std::string>;

class CsvTest : public test::ApiTest {
 protected:
  std::vector<Fields> rows(const std::string& path, const CsvOptions& options = {},
                           int32_t partitions = 0) {
    return context()
        .csv_file(path, options, partitions)
        .map([](const CsvRow& row) {
          Fields fields;
          for (size_t i = 0; i < row.size(); ++i) fields.emplace_back(row[i]);
          return fields;
        })
        .collect();
  }
  std::string refused(const std::string& text, const CsvOptions& options = {},
                      int32_t partitions = 0) {
    const std::string path = folder().write("bad.csv", text);
    const auto error = caught([&] { (void)context().csv_file(path, options, partitions).count(); });
    EXPECT_EQ(error.kind, ErrorKind::job_failed);
    EXPECT_THAT(error.text,
                AllOf(HasSubstr("input file " + path + ", line "), HasSubstr("csv_file at ")));
    expect_usable();
    return error.text;
  }
  void run(const std::string& command) const {
    ASSERT_EQ(std::system(("cd '" + folder().path() + "' && " + command).c_str()), 0) << command;
  }
};

TEST_F(CsvTest, RowsAsPythonReadsThem) {
  const std::string path = folder().write(
      "in.csv",
      "id,name,\"a, b\",note\r\n1,\"O\"\"Brien, Jr.\", leading and trailing ,\r\n"
      "2,\"\",\"\"\"quoted\"\"\",x\n\n\n3,\"comma,inside\",\"tab\there\",\"end\"\n"
      "4,\u00e4\u00f6\u00fc,\u65e5,\"\u20ac\"\n5,,,\n6,\"a\",b,\"last line without end\"");
  const std::vector<Fields> expected = {{"id", "name", "a, b", "note"},
                                        {"1", "O\"Brien, Jr.", " leading and trailing ", ""},
                                        {"2", "", "\"quoted\"", "x"},
                                        {"3", "comma,inside", "tab\there", "end"},
                                        {"4", "\u00e4\u00f6\u00fc", "\u65e5", "\u20ac"},
                                        {"5", "", "", ""},
                                        {"6", "a", "b", "last line without end"}};
  for (const int32_t partitions : {1, 2, 5}) {
    EXPECT_EQ(rows(path, {}, partitions), expected) << partitions;
  }
  EXPECT_EQ(rows(path, {.multi_line = true}), expected);
  run("gzip -k in.csv; zstd -q in.csv");
  EXPECT_EQ(rows(path + ".gz"), expected);
  EXPECT_EQ(rows(path + ".zst"), expected);
}

TEST_F(CsvTest, OtherDelimitersAndQuotes) {
  EXPECT_EQ(rows(folder().write("a", "a\t'b\tc'\t\"d\"\n"), {.delimiter = '\t', .quote = '\''}),
            (std::vector<Fields>{{"a", "b\tc", "\"d\""}}));
  EXPECT_EQ(rows(folder().write("b", "x;1,5\n;\n"), {.delimiter = ';'}),
            (std::vector<Fields>{{"x", "1,5"}, {"", ""}}));
  EXPECT_EQ(rows(folder().write("c", "one\n\"\"\n\r\ntwo\rthree\r")),
            (std::vector<Fields>{{"one"}, {""}, {"two"}, {"three"}}))
      << "a line may end in a carriage return alone";
}

TEST_F(CsvTest, FieldsByTheNameInTheHeader) {
  folder().write("in/a.csv", "\xEF\xBB\xBFname,age\nAda,36\n");
  folder().write("in/b.csv", "\n\nage,name\n41,Alan\n");
  folder().write("in/c.csv", "age,name\n");
  folder().write("in/d.csv", "");
  const auto people = context().csv_file(folder().path() + "/in", {.header = true});
  EXPECT_THAT(people.map([](const CsvRow& row) { return std::string(row["name"]); }).collect(),
              ElementsAre("Ada", "Alan"));
  EXPECT_EQ(people.map([](const CsvRow& row) { return row.get<int>("age"); }).sum(), 77);
  const CsvRow first = people.first();
  EXPECT_THAT(first.names(), ElementsAre("name", "age"));
  EXPECT_TRUE(first.has("age"));
  EXPECT_FALSE(first.has("Age"));
}

TEST_F(CsvTest, EverySplitKnowsTheHeader) {
  std::string text = "\nnumber,text\n";
  for (int i = 0; i < 20'000; ++i)
    text += std::to_string(i) + ",\"x, " + std::to_string(i) + "\"\n";
  const std::string path = folder().write("in.csv", text);
  for (const int32_t partitions : {1, 3, 8}) {
    const auto all = context().csv_file(path, {.header = true}, partitions);
    EXPECT_EQ(all.partition_count(), partitions);
    const auto numbers = all.map([](const CsvRow& row) {
                              EXPECT_EQ(row["text"], "x, " + std::string(row["number"]));
                              return row.get<int>("number");
                            })
                             .collect();
    ASSERT_EQ(numbers.size(), 20'000u);
    for (int i = 0; i < 20'000; ++i) ASSERT_EQ(numbers[static_cast<size_t>(i)], i);
  }
  EXPECT_EQ(context().csv_file(path, {.header = true, .multi_line = true}, 8).partition_count(), 1);
}

TEST_F(CsvTest, LineEndsWithinFields) {
  const std::string text = "k;v\n1;\"line one\nline two\r\nline \"\"three\"\"\"\n2;\"\n\n\"\n3;x\n";
  const std::string path = folder().write("in.csv", text);
  EXPECT_EQ(rows(path, {.delimiter = ';', .header = true, .multi_line = true}),
            (std::vector<Fields>{
                {"1", "line one\nline two\r\nline \"three\""}, {"2", "\n\n"}, {"3", "x"}}));
  EXPECT_THAT(refused(text, {.delimiter = ';'}),
              AllOf(HasSubstr("line 2: a quoted field has no end on its line"),
                    HasSubstr("CsvOptions::multi_line")));
}

TEST_F(CsvTest, RowsTravelAndAreKept) {
  const std::string path = folder().write("in.csv", "k,v\na,1\nb,2\na,3\na,1\n");
  const auto all = context().csv_file(path, {.header = true}, 2);
  const auto sums =
      all.map([](const CsvRow& row) { return std::pair(std::string(row["k"]), row.get<int>("v")); })
          .reduce_by_key(std::plus<>{})
          .collect_as_map();
  EXPECT_EQ(sums.at("a"), 5);
  EXPECT_EQ(all.distinct().count(), 3u);
  const auto moved = all.repartition(3).persist(StorageLevel::memory_serialized);
  EXPECT_EQ(moved.map([](const CsvRow& row) { return row.get<int>("v"); }).sum(), 7);
  EXPECT_EQ(moved.filter([](const CsvRow& row) { return row["k"] == "b"; }).first(),
            CsvRow({"b", "2"}));
  all.save_as_object_file(folder().path() + "/out");
  EXPECT_EQ(context().object_file<CsvRow>(folder().path() + "/out").collect(), all.collect());
  EXPECT_GT(detail::heap_bytes(CsvRow({std::string(1000, 'x')})), 1000u);
}

TEST_F(CsvTest, ValuesOfFields) {
  const CsvRow row({" -5 ", "2.5e3", "true", "text", "", "300"},
                   {"i", "d", "b", "s", "none", "big"});
  EXPECT_EQ(row.size(), 6u);
  EXPECT_EQ(row.get<int64_t>("i"), -5);
  EXPECT_EQ(row.get<double>(1), 2500);
  EXPECT_TRUE(row.get<bool>("b"));
  EXPECT_EQ(row.get<std::string>("s"), "text");
  EXPECT_EQ(row.get<std::optional<int>>("none"), std::nullopt);
  EXPECT_EQ(row.get<std::optional<int>>("big"), 300);
  EXPECT_EQ(caught([&] { (void)row.get<int>("s"); }).message,
            "a record: field 's' is 'text', no int32");
  EXPECT_EQ(caught([&] { (void)row.get<uint8_t>("big"); }).message,
            "a record: field 'big' is '300', no uint8");
  EXPECT_EQ(caught([&] { (void)row.get<unsigned>("i"); }).kind, ErrorKind::input_output);
  EXPECT_EQ(caught([&] { (void)row.get<double>("none"); }).kind, ErrorKind::input_output);
  EXPECT_EQ(caught([&] { (void)row.get<bool>("i"); }).kind, ErrorKind::input_output);
  EXPECT_EQ(caught([&] { (void)row["names"]; }).message,
            "a record has no field 'names': the header has i, d, b, s, none, big");
  EXPECT_EQ(caught([&] { (void)row[6]; }).message,
            "a record: field 6 was asked for, counted from 0, of a row of 6");
  EXPECT_THAT(caught([&] { (void)CsvRow({"x"})["x"]; }).text, HasSubstr("has no header"));
}

// ------------------------------------------------------------------------------- what is refused

TEST_F(CsvTest, AMissingFileAndBadOptions) {
  EXPECT_THAT(caught([&] { (void)context().csv_file(folder().path() + "/none").count(); }).text,
              HasSubstr("input path " + folder().path() + "/none: No such file"));
  EXPECT_THAT(caught([&] { (void)context().csv_file("x", {.delimiter = '"'}); }).text,
              HasSubstr("csv_file: the delimiter and the quote must differ"));
  EXPECT_THAT(caught([&] { (void)context().csv_file("x", {.delimiter = '\n'}); }).text,
              HasSubstr("csv_file: a line end cannot be the delimiter"));
}

TEST_F(CsvTest, QuotesInTheWrongPlace) {
  EXPECT_THAT(refused("a,b\nc,d\"e\n"), HasSubstr("line 2, column 4: a quote within a field"));
  EXPECT_THAT(refused("a,b\n\"c\"d,e\n"), HasSubstr("line 2, column 4: a quote within a field"));
  EXPECT_THAT(refused("a,b\n\"c,d\n"), HasSubstr("line 2: a quoted field has no end on its line"));
  EXPECT_THAT(refused("a\n\"b\nc\n", {.multi_line = true}),
              HasSubstr("line 2: a quoted field of the row that begins there has no end"));
}

TEST_F(CsvTest, RowsOfAnotherLength) {
  EXPECT_THAT(refused("a,b\n1,2\n\n3\n", {.header = true}),
              HasSubstr("line 4: the row has 1 field, not 2 as the header; read"));
  EXPECT_THAT(refused("a,b\n1,2,3\n"),
              HasSubstr("line 2: the row has 3 fields, not 2 as the first row of the file"));
  const std::string path = folder().write("ragged", "a,b\n1,2,3\n4\n");
  EXPECT_EQ(rows(path, {.ragged = true}),
            (std::vector<Fields>{{"a", "b"}, {"1", "2", "3"}, {"4"}}));
  const CsvRow last = context().csv_file(path, {.header = true, .ragged = true}, 1).collect().at(1);
  EXPECT_FALSE(last.has("b"));
  EXPECT_EQ(
      caught([&] { (void)last["b"]; }).message,
      "input file " + path + ", line 3: field 1 was asked for, counted from 0, of a row of 1");
}

TEST_F(CsvTest, AHeaderWithANameTwice) {
  EXPECT_THAT(refused("a,b,a\n1,2,3\n", {.header = true}),
              HasSubstr("line 1: the header has the name 'a' twice"));
}

TEST_F(CsvTest, TheLineOfAFaultInALaterSplit) {
  std::string text;
  for (int i = 0; i < 9'000; ++i) text += "some,text," + std::to_string(i) + "\n";
  for (const int32_t partitions : {1, 4}) {
    EXPECT_THAT(refused(text + "bad,line\n" + text, {}, partitions),
                HasSubstr("line 9001: the row has 2 fields, not 3"));
  }
  folder().write("x.csv", text + "bad,line\n");
  run("gzip x.csv");
  EXPECT_THAT(caught([&] { (void)context().csv_file(folder().path() + "/x.csv.gz").count(); }).text,
              HasSubstr("x.csv.gz, line 9001: the row has 2 fields"));
  // A value that the program finds no number.
  const std::string path = folder().write("y.csv", text + "a,b,c\n");
  const auto error = caught([&] {
    (void)context()
        .csv_file(path, {}, 4)
        .map([](const CsvRow& row) { return row.get<int>(2); })
        .count();
  });
  EXPECT_THAT(error.text, AllOf(HasSubstr(path + ", line 9001: field 2 is 'c', no int32"),
                                HasSubstr("map at ")));
}

}  // namespace
}  // namespace tenon
