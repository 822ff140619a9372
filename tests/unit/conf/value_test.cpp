#include "conf/value.hpp"

namespace tenon::conf {
namespace {

using std::chrono::nanoseconds;

TEST(Value, C26_2_Sizes) {
  const std::map<std::string, uint64_t> good = {
      {"512m", 512ull << 20},  {"2g", 2ull << 30}, {"1.5g", 3ull << 29},
      {"1kb", 1024},           {"1K", 1024},       {"3MiB", 3ull << 20},
      {" 10 m ", 10ull << 20}, {"7b", 7},          {"1t", 1ull << 40},
      {"1p", 1ull << 50},      {"0", 0},           {"0.5k", 512},
  };
  for (const auto& [text, bytes] : good) EXPECT_EQ(parse_size(text), bytes) << text;
  for (const char* bad :
       {"", "m", "512", "-1m", "1x", "1mm", "1 m b", "1..5g", "1e3m", "1,5g", "inf", "0x10m",
        "99999999p", "9223372036854775808b", "1.5.2m", "ib", "+1m"}) {
    EXPECT_EQ(parse_size(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(parse_size("512", "m"), 512ull << 20);
  EXPECT_EQ(parse_size("512", "b"), 512u);
  EXPECT_EQ(parse_size("512k", "m"), 512ull << 10);
}

TEST(Value, C26_2_Durations) {
  const std::map<std::string, int64_t> good = {
      {"10s", 10'000'000'000},
      {"100ms", 100'000'000},
      {"1h", 3'600'000'000'000},
      {"30m", 1'800'000'000'000},
      {"30min", 1'800'000'000'000},
      {"1d", 86'400'000'000'000},
      {"5us", 5'000},
      {"7ns", 7},
      {"1.5s", 1'500'000'000},
      {"0", 0},
      {"0s", 0},
      {" 2 S ", 2'000'000'000},
  };
  for (const auto& [text, ns] : good) EXPECT_EQ(parse_duration(text), nanoseconds(ns)) << text;
  for (const char* bad :
       {"", "s", "10", "-1s", "10 seconds", "1w", "1h30m", "999999999999d", "nan"}) {
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(parse_duration("10", "ms"), nanoseconds(10'000'000));
  EXPECT_EQ(parse_duration("10", "s"), nanoseconds(10'000'000'000));
}

TEST(Value, PlainTypes) {
  EXPECT_EQ(parse_bool("TRUE"), true);
  EXPECT_EQ(parse_bool(" false"), false);
  for (const char* bad : {"", "1", "yes", "truee"}) EXPECT_EQ(parse_bool(bad), std::nullopt) << bad;
  EXPECT_EQ(parse_int(" -7 "), -7);
  for (const char* bad : {"", "1.0", "7x", "0x7", "99999999999999999999", "1 2"}) {
    EXPECT_EQ(parse_int(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(parse_double("0.8"), 0.8);
  EXPECT_EQ(parse_double("1e3"), 1000.0);
  for (const char* bad : {"", "nan", "inf", "0,8", "1e999"}) {
    EXPECT_EQ(parse_double(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(parse_list(" a, b,,c ,"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(parse_list("").empty());
}

}  // namespace
}  // namespace tenon::conf
