// json_lines and JsonRecord. What is expected was made by the json module of Python where it is
// more than a word.
#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using test::caught;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class JsonTest : public test::ApiTest {
 protected:
  std::string refused(const std::string& text, int32_t partitions = 0) {
    const std::string path = folder().write("bad.json", text);
    const auto error = caught([&] { (void)context().json_lines(path, partitions).count(); });
    EXPECT_EQ(error.kind, ErrorKind::job_failed);
    EXPECT_THAT(error.text,
                AllOf(HasSubstr("input file " + path + ", line "), HasSubstr("json_lines at ")));
    expect_usable();
    return error.text;
  }
};

const char* const kAll =
    R"({"s":"a\"b\\c\/d\b\f\n\r\t\u20ac\ud83d\ude00","i":-9223372036854775808,)"
    R"("u":18446744073709551615,"d":1.5e-3,"t":true,"n":null,"a":[1,[2,3],{"x":"y"}],)"
    R"("o":{"p/q":1,"m~n":2,"":3}})";

TEST_F(JsonTest, ValuesAsPythonReadsThem) {
  const JsonRecord all{kAll};
  EXPECT_EQ(all.get<std::string>("s"), "a\"b\\c/d\b\f\n\r\t\u20ac\U0001f600");
  EXPECT_EQ(all.get<int64_t>("i"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(all.get<uint64_t>("u"), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(all.get<double>("d"), 0.0015);
  EXPECT_EQ(all.get<double>("/a/0"), 1.0) << "any number";
  EXPECT_TRUE(all.get<bool>("t"));
  EXPECT_EQ(all.get<int>("/a/1/1"), 3);
  EXPECT_EQ(all.get<std::string>("/a/2/x"), "y");
  EXPECT_EQ(all.get<int>("/o/p~1q"), 1);
  EXPECT_EQ(all.get<int>("/o/m~0n"), 2);
  EXPECT_EQ(all.at("o").get<int>("p/q"), 1);
  EXPECT_EQ(all.at("/a/1").text(), "[2,3]");
  EXPECT_THAT(all.keys(), ElementsAre("s", "i", "u", "d", "t", "n", "a", "o"));
  EXPECT_THAT(all.keys("o"), ElementsAre("p/q", "m~n", ""));
  const auto elements = all.elements("a");
  ASSERT_EQ(elements.size(), 3u);
  EXPECT_EQ(elements[0].get<int>(""), 1);
  EXPECT_EQ(elements[2].get<std::string>("x"), "y");
  EXPECT_EQ(JsonRecord(R"({"k":1,"k":2})").get<int>("k"), 1);
}

TEST_F(JsonTest, WhatMayBeMissing) {
  const JsonRecord all{kAll};
  EXPECT_EQ(all.find<int>("none"), std::nullopt);
  EXPECT_EQ(all.find<int>("n"), std::nullopt);
  EXPECT_EQ(all.find<int>("/a/7"), std::nullopt);
  EXPECT_EQ(all.find<int>("/s/below"), std::nullopt);
  EXPECT_EQ(all.find<int>("/a/0"), 1);
  EXPECT_TRUE(all.has("n"));
  EXPECT_FALSE(all.has("none"));
  EXPECT_FALSE(JsonRecord("[1]").has("none"));
  EXPECT_EQ(JsonRecord().text(), "null");
}

TEST_F(JsonTest, OtherKindsOfValues) {
  const JsonRecord all{kAll};
  const auto message = [](auto act) {
    const auto error = caught(act);
    EXPECT_EQ(error.kind, ErrorKind::input_output);
    return error.message;
  };
  EXPECT_EQ(message([&] { (void)all.get<int>("none"); }),
            "a record: the value at 'none' is missing, no int32");
  EXPECT_EQ(message([&] { (void)all.get<int>("n"); }),
            "a record: the value at 'n' is null, no int32");
  EXPECT_EQ(message([&] { (void)all.get<int>("t"); }),
            "a record: the value at 't' is 'true', no int32");
  EXPECT_EQ(message([&] { (void)all.find<std::string>("/a/1"); }),
            "a record: the value at '/a/1' is '[2,3]', no string");
  EXPECT_EQ(message([&] { (void)all.get<int64_t>("u"); }),
            "a record: the value at 'u' is '18446744073709551615', no int64");
  EXPECT_EQ(message([&] { (void)all.get<int>("i"); }),
            "a record: the value at 'i' is '-9223372036854775808', no int32");
  EXPECT_EQ(message([&] { (void)all.get<uint8_t>("i"); }),
            "a record: the value at 'i' is '-9223372036854775808', no uint8");
  EXPECT_EQ(message([&] { (void)all.get<int>("d"); }),
            "a record: the value at 'd' is '0.0015', no int32");
  EXPECT_EQ(message([&] { (void)all.elements("o"); }).substr(0, 32),
            "a record: the value at 'o' is '{");
  EXPECT_EQ(message([&] { (void)all.keys("t"); }),
            "a record: the value at 't' is 'true', no object");
  EXPECT_EQ(message([&] { (void)all.at("none"); }), "a record: the value at 'none' is missing");
  const auto bad = caught([] { (void)JsonRecord("{"); });
  EXPECT_EQ(bad.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(bad.text, HasSubstr("JsonRecord: '{' is no JSON value"));
}

TEST_F(JsonTest, LinesOfFiles) {
  std::string text = "\xEF\xBB\xBF{\"n\": 0, \"s\": \"x\"}\r\n\n  \n";
  for (int i = 1; i < 20'000; ++i) text += "{\"n\":" + std::to_string(i) + ",\"s\":\"\\u00e4\"}\n";
  text += "{\"n\": 20000, \"s\": \"no end\"}";
  const std::string path = folder().write("in.json", text);
  ASSERT_EQ(std::system(("gzip -k '" + path + "'").c_str()), 0);
  for (const std::string& from : {path, path + ".gz"}) {
    for (const int32_t partitions : {1, 3, 8}) {
      const auto all = context().json_lines(from, partitions);
      const auto numbers = all.map([](const JsonRecord& r) { return r.get<int>("n"); }).collect();
      ASSERT_EQ(numbers.size(), 20'001u);
      for (int i = 0; i <= 20'000; ++i) ASSERT_EQ(numbers[static_cast<size_t>(i)], i);
    }
  }
  EXPECT_EQ(context().json_lines(path).first().text(), R"({"n": 0, "s": "x"})");
  const std::string values = folder().write("values", "1\n\"two\"\n[3]\nnull\n");
  EXPECT_THAT(
      context().json_lines(values, 1).map([](const JsonRecord& r) { return r.text(); }).collect(),
      ElementsAre("1", "\"two\"", "[3]", "null"));
  EXPECT_THAT(context().json_lines(folder().write("empty", "")).collect(), IsEmpty());
}

TEST_F(JsonTest, RecordsTravelAndAreKept) {
  const std::string path = folder().write(
      "in.json", "{\"k\":\"a\",\"v\":1}\n{\"k\":\"b\",\"v\":2}\n{\"k\":\"a\",\"v\":1}\n");
  const auto all = context().json_lines(path, 2);
  EXPECT_EQ(all.distinct().count(), 2u);
  const auto moved = all.repartition(3).persist(StorageLevel::disk);
  EXPECT_EQ(moved.map([](const JsonRecord& r) { return r.get<int>("v"); }).sum(), 4);
  EXPECT_GE(detail::heap_bytes(JsonRecord("\"" + std::string(1000, 'x') + "\"")), 1000u);
  const auto error = caught(
      [&] { (void)moved.map([](const JsonRecord& r) { return r.get<int>("k"); }).collect(); });
  EXPECT_THAT(error.text, AllOf(HasSubstr("input file " + path + ", line "),
                                HasSubstr("the value at 'k' is '\""), HasSubstr("no int32")))
      << "the place is known behind a shuffle";
}

TEST_F(JsonTest, ALineThatIsNone) {
  EXPECT_THAT(refused("{\"a\":1}\n{\"a\":}\n"), HasSubstr("line 2 is no JSON value: "));
  EXPECT_THAT(refused("{\"a\":1} {\"a\":2}\n"), HasSubstr("line 1 is no JSON value: "));
  EXPECT_THAT(refused("{\"a\":1,\n\"b\":2}\n"), HasSubstr("line 1 is no JSON value: "));
  EXPECT_THAT(refused("\"\xff\"\n"),
              HasSubstr("line 1 is no JSON value: The input is not valid UTF-8"));
  EXPECT_THAT(refused("[18446744073709551616]\n"), HasSubstr("line 1 is no JSON value: "));
  EXPECT_THAT(refused(std::string(5000, '[') + std::string(5000, ']') + "\n"),
              HasSubstr("line 1 is no JSON value: "));
  std::string text;
  for (int i = 0; i < 9'000; ++i) text += "{\"number\":" + std::to_string(i) + "}\n";
  EXPECT_THAT(refused(text + "what is this\n" + text, 4),
              HasSubstr("line 9001 is no JSON value: "));
  EXPECT_THAT(caught([&] { (void)context().json_lines(folder().path() + "/none").count(); }).text,
              HasSubstr("input path " + folder().path() + "/none: No such file"));
}

}  // namespace
}  // namespace tenon
