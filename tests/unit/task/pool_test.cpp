#include "task/pool.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "task/pool_file.hpp"
#include "unit/task/support.hpp"

namespace tenon::task::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PoolTest : public TaskSchedulerTest {
 public:
  PoolTest() : folder_(testing::TempDir() + "pools." + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~PoolTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& text, const std::string& name = "pools.toml") {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::vector<PoolSpec> read(const std::string& text) {
    return read_pool_file(file(text), LogCallback([this](LogLevel level, std::string line) {
                            logs.emplace_back(level, std::move(line));
                          }));
  }
  std::shared_ptr<TaskSet> set_in(const std::string& pool, int32_t tasks, int32_t stage) {
    auto set = make_set(tasks, stage);
    set->properties =
        std::make_shared<const Properties>(Properties{{"tenon.scheduler.pool", pool}});
    return set;
  }
  // Stages of the tasks that offers of one core each launch, one after another; nothing ends.
  std::vector<int> stages_in_turn(int count) {
    std::vector<int> stages;
    for (int i = 0; i < count; ++i) {
      for (const Launch& task : offer("exec1", "host1", 1)) {
        stages.push_back(task.name[task.name.find("stage ") + 6] - '0');
      }
    }
    return stages;
  }

  std::string folder_;
};

constexpr const char* kTwoPools = R"([pools.1]
minShare = 2
weight = 1
schedulingMode = "FIFO"
[pools.2]
minShare = 3
weight = 1
schedulingMode = "FIFO"
[pools.3]
minShare = 0
)";

TEST_F(PoolTest, T097_FifoOrder) {
  submit(make_set(2, 2)).submit(make_set(2, 0)).submit(make_set(2, 1));
  EXPECT_THAT(stages_in_turn(6), ElementsAre(0, 0, 1, 1, 2, 2));
}

TEST_F(PoolTest, C8_2_SmallerPriorityComesBeforeSmallerStage) {
  submit(make_set(1, 1, 0, 9)).submit(make_set(1, 5, 0, 3)).submit(make_set(1, 4, 0, 3));
  EXPECT_THAT(stages_in_turn(3), ElementsAre(4, 5, 1));
}

TEST_F(PoolTest, T098_FairOrderFromAFile) {
  settings.mode = "FAIR";
  settings.pool_file = file(kTwoPools);
  submit(set_in("1", 1, 0)).submit(set_in("1", 1, 1)).submit(set_in("1", 2, 2));
  submit(set_in("2", 2, 3)).submit(set_in("2", 2, 4));
  EXPECT_THAT(stages_in_turn(8), ElementsAre(0, 3, 3, 1, 4, 2, 2, 4));
  EXPECT_EQ(scheduler().root_pool().find_pool("1")->running(), 4);  // C8.4
  EXPECT_EQ(scheduler().root_pool().find_pool("2")->running(), 4);
  EXPECT_EQ(scheduler().root_pool().running(), 8);
  EXPECT_EQ(scheduler().root_pool().find_pool("1")->min_share(), 2);
  EXPECT_EQ(scheduler().root_pool().find_pool("3")->children().size(), 0U);
}

TEST_F(PoolTest, T100_BadPoolFileValues) {
  const auto pools = read(R"([pools.a]
minShare = "INVALID_MIN_SHARE"
weight = "INVALID_WEIGHT"
schedulingMode = "INVALID_SCHEDULING_MODE"
[pools.b]
minShare = ""
weight = "   "
schedulingMode = ""
[pools.c]
schedulingMode = "fair"
[pools.d]
schedulingMode = "NONE"
[pools.e]
minShare = " 3 "
weight = "  2"
schedulingMode = " FAIR "
[pools.f]
minShare = -1
weight = 0
[pools.g]
minShare = 1.5
weight = 99999999999
[pools.h]
)");
  ASSERT_EQ(pools.size(), 8U);
  const auto expect = [&](size_t i, const char* name, SchedulingMode mode, int share, int weight) {
    EXPECT_EQ(pools[i].name, name);
    EXPECT_EQ(pools[i].mode, mode) << name;
    EXPECT_EQ(pools[i].min_share, share) << name;
    EXPECT_EQ(pools[i].weight, weight) << name;
  };
  expect(0, "a", SchedulingMode::fifo, 0, 1);
  expect(1, "b", SchedulingMode::fifo, 0, 1);
  expect(2, "c", SchedulingMode::fair, 0, 1);
  expect(3, "d", SchedulingMode::fifo, 0, 1);
  expect(4, "e", SchedulingMode::fair, 3, 2);
  expect(5, "f", SchedulingMode::fifo, 0, 1);
  expect(6, "g", SchedulingMode::fifo, 0, 1);
  expect(7, "h", SchedulingMode::fifo, 0, 1);
  for (const char* pool : {"a", "b"}) {
    for (const char* key : {"minShare", "weight", "schedulingMode"}) {
      EXPECT_EQ(logged(LogLevel::warn, std::string(key) + " of pool '" + pool + "'"), 1)
          << pool << key;
    }
  }
  EXPECT_EQ(logged(LogLevel::warn, "'NONE' of schedulingMode of pool 'd'"), 1);
  EXPECT_EQ(logged(LogLevel::warn, "pool 'f'"), 2);
  EXPECT_EQ(logged(LogLevel::warn, "pool 'g'"), 2);
  EXPECT_EQ(logs.size(), 11U);
}

TEST_F(PoolTest, T101_FifoIgnoresThePoolProperty) {
  submit(set_in("production", 1, 0));
  ASSERT_EQ(scheduler().root_pool().children().size(), 1U);
  EXPECT_EQ(scheduler().root_pool().children()[0]->name(), "TaskSet_0.0");
}

TEST_F(PoolTest, T101_FairDefaultAndUnknownPool) {
  settings.mode = "FAIR";
  submit(make_set(1, 0)).submit(set_in("new", 1, 1)).submit(set_in("", 1, 2));
  const Pool* standard = scheduler().root_pool().find_pool("default");
  ASSERT_NE(standard, nullptr);
  ASSERT_EQ(standard->children().size(), 2U);
  EXPECT_EQ(standard->children()[0]->name(), "TaskSet_0.0");
  EXPECT_EQ(standard->mode(), SchedulingMode::fair);  // no file: the global mode (C8.5)
  const Pool* fresh = scheduler().root_pool().find_pool("new");
  ASSERT_NE(fresh, nullptr);
  EXPECT_EQ(fresh->children()[0]->name(), "TaskSet_1.0");
  EXPECT_EQ(fresh->mode(), SchedulingMode::fifo);
  EXPECT_EQ(fresh->min_share(), 0);
  EXPECT_EQ(fresh->weight(), 1);
  EXPECT_EQ(logged(LogLevel::warn, "pool 'new'"), 1);
  submit(set_in("new", 1, 3));
  EXPECT_EQ(logged(LogLevel::warn, "pool 'new'"), 1);
  EXPECT_EQ(fresh->children().size(), 2U);
}

TEST_F(PoolTest, T102_AGivenPoolFileThatIsMissing) {
  settings.mode = "FAIR";
  for (const std::string& path : {folder_ + "/nowhere.toml", folder_}) {
    settings.pool_file = path;
    try {
      scheduler();
      FAIL() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.message(), HasSubstr("'" + path + "'"));
      EXPECT_THAT(error.message(), HasSubstr("tenon.scheduler.allocation.file"));
    }
  }
  settings.pool_file = folder_ + "/nowhere.toml";
  EXPECT_THROW(scheduler(), Error);
  settings.mode = "FIFO";  // reads no pool file
  EXPECT_NO_THROW(scheduler());
}

TEST_F(PoolTest, C29_9_ASparkFileIsRefusedWithTheTomlForm) {
  settings.mode = "FAIR";
  settings.pool_file = file("\n<?xml version=\"1.0\"?><allocations/>", "fairscheduler.xml");
  try {
    scheduler();
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("fairscheduler.xml"));
    EXPECT_THAT(error.message(), HasSubstr("[pools.NAME]"));
  }
  settings.pool_file = file("[pools.a\nx", "broken.toml");
  try {
    scheduler();
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("broken.toml"));
    EXPECT_THAT(error.message(), HasSubstr("line 1"));
  }
}

TEST_F(PoolTest, S004_111_C8_5_TheDefaultFileIsSearchedAndDefaultAlwaysExists) {
  file("[pools.found]\nweight = 7\n");
  settings.mode = "fair";
  settings.pool_folders = {folder_ + "/none", folder_};
  ASSERT_NE(scheduler().root_pool().find_pool("found"), nullptr);
  EXPECT_EQ(scheduler().root_pool().find_pool("found")->weight(), 7);
  ASSERT_NE(scheduler().root_pool().find_pool("default"), nullptr);
  EXPECT_EQ(scheduler().root_pool().find_pool("default")->mode(), SchedulingMode::fifo);
}

TEST_F(PoolTest, C8_5_AFileMaySetTheDefaultPool) {
  settings.mode = "fair";
  settings.pool_file = file("[pools.default]\nminShare = 4\n[pools.a]\nwieght = 2\n[oops]\n");
  EXPECT_EQ(scheduler().root_pool().find_pool("default")->min_share(), 4);
  EXPECT_EQ(scheduler().root_pool().children().size(), 2U);
  EXPECT_EQ(logged(LogLevel::warn, "'oops'"), 1);
  EXPECT_EQ(logged(LogLevel::warn, "'wieght'"), 1);
}

// A leaf whose count of running tasks a test sets.
class Leaf final : public Schedulable {
 public:
  Leaf(const std::string& name, int min_share, int weight, int running) : Schedulable(name) {
    min_share_ = min_share;
    weight_ = weight;
    add_running(running);
  }
  void collect(std::vector<TaskSetManager*>&) override {}
};

TEST(Pool, C8_3_FairComparator) {
  const struct {
    Leaf first, second;
    const char* why;
  } rows[] = {
      {{"b", 2, 1, 1}, {"a", 0, 1, 0}, "the needy one first"},
      {{"b", 4, 1, 1}, {"a", 2, 1, 1}, "both needy: smaller part of the minimum share"},
      {{"b", 0, 3, 3}, {"a", 0, 1, 2}, "none needy: smaller part of the weight"},
      {{"a", 0, 1, 1}, {"b", 0, 1, 1}, "a tie: by name"},
      {{"10", 0, 1, 1}, {"9", 0, 1, 1}, "names are text"},
  };
  for (const auto& row : rows) {
    EXPECT_TRUE(fair_before(row.first, row.second)) << row.why;
    EXPECT_FALSE(fair_before(row.second, row.first)) << row.why;
  }
}

TEST(Pool, C8_4_NestedPoolsCountRunningTasksUpwards) {
  Pool root(PoolSpec{"", SchedulingMode::fair, 0, 1});
  Pool& outer = root.add_pool(PoolSpec{"outer", SchedulingMode::fair, 0, 1});
  Pool& inner = outer.add_pool(PoolSpec{"inner", SchedulingMode::fifo, 2, 5});
  Leaf leaf("leaf", 0, 1, 3);
  inner.add(leaf);
  EXPECT_EQ(root.running(), 3);
  leaf.add_running(2);
  EXPECT_EQ(inner.running(), 5);
  EXPECT_EQ(outer.running(), 5);
  EXPECT_EQ(root.running(), 5);
  inner.remove(leaf);
  EXPECT_EQ(root.running(), 0);
  EXPECT_EQ(leaf.running(), 5);
  EXPECT_EQ(inner.parent(), &outer);
}

TEST_F(PoolTest, C8_7_OnlySetsWithPendingTasksAppear) {
  submit(make_set(1, 0)).submit(make_set(1, 1));
  offer("exec1", "host1", 1);
  std::vector<TaskSetManager*> sets;
  const_cast<Pool&>(scheduler().root_pool()).collect(sets);
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0]->stage_id(), 1);
}

TEST_F(PoolTest, FairSharesCoresByWeight) {
  settings.mode = "FAIR";
  settings.pool_file = file("[pools.a]\nweight = 3\n[pools.b]\nweight = 1\n");
  submit(set_in("a", 100, 0)).submit(set_in("b", 100, 1));
  for (int i = 0; i < 40; ++i) offer("exec1", "host1", 1);
  EXPECT_EQ(scheduler().root_pool().find_pool("a")->running(), 30);
  EXPECT_EQ(scheduler().root_pool().find_pool("b")->running(), 10);
}

}  // namespace
}  // namespace tenon::task::test
