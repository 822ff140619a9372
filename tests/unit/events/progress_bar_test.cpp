#include "events/progress_bar.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "support/event_builders.hpp"
#include "support/wait_until.hpp"

namespace tenon::events {
namespace {

using namespace std::chrono_literals;
using namespace tenon::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

StageProgress progress(int32_t id, int32_t completed, int32_t active, int32_t tasks) {
  StageProgress stage;
  stage.id = id;
  stage.tasks = tasks;
  stage.active = active;
  stage.completed = completed;
  return stage;
}

struct Row {
  std::string name;
  std::vector<StageProgress> stages;
  int64_t now_ms;
  int columns;
  bool color;
  std::string line;
};
std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }

class RenderTest : public testing::TestWithParam<Row> {};

TEST_P(RenderTest, C24_5_Line) {
  const Row& row = GetParam();
  const std::string line = render_progress(row.stages, row.now_ms, row.columns, row.color);
  EXPECT_EQ(line, row.line);
  if (!row.color) {
    EXPECT_LT(line.size(), static_cast<size_t>(row.columns));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, RenderTest,
    testing::Values(
        Row{"nothing to show", {}, 1000, 80, false, ""},
        Row{"just begun",
            {progress(3, 0, 8, 200)},
            1000,
            42,
            false,
            "[Stage 3:>                 (0 + 8) / 200]"},
        Row{"no room for the pace",
            {progress(3, 120, 8, 200)},
            1000,
            38,
            false,
            "[Stage 3:=======>    (120 + 8) / 200]"},
        Row{"rate and time left",
            {progress(3, 120, 8, 200)},
            10000,
            60,
            false,
            "[Stage 3:==========>       (120 + 8) / 200] 12/s, 0:07 left"},
        Row{"slow, hours left",
            {progress(0, 1, 2, 4000)},
            2000,
            60,
            false,
            "[Stage 0:>              (1 + 2) / 4000] 0.5/s, 2:13:18 left"},
        Row{"done",
            {progress(3, 200, 0, 200)},
            1000,
            40,
            false,
            "[Stage 3:==============(200 + 0) / 200]"},
        Row{"more completed than tasks",
            {progress(3, 250, 0, 200)},
            1000,
            40,
            false,
            "[Stage 3:==============(250 + 0) / 200]"},
        Row{"two stages share the line",
            {progress(3, 1, 1, 2), progress(4, 0, 0, 9)},
            0,
            61,
            false,
            "[Stage 3:====>    (1 + 1) / 2][Stage 4:>        (0 + 0) / 9]"},
        Row{"three at most",
            {progress(1, 0, 1, 2), progress(2, 0, 1, 2), progress(3, 0, 1, 2),
             progress(4, 0, 1, 2)},
            0,
            79,
            false,
            "[Stage 1:>    (0 + 1) / 2][Stage 2:>    (0 + 1) / 2][Stage 3:>    (0 + 1) / 2]"},
        Row{"narrow: no bar",
            {progress(3, 120, 8, 200)},
            1000,
            27,
            false,
            "[Stage 3:(120 + 8) / 200]"},
        Row{"too narrow: cut", {progress(3, 120, 8, 200)}, 1000, 11, false, "[Stage 3:("},
        Row{"no width at all", {progress(3, 120, 8, 200)}, 1000, 1, false, ""},
        Row{"no tasks", {progress(3, 0, 0, 0)}, 1000, 30, false, "[Stage 3:>       (0 + 0) / 0]"},
        Row{"color",
            {progress(3, 120, 8, 200)},
            1000,
            38,
            true,
            "[Stage 3:\x1b[36m=======>\x1b[0m    (120 + 8) / 200]"}));

struct ProgressBarTest : testing::Test {
  loop::ManualClock clock;
  std::shared_ptr<StatusStore> store = std::make_shared<StatusStore>();
  std::mutex mutex;
  std::string screen;  // all that was written
  int columns = 42;
  ProgressBar bar{{.store = store,
                   .write =
                       [this](std::string_view text) {
                         const std::lock_guard lock(mutex);
                         screen += text;
                       },
                   .columns = [this] { return columns; },
                   .color = false,
                   .clock = &clock}};

  void send(const Event& event) {
    store->on_event(event);
    bar.on_event(event);
  }
  std::string written() {
    const std::lock_guard lock(mutex);
    return std::exchange(screen, {});
  }
  void start_job() {
    send(job_start(0, {make_stage(3, 0, 200)}));
    send(submitted(make_stage(3, 0, 200, {}, clock.wall_ms())));
  }
};

constexpr const char* kBegun = "\r[Stage 3:>                 (0 + 0) / 200]\x1b[K";
constexpr const char* kOneRuns = "\r[Stage 3:>                 (0 + 1) / 200]\x1b[K";
constexpr const char* kCleared = "\r\x1b[K";

TEST_F(ProgressBarTest, C24_5_DrawsAfterHalfASecondAndOnlyWhatChanged) {
  start_job();
  clock.advance(499ms);
  bar.tick();
  EXPECT_EQ(written(), "");
  clock.advance(1ms);
  bar.tick();
  EXPECT_EQ(written(), kBegun);
  bar.tick();
  EXPECT_EQ(written(), "");
  send(task_start(3, 0, 1));
  bar.tick();
  EXPECT_EQ(written(), kOneRuns);
  send(completed(make_stage(3, 0, 200)));
  bar.tick();
  EXPECT_EQ(written(), kCleared);
}

TEST_F(ProgressBarTest, S004_018_ClearedAtTheJobsEnd) {
  start_job();
  clock.advance(1s);
  bar.tick();
  EXPECT_EQ(written(), kBegun);
  send(job_end(0));
  EXPECT_EQ(written(), kCleared);
  send(job_end(0));
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressBarTest, S004_018_FinishAllLeavesTheTerminalToTheProgramForAWhile) {
  start_job();
  clock.advance(1s);
  bar.tick();
  EXPECT_EQ(written(), kBegun);
  bar.finish_all();
  EXPECT_EQ(written(), kCleared);
  clock.advance(499ms);
  bar.tick();  // the store may not have heard of the end yet
  EXPECT_EQ(written(), "");
  clock.advance(1ms);
  bar.tick();
  EXPECT_EQ(written(), kBegun);
}

TEST_F(ProgressBarTest, LogLinesGoAboveTheBar) {
  start_job();
  clock.advance(1s);
  bar.tick();
  EXPECT_EQ(written(), kBegun);
  bar.write_above([&] { screen += "WARN something\n"; });
  EXPECT_EQ(written(), std::string(kCleared) + "WARN something\n");
  bar.tick();
  EXPECT_EQ(written(), kBegun);
}

TEST_F(ProgressBarTest, FollowsTheWidthOfTheTerminal) {
  start_job();
  clock.advance(1s);
  bar.tick();
  EXPECT_EQ(written(), kBegun);
  columns = 32;
  bar.tick();
  EXPECT_EQ(written(), "\r[Stage 3:>       (0 + 0) / 200]\x1b[K");
}

TEST_F(ProgressBarTest, TheThreadDrawsWhileAJobRunsAndStopClears) {
  clock.advance(1s);
  bar.start();
  start_job();
  // The bar's own clock stands still at 1 s; a stage that was submitted at 0 is old enough.
  send(submitted(make_stage(4, 0, 10, {}, 0)));
  EXPECT_TRUE(wait_until([&] {
    const std::lock_guard lock(mutex);
    return screen.find("[Stage 4:") != std::string::npos;
  }));
  bar.stop();
  EXPECT_THAT(written(), testing::EndsWith(kCleared));
  bar.tick();
  EXPECT_EQ(written(), "");
}

// Sets a variable for the time of a test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Environment() { set(old_ ? old_->c_str() : nullptr); }

 private:
  void set(const char* value) {
    if (value != nullptr) {
      setenv(name_, value, 1);
    } else {
      unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> old_;
};

TEST(Terminal, UR_109_ABarOnlyOnATerminalThatCanClearALine) {
  const Environment no_color("NO_COLOR", nullptr);
  const Environment term("TERM", "xterm");
  int main_fd = -1;
  int terminal = -1;
  winsize size{};
  size.ws_col = 40;
  ASSERT_EQ(openpty(&main_fd, &terminal, nullptr, nullptr, &size), 0);
  EXPECT_TRUE(can_draw_bar(terminal));
  EXPECT_TRUE(may_use_color(terminal));
  EXPECT_EQ(terminal_columns(terminal), 40);
  {
    const Environment set("NO_COLOR", "1");
    EXPECT_TRUE(can_draw_bar(terminal));
    EXPECT_FALSE(may_use_color(terminal));
  }
  {
    const Environment empty("NO_COLOR", "");
    EXPECT_TRUE(may_use_color(terminal));
  }
  for (const char* poor : {"dumb", "", static_cast<const char*>(nullptr)}) {
    const Environment set("TERM", poor);
    EXPECT_FALSE(can_draw_bar(terminal));
    EXPECT_FALSE(may_use_color(terminal));
  }
  close(main_fd);
  close(terminal);

  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(can_draw_bar(ends[1]));
  EXPECT_FALSE(may_use_color(ends[1]));
  EXPECT_EQ(terminal_columns(ends[1]), 80);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace tenon::events
