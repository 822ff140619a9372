#include "events/listener_bus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "events/turn_sink.hpp"
#include "support/event_order.hpp"
#include "support/wait_until.hpp"
#include "tenon/error.hpp"

namespace tenon::events {
namespace {

using namespace std::chrono_literals;
using test::RecordingListener;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ListenerBus::Deadline soon() { return std::chrono::steady_clock::now() + 20s; }

Event unpersist(int32_t id) { return event::UnpersistRdd{id}; }

std::vector<int32_t> ids(const RecordingListener& listener) {
  std::vector<int32_t> ids;
  for (const Event& event : listener.events())
    ids.push_back(std::get<event::UnpersistRdd>(event).rdd);
  return ids;
}

// Blocks in its first event until it is released.
class GatedListener : public RecordingListener {
 public:
  void on_event(const Event& event) override {
    if (!entered_.exchange(true)) gate_.get_future().wait();
    RecordingListener::on_event(event);
  }
  bool wait_until_entered() {
    return test::wait_until([this] { return entered_.load(); });
  }
  void release() { gate_.set_value(); }

 private:
  std::atomic<bool> entered_{false};
  std::promise<void> gate_;
};

struct Lines {
  std::mutex mutex;
  std::vector<std::pair<Severity, std::string>> lines;
  LogSink sink() {
    return [this](Severity severity, std::string_view text) {
      const std::lock_guard lock(mutex);
      lines.emplace_back(severity, text);
    };
  }
  std::vector<std::pair<Severity, std::string>> get() {
    const std::lock_guard lock(mutex);
    return lines;
  }
};

TEST(ListenerBus, C24_3_EventsBeforeStartAreKeptAndDeliveredInOrder) {
  ListenerBus bus({});
  auto early = std::make_shared<RecordingListener>();
  bus.add(early, Group::shared);
  for (int i = 0; i < 5; ++i) bus.post(unpersist(i));
  EXPECT_FALSE(bus.wait_until_empty(soon()));  // nothing is delivered before the start
  EXPECT_EQ(early->size(), 0u);
  auto late = std::make_shared<RecordingListener>();
  bus.add(late, Group::event_log);  // before the start: sees what was kept
  bus.start();
  bus.start();
  bus.post(unpersist(5));
  ASSERT_TRUE(bus.wait_until_empty(soon()));
  EXPECT_THAT(ids(*early), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(ids(*late), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(ListenerBus, T214_StopWaitsForDelivery) {
  ListenerBus bus({});
  auto listener = std::make_shared<GatedListener>();
  bus.add(listener, Group::shared);
  bus.start();
  for (int i = 0; i < 5; ++i) bus.post(unpersist(i));
  ASSERT_TRUE(listener->wait_until_entered());
  std::atomic<bool> stopped{false};
  std::thread stopper([&] {
    bus.stop();
    stopped = true;
  });
  EXPECT_FALSE(test::wait_until([&] { return stopped.load(); }, 50ms));
  EXPECT_EQ(listener->size(), 0u);
  listener->release();
  stopper.join();
  EXPECT_THAT(ids(*listener), ElementsAre(0, 1, 2, 3, 4));
  bus.post(unpersist(9));
  bus.stop();
  EXPECT_THAT(listener->events(), SizeIs(5));
  EXPECT_EQ(bus.dropped(Group::shared), 0u);
}

TEST(ListenerBus, T214_AFullQueueDropsTheNewestAndCounts) {
  Lines lines;
  loop::ManualClock clock;
  ListenerBus bus({.capacity = 1, .log = lines.sink(), .clock = &clock});
  auto blocked = std::make_shared<GatedListener>();
  auto other = std::make_shared<RecordingListener>();
  bus.add(blocked, Group::shared);
  bus.start();
  bus.post(unpersist(0));
  ASSERT_TRUE(blocked->wait_until_entered());  // 0 is being handled
  bus.post(unpersist(1));                      // fills the queue
  EXPECT_EQ(bus.dropped(Group::shared), 0u);
  bus.post(unpersist(2));
  EXPECT_EQ(bus.dropped(Group::shared), 1u);
  blocked->release();
  ASSERT_TRUE(bus.wait_until_empty(soon()));
  EXPECT_THAT(ids(*blocked), ElementsAre(0, 1));
  ASSERT_THAT(lines.get(), SizeIs(1));
  EXPECT_EQ(lines.get()[0].first, Severity::error);
  EXPECT_THAT(lines.get()[0].second, HasSubstr("Dropping event from queue shared"));
}

TEST(ListenerBus, C24_3_AGroupMayHaveACapacityOfItsOwn) {
  ListenerBus bus({.capacity = 1, .group_capacity = {0, 3, 0, 0}});
  auto shared = std::make_shared<GatedListener>();
  auto status = std::make_shared<GatedListener>();
  bus.add(shared, Group::shared);
  bus.add(status, Group::app_status);
  bus.start();
  bus.post(unpersist(0));
  ASSERT_TRUE(shared->wait_until_entered());
  ASSERT_TRUE(status->wait_until_entered());
  for (int i = 1; i <= 4; ++i) bus.post(unpersist(i));
  EXPECT_EQ(bus.dropped(Group::shared), 3u);
  EXPECT_EQ(bus.dropped(Group::app_status), 1u);
  shared->release();
  status->release();
  ASSERT_TRUE(bus.wait_until_empty(soon()));
  EXPECT_THAT(ids(*shared), ElementsAre(0, 1));
  EXPECT_THAT(ids(*status), ElementsAre(0, 1, 2, 3));
}

TEST(ListenerBus, C24_3_OneErrorLineThenOneWarningAMinute) {
  Lines lines;
  loop::ManualClock clock;
  ListenerBus bus({.capacity = 2, .log = lines.sink(), .clock = &clock});
  auto blocked = std::make_shared<GatedListener>();
  bus.add(blocked, Group::app_status);
  bus.start();
  bus.post(unpersist(0));
  ASSERT_TRUE(blocked->wait_until_entered());
  bus.post_batch({unpersist(1), unpersist(2), unpersist(3), unpersist(4)});  // room for two
  EXPECT_EQ(bus.dropped(Group::app_status), 2u);
  for (int i = 0; i < 10; ++i) bus.post(unpersist(5));
  clock.advance(59s);
  bus.post(unpersist(6));
  EXPECT_THAT(lines.get(), SizeIs(1));
  clock.advance(1s);
  bus.post(unpersist(7));
  bus.post(unpersist(8));
  ASSERT_THAT(lines.get(), SizeIs(2));
  EXPECT_EQ(lines.get()[1].first, Severity::warning);
  EXPECT_EQ(lines.get()[1].second, "Dropped 12 events from queue appStatus in the last 60 s");
  clock.advance(2min);
  bus.post(unpersist(9));
  ASSERT_THAT(lines.get(), SizeIs(3));
  EXPECT_EQ(lines.get()[2].second, "Dropped 2 events from queue appStatus in the last 120 s");
  EXPECT_EQ(bus.dropped(Group::app_status), 16u);
  blocked->release();
  ASSERT_TRUE(bus.wait_until_empty(soon()));
  EXPECT_THAT(ids(*blocked), ElementsAre(0, 1, 2));
}

class ThrowingListener : public Listener {
 public:
  void on_unpersist_rdd(const event::UnpersistRdd& e) override {
    if (e.rdd % 2 == 0) throw std::runtime_error("no disk");
    throw 7;
  }
};

TEST(ListenerBus, T214_AThrowingListenerHurtsNoOther) {
  Lines lines;
  loop::ManualClock clock;
  ListenerBus bus({.log = lines.sink(), .clock = &clock});
  auto before = std::make_shared<RecordingListener>();
  auto after = std::make_shared<RecordingListener>();
  bus.add(before, Group::shared);
  bus.add(std::make_shared<ThrowingListener>(), Group::shared);
  bus.add(after, Group::shared);
  bus.start();
  for (int i = 0; i < 5; ++i) bus.post(unpersist(i));
  ASSERT_TRUE(bus.wait_until_empty(soon()));
  EXPECT_THAT(ids(*before), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(ids(*after), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(bus.listener_errors(Group::shared), 5u);
  ASSERT_THAT(lines.get(), SizeIs(1));  // five in a minute: one line
  EXPECT_THAT(lines.get()[0].second, HasSubstr("ThrowingListener threw an exception: no disk"));
  clock.advance(1min);
  bus.post(unpersist(5));
  ASSERT_TRUE(bus.wait_until_empty(soon()));
  ASSERT_THAT(lines.get(), SizeIs(2));
  EXPECT_THAT(lines.get()[1].second, HasSubstr("an exception that is no std::exception; 5 "));
}

TEST(ListenerBus, C24_3_ABlockedGroupHoldsUpNoOther) {
  ListenerBus bus({});
  auto blocked = std::make_shared<GatedListener>();
  auto free = std::make_shared<RecordingListener>();
  bus.add(blocked, Group::shared);
  bus.add(free, Group::app_status);
  bus.start();
  for (int i = 0; i < 5; ++i) bus.post(unpersist(i));
  ASSERT_TRUE(bus.wait_until_delivered(Group::app_status, soon()));
  EXPECT_THAT(ids(*free), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(blocked->size(), 0u);
  EXPECT_FALSE(bus.wait_until_empty(std::chrono::steady_clock::now() + 1ms));
  blocked->release();
  EXPECT_TRUE(bus.wait_until_empty(soon()));
}

class StoppingListener : public Listener {
 public:
  explicit StoppingListener(ListenerBus& bus) : bus_(bus) {}
  void on_unpersist_rdd(const event::UnpersistRdd&) override {
    on_thread = bus_.on_listener_thread() && bus_.on_listener_thread(Group::shared) &&
                !bus_.on_listener_thread(Group::event_log);
    waited = bus_.wait_until_delivered(Group::shared, soon());
    try {
      bus_.stop();
    } catch (const Error& e) {
      kind = e.kind();
      text = e.message();
    }
  }
  std::atomic<bool> on_thread{false}, waited{true};
  ErrorKind kind = ErrorKind::internal;
  std::string text;

 private:
  ListenerBus& bus_;
};

TEST(ListenerBus, C24_3_StopFromAListenerIsAnErrorAndNoDeadlock) {
  ListenerBus bus({});
  auto listener = std::make_shared<StoppingListener>(bus);
  bus.add(listener, Group::shared);
  bus.start();
  EXPECT_FALSE(bus.on_listener_thread());
  bus.post(unpersist(0));
  ASSERT_TRUE(bus.wait_until_empty(soon()));
  EXPECT_TRUE(listener->on_thread);
  EXPECT_FALSE(listener->waited);
  EXPECT_EQ(listener->kind, ErrorKind::invalid_argument);
  EXPECT_THAT(listener->text, HasSubstr("from a listener"));
  bus.post(unpersist(1));  // the bus goes on
  EXPECT_TRUE(bus.wait_until_empty(soon()));
  bus.stop();
}

TEST(ListenerBus, ListenersMayComeAndGoWhileItRuns) {
  ListenerBus bus({});
  auto first = std::make_shared<RecordingListener>();
  auto second = std::make_shared<RecordingListener>();
  bus.start();
  bus.post(unpersist(0));  // nobody listens
  bus.add(first, Group::shared);
  bus.post(unpersist(1));
  ASSERT_TRUE(bus.wait_until_empty(soon()));
  bus.add(second, Group::shared);
  bus.post(unpersist(2));
  ASSERT_TRUE(bus.wait_until_empty(soon()));
  bus.remove(first);
  bus.remove(std::make_shared<RecordingListener>());
  bus.post(unpersist(3));
  ASSERT_TRUE(bus.wait_until_empty(soon()));
  EXPECT_THAT(ids(*first), ElementsAre(1, 2));
  EXPECT_THAT(ids(*second), ElementsAre(2, 3));
  bus.remove(second);
  bus.post(unpersist(4));
  ASSERT_TRUE(bus.wait_until_empty(soon()));
  EXPECT_THAT(second->events(), SizeIs(2));
}

TEST(ListenerBus, StopWithoutAStartDeliversNothingAndEnds) {
  auto listener = std::make_shared<RecordingListener>();
  {
    ListenerBus bus({});
    bus.add(listener, Group::shared);
    bus.post(unpersist(0));
    bus.stop();
    bus.start();
    bus.post(unpersist(1));
  }
  EXPECT_EQ(listener->size(), 0u);
}

TEST(ListenerBus, ManyPostersEachInOrderAndNothingLost) {
  constexpr int kPosters = 4;
  constexpr int kEach = 2000;
  ListenerBus bus({.capacity = kPosters * kEach});
  auto shared = std::make_shared<RecordingListener>();
  auto status = std::make_shared<RecordingListener>();
  bus.add(shared, Group::shared);
  bus.add(status, Group::app_status);
  std::vector<std::thread> posters;
  for (int p = 0; p < kPosters; ++p) {
    posters.emplace_back([&bus, p] {
      for (int i = 0; i < kEach; ++i) bus.post(unpersist(p * kEach + i));
    });
  }
  bus.start();  // in the middle of it
  for (auto& poster : posters) poster.join();
  ASSERT_TRUE(bus.wait_until_empty(soon()));
  for (const auto& listener : {shared, status}) {
    std::vector<int> next(kPosters, 0);
    for (const int32_t id : ids(*listener)) {
      ASSERT_EQ(id % kEach, next[static_cast<size_t>(id / kEach)]++);
    }
    EXPECT_THAT(next, ElementsAre(kEach, kEach, kEach, kEach));
  }
}

// Counts the batches that went by: all events of a turn share one.
TEST(TurnSink, OneBatchATurnSharedByTheQueues) {
  loop::ManualLoop loop;
  ListenerBus bus({});
  struct AddressListener : Listener {
    std::vector<const Event*> seen;
    void on_event(const Event& event) override { seen.push_back(&event); }
  };
  auto shared = std::make_shared<AddressListener>();
  auto status = std::make_shared<AddressListener>();
  bus.add(shared, Group::shared);
  bus.add(status, Group::app_status);
  bus.start();
  {
    TurnSink sink(loop, bus);
    loop.post([&] { sink.post(unpersist(0)); });
    loop.post([&] { sink.post(unpersist(1)); });
    loop.run();
    ASSERT_TRUE(bus.wait_until_empty(soon()));
    ASSERT_THAT(shared->seen, SizeIs(2));
    EXPECT_EQ(shared->seen[0] + 1, shared->seen[1]);  // one vector
    EXPECT_EQ(shared->seen, status->seen);            // not copied
    sink.post(unpersist(2));
    ASSERT_TRUE(bus.wait_until_empty(soon()));
    EXPECT_THAT(shared->seen, SizeIs(2));  // gathered until the turn ends
    sink.flush();
    ASSERT_TRUE(bus.wait_until_empty(soon()));
    EXPECT_THAT(shared->seen, SizeIs(3));
    sink.post(unpersist(3));
  }
  ASSERT_TRUE(bus.wait_until_empty(soon()));
  EXPECT_THAT(shared->seen, SizeIs(4));  // the destructor gave what was left
  loop.run();                            // the hook is harmless now
}

}  // namespace
}  // namespace tenon::events
