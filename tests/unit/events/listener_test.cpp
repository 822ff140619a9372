#include "tenon/listener.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon {
namespace {

struct Names : Listener {
  std::vector<std::string> seen;
  void on_application_start(const event::ApplicationStart&) override {
    seen.push_back("app start");
  }
  void on_application_end(const event::ApplicationEnd&) override { seen.push_back("app end"); }
  void on_environment_update(const event::EnvironmentUpdate&) override { seen.push_back("env"); }
  void on_job_start(const event::JobStart&) override { seen.push_back("job start"); }
  void on_job_end(const event::JobEnd&) override { seen.push_back("job end"); }
  void on_stage_submitted(const event::StageSubmitted&) override { seen.push_back("submitted"); }
  void on_stage_completed(const event::StageCompleted&) override { seen.push_back("completed"); }
  void on_task_start(const event::TaskStart&) override { seen.push_back("task start"); }
  void on_task_getting_result(const event::TaskGettingResult&) override {
    seen.push_back("getting");
  }
  void on_task_end(const event::TaskEnd&) override { seen.push_back("task end"); }
  void on_executor_added(const event::ExecutorAdded&) override { seen.push_back("exec added"); }
  void on_executor_removed(const event::ExecutorRemoved&) override {
    seen.push_back("exec removed");
  }
  void on_block_manager_added(const event::BlockManagerAdded&) override {
    seen.push_back("bm added");
  }
  void on_block_manager_removed(const event::BlockManagerRemoved&) override {
    seen.push_back("bm removed");
  }
  void on_unpersist_rdd(const event::UnpersistRdd&) override { seen.push_back("unpersist"); }
};

TEST(Listener, C24_1_EveryEventReachesItsFunction) {
  Names names;
  const std::vector<Event> events{event::ApplicationStart{},
                                  event::ApplicationEnd{},
                                  event::EnvironmentUpdate{},
                                  event::JobStart{},
                                  event::JobEnd{},
                                  event::StageSubmitted{},
                                  event::StageCompleted{},
                                  event::TaskStart{},
                                  event::TaskGettingResult{},
                                  event::TaskEnd{},
                                  event::ExecutorAdded{},
                                  event::ExecutorRemoved{},
                                  event::BlockManagerAdded{},
                                  event::BlockManagerRemoved{},
                                  event::UnpersistRdd{}};
  ASSERT_EQ(events.size(), std::variant_size_v<Event>);
  for (const Event& event : events) names.on_event(event);
  EXPECT_THAT(names.seen, testing::ElementsAre("app start", "app end", "env", "job start",
                                               "job end", "submitted", "completed", "task start",
                                               "getting", "task end", "exec added", "exec removed",
                                               "bm added", "bm removed", "unpersist"));
}

TEST(Status, CallSiteText) {
  EXPECT_EQ((CallSite{"reduce_by_key", "/src/wordcount.cpp", 14}.text()),
            "reduce_by_key at wordcount.cpp:14");
  EXPECT_EQ((CallSite{"count", "wc.cpp", 0}.text()), "count at wc.cpp");
  EXPECT_EQ((CallSite{"count", "", 0}.text()), "count");
}

TEST(Status, LocalityNames) {
  EXPECT_EQ(to_string(Locality::process_local), "PROCESS_LOCAL");
  EXPECT_EQ(to_string(Locality::node_local), "NODE_LOCAL");
  EXPECT_EQ(to_string(Locality::no_pref), "NO_PREF");
  EXPECT_EQ(to_string(Locality::rack_local), "RACK_LOCAL");
  EXPECT_EQ(to_string(Locality::any), "ANY");
}

}  // namespace
}  // namespace tenon
