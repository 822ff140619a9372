#include "loop/invariants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tenon::loop {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct InvariantsTest : testing::Test {
  ManualLoop loop;
  std::vector<std::string> reports;
  int runs = 0;
  std::string wrong;
  Invariants invariants{[this](std::string_view name, const std::string& text) {
    reports.push_back(std::string(name) + ": " + text);
  }};
  void SetUp() override {
    invariants.add("cores", [this] {
      ++runs;
      return wrong;
    });
  }
};

TEST_F(InvariantsTest, ReportsEachNewViolationOnce) {
  EXPECT_EQ(invariants.run(), 0u);
  wrong = "free cores of e1 are -1";
  EXPECT_EQ(invariants.run(), 1u);
  EXPECT_EQ(invariants.run(), 1u);
  EXPECT_THAT(reports, ElementsAre("cores: free cores of e1 are -1"));
  wrong = "free cores of e1 are -2";
  EXPECT_EQ(invariants.run(), 1u);
  wrong = "";
  EXPECT_EQ(invariants.run(), 0u);
  wrong = "free cores of e1 are -2";
  EXPECT_EQ(invariants.run(), 1u);
  EXPECT_EQ(reports.size(), 3u);
  EXPECT_EQ(invariants.violations(), 3u);
}

TEST_F(InvariantsTest, ACheckThatThrowsIsAViolationAndTheOthersRun) {
  invariants.add("throws", []() -> std::string { throw std::runtime_error("no such stage"); });
  invariants.add("odd", []() -> std::string { throw 1; });
  int last = 0;
  invariants.add("last", [&] {
    ++last;
    return std::string();
  });
  EXPECT_EQ(invariants.run(), 2u);
  EXPECT_EQ(last, 1);
  EXPECT_THAT(reports, ElementsAre("throws: the check threw: no such stage",
                                   "odd: the check threw an exception that is no std::exception"));
}

TEST_F(InvariantsTest, EveryTurn) {
  invariants.attach(loop, 1);
  for (int i = 0; i < 3; ++i) {
    loop.post([] {});
    loop.run();
  }
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(loop.timers(), 0u);
}

TEST_F(InvariantsTest, EveryNthTurnAndOnceAfterASilence) {
  invariants.attach(loop, 10, 1s);
  for (int i = 0; i < 25; ++i) loop.run();
  EXPECT_EQ(runs, 2);
  wrong = "bad";
  loop.advance(999ms);  // a turn of its own, the 26th
  EXPECT_EQ(runs, 2);
  loop.advance(1ms);
  EXPECT_EQ(runs, 3);
  EXPECT_THAT(reports, ElementsAre("cores: bad"));
  EXPECT_EQ(loop.timers(), 0u);  // an idle loop stays asleep
}

TEST(Invariants, TheLoopMayOutliveThem) {
  ManualLoop loop;
  int runs = 0;
  auto invariants = std::make_unique<Invariants>(nullptr);
  invariants->add("x", [&] {
    ++runs;
    return std::string("wrong");
  });
  invariants->attach(loop, 2);
  loop.run();
  EXPECT_EQ(loop.timers(), 1u);
  invariants.reset();
  loop.advance(2s);
  EXPECT_EQ(runs, 0);
}

}  // namespace
}  // namespace tenon::loop
