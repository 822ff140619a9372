#include "common/log.hpp"

#include <cstdio>
#include <thread>

#include "common/console.hpp"

namespace tenon::log {
namespace {

// Does the text begin with a time as in 2024-01-31T09:08:07.123Z, and go on with the rest, and end
// there?
bool is_time_and(std::string_view text, std::string_view rest) {
  static constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd.dddZ";
  if (text.size() < kForm.size() || text.substr(kForm.size()) != rest) return false;
  for (size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !digit : text[i] != kForm[i]) return false;
  }
  return true;
}

class Log : public ::testing::Test {
 protected:
  ~Log() override { configure(Levels{}); }

  static std::string captured(const std::function<void()>& body) {
    ::testing::internal::CaptureStderr();
    body();
    return ::testing::internal::GetCapturedStderr();
  }
};

TEST_F(Log, OneLineHasTimeLevelComponentAndMessage) {
  const Logger scheduler = logger("scheduler");
  const std::string line = captured([&] { scheduler.warn("stage 3.0: 200 tasks, executors=4"); });
  EXPECT_TRUE(is_time_and(line, " WARN  scheduler  stage 3.0: 200 tasks, executors=4\n")) << line;
}

TEST_F(Log, WarnIsTheLowestLevelAtTheStart) {
  const Logger quiet = logger("quiet");
  EXPECT_EQ(captured([&] {
              quiet.trace("t");
              quiet.debug("d");
              quiet.info("i");
            }),
            "");
  const std::string lines = captured([&] {
    quiet.warn("w");
    quiet.error("e");
  });
  EXPECT_NE(lines.find(" WARN  quiet      w\n"), std::string::npos) << lines;
  EXPECT_NE(lines.find(" ERROR quiet      e\n"), std::string::npos) << lines;
}

TEST_F(Log, ALazyMessageIsBuiltOnlyWhenItsLevelIsOn) {
  const Logger lazy = logger("lazy");
  int built = 0;
  const auto message = [&] {
    ++built;
    return std::string("costly");
  };
  EXPECT_EQ(captured([&] { lazy.debug(message); }), "");
  EXPECT_EQ(built, 0);
  configure(*parse_levels("debug"));
  EXPECT_NE(captured([&] { lazy.debug(message); }).find("DEBUG lazy       costly\n"),
            std::string::npos);
  EXPECT_EQ(built, 1);
}

TEST_F(Log, LevelsHoldForLoggersThatExistAndForThoseToCome) {
  const Logger before = logger("before");
  configure(*parse_levels("error,before=info,after=trace"));
  const Logger after = logger("after"), other = logger("other");
  EXPECT_TRUE(before.enabled(Level::info));
  EXPECT_FALSE(before.enabled(Level::debug));
  EXPECT_TRUE(after.enabled(Level::trace));
  EXPECT_TRUE(other.enabled(Level::error));
  EXPECT_FALSE(other.enabled(Level::warn));
  configure(Levels{});
  EXPECT_FALSE(after.enabled(Level::info));
}

TEST_F(Log, OffIsOff) {
  configure(*parse_levels("off"));
  EXPECT_EQ(captured([] { logger("x").error("nobody reads this"); }), "");
}

TEST_F(Log, JsonHasTheSameFields) {
  configure(*parse_levels("info"), Format::json);
  const std::string line = captured([] { logger("dag").info("a \"b\"\n\xFF"); });
  static constexpr std::string_view kBefore = "{\"time\":\"";
  ASSERT_TRUE(line.starts_with(kBefore)) << line;
  EXPECT_TRUE(is_time_and(std::string_view(line).substr(kBefore.size()),
                          "\",\"level\":\"INFO\",\"component\":\"dag\","
                          "\"message\":\"a \\\"b\\\"\\n\xEF\xBF\xBD\"}\n"))
      << line;
}

TEST_F(Log, BracesAndPercentSignsAreText) {
  EXPECT_NE(captured([] { logger("x").warn("{} %d {0:z}"); }).find("  {} %d {0:z}\n"),
            std::string::npos);
}

TEST_F(Log, LinesOfManyThreadsStayWhole) {
  constexpr int kThreads = 8, kLines = 200;
  const std::string text = captured([] {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([t] {
        for (int i = 0; i < kLines; ++i) {
          logger("thread" + std::to_string(t % 3))
              .warn(std::string(100, static_cast<char>('a' + t)));
        }
      });
    }
    for (int i = 0; i < kLines; ++i) configure(Levels{});
  });
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const char letter = line.empty() ? '\0' : line.back();
    EXPECT_TRUE(letter >= 'a' && letter < 'a' + kThreads) << line;
    bool whole = false;
    for (const char* thread : {"thread0", "thread1", "thread2"}) {
      whole = whole || is_time_and(line, " WARN  " + std::string(thread) + "    " +
                                             std::string(100, letter));
    }
    EXPECT_TRUE(whole) << line;
  }
  EXPECT_EQ(count, kThreads * kLines);
}

TEST_F(Log, ALineGoesThroughTheFrameThatTheProgressBarSet) {
  const Logger framed = logger("framed");
  const std::string text = captured([&] {
    console::set_frame([](const std::function<void()>& write) {
      std::fputs("<", stderr);
      write();
      std::fputs(">", stderr);
    });
    framed.warn("inside");
    console::set_frame({});
    framed.warn("outside");
  });
  const size_t end = text.find("\n>") + 1;
  EXPECT_TRUE(text.starts_with("<") &&
              is_time_and(text.substr(1, end - 1), " WARN  framed     inside\n"))
      << text;
  EXPECT_TRUE(is_time_and(text.substr(end + 1), " WARN  framed     outside\n")) << text;
}

TEST(LogLevels, TextForms) {
  const Levels levels = *parse_levels("INFO, scheduler = debug,dag=off");
  EXPECT_EQ(levels.all, Level::info);
  EXPECT_EQ(levels.components, (std::map<std::string, Level, std::less<>>{
                                   {"scheduler", Level::debug}, {"dag", Level::off}}));
  EXPECT_EQ(parse_levels("scheduler=debug")->all, Level::warn);
  for (const char* bad :
       {"", "loud", "info,", ",info", "scheduler=", "=debug", "scheduler=loud", "info;dag=off"}) {
    EXPECT_FALSE(parse_levels(bad)) << bad;
  }
  for (const Level level :
       {Level::trace, Level::debug, Level::info, Level::warn, Level::error, Level::off}) {
    EXPECT_EQ(parse_level(to_string(level)), level);
  }
}

}  // namespace
}  // namespace tenon::log
