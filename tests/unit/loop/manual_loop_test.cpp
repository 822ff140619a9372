#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "loop/loop.hpp"

namespace tenon::loop {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct ManualLoopTest : testing::Test {
  ManualLoop loop;
  std::vector<std::string> log;
  auto note(std::string text) {
    return [this, text = std::move(text)] { log.push_back(text); };
  }
};

TEST_F(ManualLoopTest, C1_1_WorkRunsInPostOrderAndOnlyWhenTheLoopRuns) {
  loop.post([this] {
    log.push_back("a");
    loop.post(note("c"));
  });
  loop.post(note("b"));
  EXPECT_THAT(log, IsEmpty());
  EXPECT_EQ(loop.queued(), 2u);
  loop.run();
  EXPECT_THAT(log, ElementsAre("a", "b", "c"));
  EXPECT_EQ(loop.queued(), 0u);
}

TEST_F(ManualLoopTest, TimersFireInOrderOfTimeThenOfTheCalls) {
  loop.call_after(20ms, note("20"));
  loop.call_after(10ms, note("10a"));
  loop.call_after(10ms, note("10b"));
  loop.call_after(-5ms, note("now"));
  EXPECT_EQ(loop.timers(), 4u);
  loop.run();
  EXPECT_THAT(log, ElementsAre("now"));
  loop.advance(9ms);
  EXPECT_THAT(log, ElementsAre("now"));
  loop.advance(1ms);
  EXPECT_THAT(log, ElementsAre("now", "10a", "10b"));
  loop.advance(1h);
  EXPECT_THAT(log, ElementsAre("now", "10a", "10b", "20"));
  EXPECT_EQ(loop.timers(), 0u);
  EXPECT_EQ(loop.clock().now(), 1h + 10ms);
}

TEST_F(ManualLoopTest, AdvanceStopsAtEachTimerAndRunsAllItBrings) {
  std::vector<Time> times;
  loop.call_after(10ms, [&] {
    times.push_back(loop.clock().now());
    loop.post([&] {
      times.push_back(loop.clock().now());
      loop.call_after(5ms, [&] { times.push_back(loop.clock().now()); });
    });
  });
  loop.advance(30ms);
  EXPECT_THAT(times, ElementsAre(10ms, 10ms, 15ms));
  EXPECT_EQ(loop.clock().now(), 30ms);
  EXPECT_EQ(loop.clock().wall_ms(), 30);
}

TEST_F(ManualLoopTest, CancelledTimersDoNotFire) {
  const TimerId a = loop.call_after(10ms, note("a"));
  TimerId c = 0;
  loop.call_after(10ms, [&] {
    log.push_back("b");
    loop.cancel(c);  // due in the same turn
  });
  c = loop.call_after(10ms, note("c"));
  loop.cancel(a);
  loop.cancel(a);
  loop.cancel(0);
  loop.cancel(12345);
  EXPECT_EQ(loop.timers(), 2u);
  loop.advance(1s);
  EXPECT_THAT(log, ElementsAre("b"));
  loop.cancel(c);
  EXPECT_EQ(loop.timers(), 0u);
}

TEST_F(ManualLoopTest, ATimerThatIsSetInATurnWaitsForTheNextTurn) {
  loop.at_turn_end(note("end"));
  loop.call_after(0ms, [this] {
    log.push_back("first");
    loop.call_after(0ms, note("second"));
  });
  loop.run();
  EXPECT_THAT(log, ElementsAre("first", "end", "second", "end"));
}

TEST_F(ManualLoopTest, HooksRunOnceATurnAfterItsWorkAndTimers) {
  int turns = 0;
  loop.at_turn_end([&] {
    log.push_back("hook1");
    if (++turns == 1) loop.post(note("from hook"));
  });
  loop.at_turn_end(note("hook2"));
  loop.call_after(0ms, note("timer"));
  loop.post(note("a"));
  loop.post(note("b"));
  loop.run();
  EXPECT_THAT(log, ElementsAre("a", "b", "timer", "hook1", "hook2", "from hook", "hook1", "hook2"));
}

TEST_F(ManualLoopTest, RunWithNothingQueuedStillRunsTheHooks) {
  loop.at_turn_end(note("hook"));
  loop.run();
  EXPECT_THAT(log, ElementsAre("hook"));
}

TEST_F(ManualLoopTest, S004_065_ErrorsGoToTheHandlerAndTheLoopGoesOn) {
  std::vector<std::string> errors;
  loop.set_error_handler([&](std::exception_ptr error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      errors.emplace_back(e.what());
    } catch (int number) {
      errors.push_back(std::to_string(number));
    }
  });
  loop.at_turn_end([] { throw std::runtime_error("hook"); });
  loop.post([] { throw std::runtime_error("work"); });
  loop.post([] { throw 7; });
  loop.post(note("after"));
  loop.call_after(0ms, [] { throw std::runtime_error("timer"); });
  loop.run();
  EXPECT_THAT(log, ElementsAre("after"));
  EXPECT_THAT(errors, ElementsAre("work", "7", "timer", "hook"));
}

TEST_F(ManualLoopTest, WithoutAHandlerTheErrorComesOutAndTheRestStaysQueued) {
  loop.post([] { throw std::runtime_error("work"); });
  loop.post(note("after"));
  EXPECT_THROW(loop.run(), std::runtime_error);
  EXPECT_EQ(loop.queued(), 1u);
  loop.run();
  EXPECT_THAT(log, ElementsAre("after"));
}

TEST(ManualLoop, RandomIsSeeded) {
  ManualLoop a(5);
  ManualLoop b(5);
  ManualLoop c(6);
  const auto value = a.random()();
  EXPECT_EQ(value, b.random()());
  EXPECT_NE(value, c.random()());
  EXPECT_TRUE(a.on_thread());
}

struct PostsOnDestruction {
  Loop* loop = nullptr;
  int* destroyed = nullptr;
  PostsOnDestruction(Loop* the_loop, int* the_destroyed)
      : loop(the_loop), destroyed(the_destroyed) {}
  PostsOnDestruction(PostsOnDestruction&& other) noexcept
      : loop(std::exchange(other.loop, nullptr)), destroyed(other.destroyed) {}
  PostsOnDestruction& operator=(PostsOnDestruction&&) = delete;
  ~PostsOnDestruction() {
    if (loop == nullptr) return;
    ++*destroyed;
    if (*destroyed < 3) loop->post([next = PostsOnDestruction(loop, destroyed)] {});
  }
};

TEST(ManualLoop, WorkThatIsLeftIsDestroyedUnrunAndMayPostWhileItIs) {
  int destroyed = 0;
  {
    ManualLoop loop;
    loop.post([last = PostsOnDestruction(&loop, &destroyed)] { FAIL(); });
  }
  EXPECT_EQ(destroyed, 3);
}

}  // namespace
}  // namespace tenon::loop
