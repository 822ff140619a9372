#include "task/heartbeat_receiver.hpp"

#include <gmock/gmock.h>

#include <set>

#include "loop/loop.hpp"
#include "tenon/error.hpp"

namespace tenon::task {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

class HeartbeatReceiverTest : public testing::Test {
 public:
  HeartbeatReceiver make(HeartbeatSettings settings = {}) {
    return HeartbeatReceiver(
        loop, settings,
        {.blocks_known = [this](const std::string& id) { return !blocks_unknown.contains(id); },
         .expired = [this](const std::string& id,
                           const std::string& reason) { expired.push_back(id + ": " + reason); }});
  }

  loop::ManualLoop loop;
  std::set<std::string> blocks_unknown;
  std::vector<std::string> expired;
};

TEST_F(HeartbeatReceiverTest, C18_11_NormalAndUnknownHeartbeats) {
  HeartbeatReceiver receiver = make();
  receiver.executor_added("e1");
  EXPECT_TRUE(receiver.heartbeat("e1").register_blocks);  // the scheduler is not there yet
  EXPECT_FALSE(receiver.heartbeat("e1").known);
  receiver.start();
  receiver.executor_added("e2");
  EXPECT_TRUE(receiver.heartbeat("e1").known);
  EXPECT_FALSE(receiver.heartbeat("e1").register_blocks);
  EXPECT_FALSE(receiver.heartbeat("e2").register_blocks);
  blocks_unknown.insert("e2");
  EXPECT_TRUE(receiver.heartbeat("e2").known);
  EXPECT_TRUE(receiver.heartbeat("e2").register_blocks);
  EXPECT_FALSE(receiver.heartbeat("stranger").known);
  EXPECT_TRUE(receiver.heartbeat("stranger").register_blocks);
  receiver.executor_removed("e1");
  EXPECT_TRUE(receiver.heartbeat("e1").register_blocks);
  EXPECT_EQ(receiver.tracked(), 1U);
  receiver.stop();
  EXPECT_FALSE(receiver.heartbeat("e2").register_blocks);
  EXPECT_FALSE(receiver.heartbeat("e2").known);
  receiver.executor_added("e3");
  EXPECT_EQ(receiver.tracked(), 0U);
  EXPECT_EQ(loop.timers(), 0U);
}

TEST_F(HeartbeatReceiverTest, C18_12_Expiry) {
  HeartbeatReceiver receiver = make();
  receiver.start();
  receiver.executor_added("e1");
  receiver.executor_added("e2");
  loop.advance(seconds(60));
  EXPECT_TRUE(receiver.heartbeat("e1").known);
  loop.advance(seconds(119));
  EXPECT_THAT(expired, ElementsAre());
  loop.advance(seconds(1));
  EXPECT_THAT(expired, ElementsAre("e2: Executor heartbeat timed out after 180000 ms"));
  EXPECT_EQ(receiver.tracked(), 1U);
  // It is unknown from now on, whatever it still sends.
  EXPECT_FALSE(receiver.heartbeat("e2").known);
  EXPECT_EQ(receiver.tracked(), 1U);
  loop.advance(seconds(60));
  EXPECT_EQ(expired.size(), 2U);
  loop.advance(seconds(600));
  EXPECT_EQ(loop.timers(), 0U);
  receiver.executor_added("e4");
  loop.advance(seconds(180));
  EXPECT_EQ(expired.size(), 3U);
}

TEST_F(HeartbeatReceiverTest, C18_12_IntervalsLongerThanTheTimeoutAreRefused) {
  HeartbeatSettings settings;
  settings.check_interval = seconds(121);
  try {
    make(settings);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.message(), HasSubstr("tenon.network.timeoutInterval (121000 ms)"));
    EXPECT_THAT(error.message(), HasSubstr("tenon.network.timeout (120000 ms)"));
  }
  settings = {};
  settings.executor_interval = seconds(121);
  EXPECT_THROW(make(settings), Error);
  settings.executor_interval = seconds(0);
  EXPECT_THROW(make(settings), Error);
  settings.executor_interval = seconds(120);
  settings.check_interval = seconds(120);
  EXPECT_NO_THROW(make(settings));
}

}  // namespace
}  // namespace tenon::task
