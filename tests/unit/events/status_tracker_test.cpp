#include "tenon/status_tracker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "events/status_source.hpp"
#include "events/turn_sink.hpp"
#include "loop/loop.hpp"
#include "support/event_builders.hpp"

namespace tenon::events {
namespace {

using namespace std::chrono_literals;
using namespace tenon::test;
using testing::ElementsAre;
using testing::IsEmpty;

const loop::SystemClock kClock;

// The wiring of a context: a loop whose turns feed the bus, the store behind it, a tracker that
// waits for both.
struct StatusTrackerTest : testing::Test {
  ListenerBus bus{{}};
  loop::ThreadLoop loop{kClock, 1};
  TurnSink sink{loop, bus};
  std::shared_ptr<StatusStore> store = std::make_shared<StatusStore>();
  StatusTracker tracker{
      std::make_shared<StatusSource>(store, [this] { settled = wait_for_status(loop, bus, 20s); })};
  std::atomic<bool> settled{false};

  void SetUp() override {
    bus.add(store, Group::app_status);
    bus.start();
    loop.start();
  }
  void TearDown() override { loop.stop(); }

  // Returns as soon as the loop has handled it, as an action does: the events may still be in the
  // turn.
  void run_on_loop(std::function<void()> work) {
    std::promise<void> done;
    const auto finished = done.get_future();
    loop.post([&work, done = std::move(done)]() mutable {
      work();
      done.set_value();
    });
    finished.wait();
  }
};

TEST_F(StatusTrackerTest, C24_5_WhatHappenedBeforeTheCallIsInTheAnswer) {
  for (int32_t id = 0; id < 300; ++id) {
    run_on_loop([&] { sink.post(job_start(id, {make_stage(id, 0, 1)})); });
    ASSERT_THAT(tracker.active_job_ids(), ElementsAre(id));
    run_on_loop([&] {
      sink.post(submitted(make_stage(id, 0, 1)));
      sink.post(completed(make_stage(id, 0, 1)));
      sink.post(job_end(id));
    });
    ASSERT_EQ(tracker.job_info(id)->status, JobStatus::succeeded);
    ASSERT_TRUE(settled);
  }
}

TEST_F(StatusTrackerTest, T218_IdsOfGroupsAndTagsUnknownNone) {
  run_on_loop([&] {
    sink.post(job_start(0, {make_stage(0, 0, 2)}, {{kJobGroupKey, "g"}, {kJobTagsKey, "a,b"}}));
    sink.post(job_start(1, {}, {{kJobGroupKey, "g"}, {kJobTagsKey, "b"}}));
    sink.post(job_start(2, {}));
    sink.post(submitted(make_stage(0, 0, 2)));
    sink.post(task_start(0, 0, 1));
    ExecutorInfo executor;
    executor.id = "e1";
    sink.post(event::ExecutorAdded{executor, 1});
  });
  EXPECT_THAT(tracker.job_ids_for_group("g"), ElementsAre(0, 1));
  EXPECT_THAT(tracker.job_ids_for_group(std::nullopt), ElementsAre(2));
  EXPECT_THAT(tracker.job_ids_for_group("other"), IsEmpty());
  EXPECT_THAT(tracker.job_ids_for_tag("b"), ElementsAre(0, 1));
  EXPECT_THAT(tracker.job_ids_for_tag("c"), IsEmpty());
  EXPECT_THAT(tracker.active_stage_ids(), ElementsAre(0));
  EXPECT_EQ(tracker.stage_info(0)->active, 1);
  EXPECT_FALSE(tracker.stage_info(1));
  EXPECT_FALSE(tracker.job_info(3));
  ASSERT_EQ(tracker.executor_infos().size(), 1u);
  EXPECT_EQ(tracker.executor_infos()[0].id, "e1");
}

TEST_F(StatusTrackerTest, AfterTheStopItAnswersAtOnce) {
  run_on_loop([&] { sink.post(job_start(0, {})); });
  loop.stop();
  bus.stop();
  EXPECT_THAT(tracker.active_job_ids(), ElementsAre(0));
  EXPECT_TRUE(settled);
}

TEST_F(StatusTrackerTest, OnTheLoopAndInAListenerItDoesNotWait) {
  struct Asking : Listener {
    StatusTracker* tracker = nullptr;
    std::promise<size_t> jobs;
    void on_unpersist_rdd(const event::UnpersistRdd&) override {
      jobs.set_value(tracker->active_job_ids().size());
    }
  };
  for (const Group group : {Group::app_status, Group::shared}) {
    auto asking = std::make_shared<Asking>();
    asking->tracker = &tracker;
    bus.add(asking, group);
    auto jobs = asking->jobs.get_future();
    bus.post(event::UnpersistRdd{1});
    ASSERT_EQ(jobs.wait_for(10s), std::future_status::ready);
    EXPECT_EQ(jobs.get(), 0u);
    bus.remove(asking);
  }
  run_on_loop([&] {
    sink.post(job_start(0, {}));
    EXPECT_THAT(tracker.active_job_ids(), IsEmpty());  // as of the events so far
  });
  EXPECT_THAT(tracker.active_job_ids(), ElementsAre(0));
}

TEST_F(StatusTrackerTest, TheWaitIsBounded) {
  std::promise<void> gate;
  loop.post([&] { gate.get_future().wait(); });
  EXPECT_FALSE(wait_for_status(loop, bus, 5ms));
  gate.set_value();
  EXPECT_TRUE(wait_for_status(loop, bus, 20s));
}

}  // namespace
}  // namespace tenon::events
