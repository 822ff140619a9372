#include "task/pending_tasks.hpp"

#include <gmock/gmock.h>

#include "unit/task/support.hpp"

namespace tenon::task::test {
namespace {

using testing::ElementsAre;

class PendingTasksTest : public testing::Test {
 public:
  PendingTasksTest() : set(make_set(6)) {
    set->tasks[0].preferred = {{"host1", "exec1"}};
    set->tasks[1].preferred = {{"host1", ""}};
    set->tasks[3].preferred = {{"host2", ""}};
    set->tasks[4].preferred = {{"host3", "exec3"}};
    set->tasks[5].preferred = {{"host1", "exec1"}, {"host2", ""}};
    join("exec1", "host1", "rack1");
    join("exec2", "host2", "rack1");
  }

  NameId join(const std::string& id, const std::string& host, const std::string& rack = "") {
    Executor executor;
    executor.id = id;
    executor.host = host;
    if (!rack.empty()) executor.attributes["rack"] = rack;
    cluster.add(executor);
    return cluster.executor_id(id);
  }
  PendingTasks& pending() {
    if (!pending_) {
      pending_.emplace(*set, cluster, [this](int32_t index) { return !taken.contains(index); });
      for (int32_t i = static_cast<int32_t>(set->tasks.size()) - 1; i >= 0; --i) pending_->add(i);
    }
    return *pending_;
  }
  // "index LOCALITY", or "-".
  std::string take(const std::string& executor, Locality max) {
    const auto choice = pending().take(cluster.executor_id(executor), max);
    if (!choice) return "-";
    taken.insert(choice->index);
    return std::to_string(choice->index) + " " + std::to_string(static_cast<int>(choice->locality));
  }

  std::shared_ptr<TaskSet> set;
  Cluster cluster;
  std::set<int32_t> taken;
  std::optional<PendingTasks> pending_;
};

// C7.3, C10.6: own executor, own host, no preference, own rack, anywhere; never beyond what is
// allowed.
TEST_F(PendingTasksTest, C7_3_OrderOfTheLocalitySearch) {
  EXPECT_EQ(take("exec1", Locality::process_local), "0 0");
  EXPECT_EQ(take("exec1", Locality::process_local), "5 0");
  EXPECT_EQ(take("exec1", Locality::process_local), "-");
  EXPECT_EQ(take("exec1", Locality::node_local), "1 1");
  EXPECT_EQ(take("exec1", Locality::node_local), "-");
  EXPECT_EQ(take("exec1", Locality::no_pref), "2 0");  // reported as PROCESS_LOCAL
  EXPECT_EQ(take("exec1", Locality::no_pref), "-");
  EXPECT_EQ(take("exec1", Locality::rack_local), "3 3");  // host2 is in its rack
  EXPECT_EQ(take("exec1", Locality::rack_local), "-");
  EXPECT_EQ(take("exec1", Locality::any), "4 4");
  EXPECT_EQ(take("exec1", Locality::any), "-");
}

TEST_F(PendingTasksTest, C9_1_ATaskThatWaitsAgainIsTheFirst) {
  EXPECT_EQ(take("exec1", Locality::any), "0 0");
  EXPECT_EQ(take("exec1", Locality::any), "5 0");
  taken.erase(0);
  pending().add(0);
  EXPECT_EQ(take("exec2", Locality::node_local), "3 1");
  EXPECT_EQ(take("exec1", Locality::any), "0 0");
}

TEST_F(PendingTasksTest, C10_1_LevelsGoByTheExecutorsThatThereAre) {
  using enum Locality;
  EXPECT_THAT(pending().levels().list(),
              ElementsAre(process_local, node_local, no_pref, rack_local, any));
  cluster.set_decommissioning(cluster.executor_id("exec1"));
  EXPECT_THAT(pending().levels().list(), ElementsAre(node_local, no_pref, rack_local, any));
  cluster.remove(cluster.executor_id("exec2"));
  EXPECT_THAT(pending().levels().list(), ElementsAre(no_pref, any));
  join("exec3", "host3");
  EXPECT_THAT(pending().levels().list(), ElementsAre(process_local, node_local, no_pref, any));
  EXPECT_FALSE(pending().levels() == LocalityLevels{});
}

TEST_F(PendingTasksTest, ARackThatBecomesKnownLater) {
  (void)pending();
  const NameId late = join("exec4", "host4", "rack3");
  EXPECT_EQ(take("exec4", Locality::rack_local), "2 0");
  EXPECT_EQ(take("exec4", Locality::rack_local), "-");
  join("exec3", "host3", "rack3");  // task 4 prefers host3
  pending().host_has_rack(cluster.host_id("host3"), cluster.rack_of(cluster.host_id("host3")));
  EXPECT_EQ(pending().level_for(4, late, Locality::any), Locality::rack_local);
  EXPECT_EQ(take("exec4", Locality::rack_local), "4 3");
}

TEST_F(PendingTasksTest, LevelOfOneTask) {
  const NameId exec1 = cluster.executor_id("exec1");
  EXPECT_EQ(pending().level_for(0, exec1, Locality::any), Locality::process_local);
  EXPECT_EQ(pending().level_for(1, exec1, Locality::any), Locality::node_local);
  EXPECT_EQ(pending().level_for(1, exec1, Locality::process_local), std::nullopt);
  EXPECT_EQ(pending().level_for(2, exec1, Locality::any), Locality::process_local);
  EXPECT_EQ(pending().level_for(2, exec1, Locality::node_local), std::nullopt);
  EXPECT_EQ(pending().level_for(3, exec1, Locality::any), Locality::rack_local);
  EXPECT_EQ(pending().level_for(4, exec1, Locality::any), Locality::any);
}

TEST_F(PendingTasksTest, ListsDoNotGrowWithRetries) {
  for (int round = 0; round < 10000; ++round) {
    for (int32_t index = 0; index < 6; ++index) {
      // Taken through one list only, so that its entries stay in the others.
      const auto choice = pending().take(cluster.executor_id("exec2"), Locality::any);
      ASSERT_TRUE(choice.has_value());
      taken.insert(choice->index);
    }
    taken.clear();
    for (int32_t index = 5; index >= 0; --index) pending().add(index);
  }
  EXPECT_LT(pending().entries(), 1500U);
}

}  // namespace
}  // namespace tenon::task::test
