#include "common/text.hpp"

namespace tenon {
namespace {

TEST(Text, EditDistanceCountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("local", "lcoal"), 1u);  // a swap of neighbours is one edit
  EXPECT_EQ(edit_distance("core", "cores"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("Local", "local"), 1u);
}

TEST(Text, NearestNameFindsWhatWasMeant) {
  const std::vector<std::string> names = {"local", "standalone", "local-cluster", "k8s"};
  EXPECT_EQ(nearest_name("lcoal", names), "local");
  EXPECT_EQ(nearest_name("LOCAL", names), "local");
  EXPECT_EQ(nearest_name("standalon", names), "standalone");
  EXPECT_EQ(nearest_name("local-clsuter", names), "local-cluster");
  EXPECT_EQ(nearest_name("k8", names), "k8s");
}

TEST(Text, NearestNameIsNothingWhenNoneIsNear) {
  const std::vector<std::string> names = {"local", "standalone"};
  EXPECT_EQ(nearest_name("mesos", names), std::nullopt);
  EXPECT_EQ(nearest_name("x", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
  EXPECT_EQ(nearest_name("local", {}), std::nullopt);
}

TEST(Text, NearestNameTakesTheFirstOfEquals) {
  EXPECT_EQ(nearest_name("abcd", std::vector<std::string>{"abce", "abcf"}), "abce");
}

TEST(Text, TrimAndJoin) {
  EXPECT_EQ(trim(" \t a b \t"), "a b");
  EXPECT_EQ(trim(" \t"), "");
  EXPECT_EQ(join(std::vector<std::string>{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join({}, ", "), "");
}

TEST(Text, CaseIsIgnoredForAsciiOnly) {
  EXPECT_EQ(to_lower("FIFO-Ä"), "fifo-Ä");
  EXPECT_TRUE(equal_ignoring_case("True", "tRUE"));
  EXPECT_FALSE(equal_ignoring_case("true", "truer"));
}

TEST(Text, QuotedTextIsOneShortLine) {
  EXPECT_EQ(quote("local[2]"), "'local[2]'");
  EXPECT_EQ(quote("a\nb\x1b[31m\x7f"), "'a\\x0ab\\x1b[31m\\x7f'");
  EXPECT_EQ(quote(std::string(300, 'x')), "'" + std::string(200, 'x') + "...'");
}

TEST(Text, JsonEscaping) {
  const std::pair<std::string, std::string> cases[] = {
      {"plain ä €", "plain ä €"},
      {"a\"b\\c", "a\\\"b\\\\c"},
      {"line\nnext\ttab", "line\\nnext\\u0009tab"},
      {std::string("nul\0!", 5), "nul\\u0000!"},
      {"bad \xFF\xC3", "bad \xEF\xBF\xBD\xEF\xBF\xBD"},
      {"cut \xE2\x82", "cut \xEF\xBF\xBD\xEF\xBF\xBD"},
      {"overlong \xC0\xAF", "overlong \xEF\xBF\xBD\xEF\xBF\xBD"},
      {"surrogate \xED\xA0\x80", "surrogate \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
  };
  for (const auto& [text, escaped] : cases) EXPECT_EQ(json_escaped(text), escaped);
}

}  // namespace
}  // namespace tenon
