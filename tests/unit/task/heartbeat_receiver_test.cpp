#include "task/heartbeat_receiver.hpp"

#include <gmock/gmock.h>

#include <set>

#include "loop/loop.hpp"
#include "tenon/error.hpp"
#include "unit/task/support.hpp"

namespace tenon::task::test {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

class HeartbeatReceiverTest : public testing::Test {
 public:
  class KillingBackend final : public Backend {
   public:
    void revive_offers() override {}
    void launch_tasks(uint64_t, std::vector<Launch>) override {}
    void kill_task(uint64_t, const std::string&, bool, bool, const std::string&) override {}
    bool kill_executor(const std::string& id, const std::string& reason) override {
      killed.push_back(id + ": " + reason);
      if (throws) throw Error(ErrorKind::plugin, "no");
      return true;
    }
    uint64_t max_payload_bytes() const override { return 0; }

    std::vector<std::string> killed;
    bool throws = false;
  };

  HeartbeatReceiver make(HeartbeatReceiver::Settings settings = {}) {
    return HeartbeatReceiver(
        loop, backend, settings,
        [this](const std::string& id, const LossReason& reason) {
          EXPECT_EQ(reason.kind, LossReason::Kind::unreachable);
          lost.push_back(id + ": " + reason.message);
        },
        [this](const std::string& id) { return !blocks_unknown.contains(id); });
  }

  loop::ManualLoop loop;
  KillingBackend backend;
  std::set<std::string> blocks_unknown;
  std::vector<std::string> lost;
};

TEST_F(HeartbeatReceiverTest, C18_11_NormalAndUnknownHeartbeats) {
  HeartbeatReceiver receiver = make();
  receiver.add_executor("e1");
  receiver.add_executor("e2");
  EXPECT_FALSE(receiver.heartbeat("e1"));
  EXPECT_FALSE(receiver.heartbeat("e2"));
  blocks_unknown.insert("e2");
  EXPECT_TRUE(receiver.heartbeat("e2"));
  EXPECT_TRUE(receiver.heartbeat("stranger"));
  EXPECT_FALSE(receiver.knows("stranger"));
  receiver.remove_executor("e1");
  EXPECT_TRUE(receiver.heartbeat("e1"));
  EXPECT_EQ(receiver.tracked(), 1U);
  receiver.stop();
  EXPECT_FALSE(receiver.heartbeat("e2"));
  EXPECT_FALSE(receiver.heartbeat("stranger"));
  receiver.add_executor("e3");
  EXPECT_EQ(receiver.tracked(), 0U);
  EXPECT_EQ(loop.timers(), 0U);
}

TEST_F(HeartbeatReceiverTest, C18_12_Expiry) {
  HeartbeatReceiver receiver = make();
  receiver.add_executor("e1");
  receiver.add_executor("e2");
  loop.advance(seconds(60));
  EXPECT_FALSE(receiver.heartbeat("e1"));
  loop.advance(seconds(119));
  EXPECT_THAT(lost, ElementsAre());
  loop.advance(seconds(1));
  EXPECT_THAT(lost, ElementsAre("e2: Executor heartbeat timed out after 180000 ms"));
  EXPECT_EQ(backend.killed, lost);
  EXPECT_TRUE(receiver.knows("e1"));
  // It is unknown from now on, whatever it still sends.
  EXPECT_TRUE(receiver.heartbeat("e2"));
  EXPECT_FALSE(receiver.knows("e2"));
  backend.throws = true;
  loop.advance(seconds(60));
  EXPECT_EQ(lost.size(), 2U);
  loop.advance(seconds(600));
  EXPECT_EQ(loop.timers(), 0U);
  receiver.add_executor("e4");
  loop.advance(seconds(180));
  EXPECT_EQ(lost.size(), 3U);
}

TEST_F(HeartbeatReceiverTest, C18_12_IntervalsLongerThanTheTimeoutAreRefused) {
  HeartbeatReceiver::Settings settings;
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
}  // namespace tenon::task::test
