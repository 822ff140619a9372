#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <ctime>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "loop/loop.hpp"
#include "support/wait_until.hpp"

namespace tenon::loop {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const SystemClock kClock;

// Runs work on the loop and waits for it.
void run_on(Loop& loop, Work work) {
  std::promise<void> done;
  const auto finished = done.get_future();
  loop.post([&work, done = std::move(done)]() mutable {
    work();
    done.set_value();
  });
  ASSERT_EQ(finished.wait_for(20s), std::future_status::ready);
}

TEST(ThreadLoop, C1_1_OneNamedThreadRunsAllInPostOrder) {
  ThreadLoop loop(kClock, 1);
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) loop.post([&order, i] { order.push_back(i); });  // before start
  loop.start();
  loop.start();
  for (int i = 3; i < 1000; ++i) loop.post([&order, i] { order.push_back(i); });
  std::array<char, 16> name{};
  bool on_thread = false;
  run_on(loop, [&] {
    pthread_getname_np(pthread_self(), name.data(), name.size());
    on_thread = loop.on_thread();
  });
  EXPECT_STREQ(name.data(), "tenon-loop");
  EXPECT_TRUE(on_thread);
  EXPECT_FALSE(loop.on_thread());
  ASSERT_EQ(order.size(), 1000u);
  for (size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], static_cast<int>(i));
}

TEST(ThreadLoop, C1_1_PostingDoesNotWaitForTheHandling) {
  ThreadLoop loop(kClock, 1);
  loop.start();
  std::promise<void> gate;
  loop.post([&] { gate.get_future().wait(); });
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) loop.post([&] { ++ran; });  // returns while the loop is blocked
  EXPECT_EQ(ran, 0);
  gate.set_value();
  run_on(loop, [&] { EXPECT_EQ(ran, 100); });
}

TEST(ThreadLoop, S004_063_ManyPostersEachInOrder) {
  constexpr int kPosters = 8;
  constexpr int kEach = 5000;
  ThreadLoop loop(kClock, 1);
  loop.start();
  std::array<int, kPosters> next{};  // of the loop's thread: TSan sees any second thread
  bool in_order = true;
  std::latch begin(kPosters);
  std::vector<std::thread> posters;
  for (size_t p = 0; p < kPosters; ++p) {
    posters.emplace_back([&, p] {
      begin.arrive_and_wait();
      for (int i = 0; i < kEach; ++i) {
        loop.post([&, p, i] { in_order = (next[p]++ == i) && in_order; });
      }
    });
  }
  for (auto& poster : posters) poster.join();
  run_on(loop, [] {});
  EXPECT_TRUE(in_order);
  for (const int count : next) EXPECT_EQ(count, kEach);
}

TEST(ThreadLoop, TimersFireInOrderAndNotEarly) {
  ThreadLoop loop(kClock, 1);
  loop.start();
  std::vector<std::string> order;
  std::promise<Time> fired;
  const Time before = kClock.now();
  loop.post([&] {
    const TimerId cancelled = loop.call_after(1ms, [&] { order.emplace_back("cancelled"); });
    loop.call_after(30ms, [&] {
      order.emplace_back("30");
      fired.set_value(kClock.now());
    });
    loop.call_after(10ms, [&] { order.emplace_back("10"); });
    loop.call_after(0ms, [&] { order.emplace_back("0"); });
    loop.cancel(cancelled);
  });
  auto when = fired.get_future();
  ASSERT_EQ(when.wait_for(20s), std::future_status::ready);
  EXPECT_GE(when.get() - before, 30ms);
  EXPECT_THAT(order, ElementsAre("0", "10", "30"));
}

TEST(ThreadLoop, ATimerIsNotStarvedByWorkThatKeepsPosting) {
  ThreadLoop loop(kClock, 1);
  loop.start();
  std::promise<void> fired;
  std::function<void()> again = [&] { loop.post([&] { again(); }); };
  loop.post([&] {
    loop.call_after(5ms, [&] { fired.set_value(); });
    again();
  });
  EXPECT_EQ(fired.get_future().wait_for(20s), std::future_status::ready);
  loop.stop();
}

TEST(ThreadLoop, HooksRunAtTheEndOfATurnWithTheWholeBatchDone) {
  std::vector<int> seen;
  int done = 0;
  ThreadLoop loop(kClock, 1);  // last: its hook uses what is above until it is gone
  loop.at_turn_end([&] { seen.push_back(done); });
  for (int i = 0; i < 5; ++i) loop.post([&] { ++done; });
  loop.start();
  run_on(loop, [] {});
  loop.stop();
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.front(), 5);  // one turn for what was posted before start
}

TEST(ThreadLoop, S004_065_AnEscapedExceptionGoesToTheHandlerAndTheLoopGoesOn) {
  std::vector<std::string> errors;
  std::vector<std::string> last_resort;
  ThreadLoop loop(kClock, 1);
  loop.set_error_handler([&](std::exception_ptr error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      errors.emplace_back(e.what());
      if (errors.back() == "second") throw std::runtime_error("handler broke");
    } catch (int number) {
      errors.push_back(std::to_string(number));
      throw 8;
    }
  });
  loop.set_last_resort([&](std::string_view line) {
    last_resort.emplace_back(line);
    throw std::runtime_error("even this one");
  });
  loop.start();
  loop.post([] { throw std::runtime_error("first"); });
  loop.post([] { throw std::runtime_error("second"); });
  loop.post([] { throw 7; });
  bool ran = false;
  run_on(loop, [&] { ran = true; });
  EXPECT_TRUE(ran);
  EXPECT_THAT(errors, ElementsAre("first", "second", "7"));
  EXPECT_THAT(last_resort, ElementsAre("Unexpected error in tenon-loop: handler broke",
                                       "Unexpected error in tenon-loop: an exception that is no "
                                       "std::exception"));
  EXPECT_EQ(loop.unexpected_errors(), 2u);
}

TEST(ThreadLoop, S004_065_WithoutAHandlerTheLastResortHearsOfIt) {
  ThreadLoop loop(kClock, 1);
  std::string line;
  loop.set_last_resort([&](std::string_view text) { line = text; });
  loop.start();
  loop.post([] { throw std::runtime_error("lost"); });
  run_on(loop, [] {});
  EXPECT_EQ(line, "Unexpected error in tenon-loop: lost");
  EXPECT_EQ(loop.unexpected_errors(), 1u);
}

TEST(ThreadLoop, C1_3_TheHandlerMayStopTheLoopFromAnotherThread) {
  ThreadLoop loop(kClock, 1);
  std::thread stopper;
  std::promise<void> stopped;
  loop.set_error_handler([&](const std::exception_ptr&) {
    stopper = std::thread([&] {
      loop.stop();
      stopped.set_value();
    });
  });
  loop.start();
  loop.post([] { throw std::runtime_error("broken"); });
  EXPECT_EQ(stopped.get_future().wait_for(20s), std::future_status::ready);
  stopper.join();
}

TEST(ThreadLoop, S004_066_StopEndsAtOnceWithWorkQueued) {
  ThreadLoop loop(kClock, 1);
  auto alive = std::make_shared<int>(0);
  std::atomic<int> ran{0};
  std::promise<void> entered;
  std::promise<void> gate;
  int hooks = 0;
  loop.at_turn_end([&] { ++hooks; });
  loop.post([&] {
    entered.set_value();
    gate.get_future().wait();
  });
  for (int i = 0; i < 100; ++i) loop.post([&ran, alive] { ++ran; });  // the same batch
  loop.start();
  entered.get_future().wait();
  for (int i = 0; i < 100; ++i) loop.post([&ran, alive] { ++ran; });  // the mailbox
  std::thread stopper([&] { loop.stop(); });
  // The stop is under way as soon as a post is dropped.
  EXPECT_TRUE(test::wait_until([&] {
    const long before = alive.use_count();
    loop.post([&ran, alive] { ++ran; });
    return alive.use_count() == before;
  }));
  gate.set_value();
  stopper.join();
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(hooks, 1);              // what the cut turn gathered goes out
  EXPECT_EQ(alive.use_count(), 1);  // all that was queued is destroyed
  loop.stop();
  loop.start();
  loop.post([&ran, alive] { ++ran; });
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(ThreadLoop, C1_4_StopFromTheLoopsOwnThreadDoesNotDeadlock) {
  ThreadLoop loop(kClock, 1);
  loop.start();
  std::promise<void> stopped;
  std::atomic<bool> ran_after{false};
  loop.post([&] {
    loop.post([&] { ran_after = true; });
    loop.stop();
    stopped.set_value();
  });
  ASSERT_EQ(stopped.get_future().wait_for(20s), std::future_status::ready);
  loop.stop();  // joins
  EXPECT_FALSE(ran_after);
}

TEST(ThreadLoop, MayBeDestroyedOnItsOwnThread) {
  auto loop = std::make_unique<ThreadLoop>(kClock, 1);
  loop->start();
  std::promise<void> gone;
  ThreadLoop& the_loop = *loop;
  the_loop.post([&gone, owned = std::move(loop)]() mutable {
    owned.reset();
    gone.set_value();
  });
  EXPECT_EQ(gone.get_future().wait_for(20s), std::future_status::ready);
}

TEST(ThreadLoop, StopFromSeveralThreadsAtOnce) {
  for (int round = 0; round < 50; ++round) {
    ThreadLoop loop(kClock, 1);
    loop.start();
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([&] { loop.stop(); });
    for (int i = 0; i < 100; ++i) loop.post([] {});
    for (auto& thread : threads) thread.join();
  }
}

struct PostsOnDestruction {
  Loop* loop;
  std::atomic<int>* destroyed;
  ~PostsOnDestruction() {
    ++*destroyed;
    loop->post([] { FAIL() << "posted after stop"; });
  }
};

TEST(ThreadLoop, DestructorsOfDroppedWorkMayPost) {
  std::atomic<int> destroyed{0};
  {
    ThreadLoop loop(kClock, 1);
    loop.start();
    run_on(loop, [&] {
      loop.call_after(1h, [p = std::make_unique<PostsOnDestruction>(&loop, &destroyed)] {});
      loop.post([p = std::make_unique<PostsOnDestruction>(&loop, &destroyed)] { FAIL(); });
      loop.stop();
    });
    loop.stop();
    EXPECT_EQ(destroyed, 2);
    loop.post([p = std::make_unique<PostsOnDestruction>(&loop, &destroyed)] { FAIL(); });
    EXPECT_EQ(destroyed, 3);
  }
  {
    ThreadLoop never_started(kClock, 1);
    never_started.post(
        [p = std::make_unique<PostsOnDestruction>(&never_started, &destroyed)] { FAIL(); });
  }
  EXPECT_EQ(destroyed, 4);
}

TEST(ThreadLoop, S004_064_IdleLoopUsesNoProcessor) {
  ThreadLoop loop(kClock, 1);
  loop.start();
  clockid_t cpu_clock{};
  run_on(loop, [&] {
    loop.call_after(1h, [] {});
    ASSERT_EQ(pthread_getcpuclockid(pthread_self(), &cpu_clock), 0);
  });
  const auto used = [&] {
    timespec time{};
    clock_gettime(cpu_clock, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto before = used();
  const auto until = kClock.now() + 200ms;
  while (kClock.now() < until) std::this_thread::sleep_for(20ms);
  EXPECT_LT(used() - before, 20ms);
}

}  // namespace
}  // namespace tenon::loop
