#include "events/status_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/event_builders.hpp"

namespace tenon::events {
namespace {

using namespace tenon::test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

void play(StatusStore& store, const std::vector<Event>& events) {
  for (const Event& event : events) store.on_event(event);
}

Properties group(const std::string& name) { return {{kJobGroupKey, name}}; }
Properties tags(const std::string& names) { return {{kJobTagsKey, names}}; }

TEST(StatusStore, C24_5_AJobFromStartToEnd) {
  StatusStore store;
  const StagePtr map = make_stage(0, 0, 4);
  const StagePtr reduce = make_stage(1, 0, 2, {0});
  play(store, {job_start(7, {map, reduce})});
  EXPECT_THAT(store.active_job_ids(), ElementsAre(7));
  EXPECT_THAT(store.active_stage_ids(), IsEmpty());
  ASSERT_TRUE(store.stage(1));
  EXPECT_EQ(store.stage(1)->tasks, 2);

  play(store, {submitted(make_stage(0, 0, 4, {}, 1234)), task_start(0, 0, 1), task_start(0, 0, 2),
               task_start(0, 0, 3), task_end(0, 0, 1),
               task_end(0, 0, 2, TaskStatus::failed, "ExceptionFailure")});
  EXPECT_THAT(store.active_stage_ids(), ElementsAre(0));
  const StageProgress progress = *store.stage(0);
  EXPECT_EQ(progress.id, 0);
  EXPECT_EQ(progress.attempt, 0);
  EXPECT_EQ(progress.name, "stage-0");
  EXPECT_EQ(progress.tasks, 4);
  EXPECT_EQ(progress.active, 1);
  EXPECT_EQ(progress.completed, 1);
  EXPECT_EQ(progress.failed, 1);
  EXPECT_EQ(progress.submitted_ms, 1234);
  ASSERT_THAT(store.active_stages(), SizeIs(1));

  play(store, {task_end(0, 0, 3, TaskStatus::killed, "TaskKilled"), completed(map)});
  EXPECT_EQ(store.stage(0)->active, 0);
  EXPECT_EQ(store.stage(0)->failed, 1);  // killed is not failed
  EXPECT_THAT(store.active_stage_ids(), IsEmpty());
  EXPECT_EQ(store.job(7)->status, JobStatus::running);
  play(store, {job_end(7)});
  EXPECT_THAT(store.active_job_ids(), IsEmpty());
  EXPECT_EQ(store.job(7)->status, JobStatus::succeeded);
  EXPECT_THAT(store.job(7)->stages, ElementsAre(0, 1));
}

TEST(StatusStore, C24_5_UnknownIdsGiveNothing) {
  StatusStore store;
  play(store, {job_end(3), task_start(9, 0, 1), task_end(9, 0, 1)});
  EXPECT_FALSE(store.job(3));
  EXPECT_FALSE(store.stage(9));
  EXPECT_EQ(store.stage_info(9), nullptr);
  EXPECT_THAT(store.jobs(), IsEmpty());
}

TEST(StatusStore, C24_5_AFailedJob) {
  StatusStore store;
  play(store, {job_start(0, {}), job_end(0, false)});
  EXPECT_EQ(store.job(0)->status, JobStatus::failed);
}

TEST(StatusStore, TheNewestAttemptOfAStageCounts) {
  StatusStore store;
  const StagePtr first = make_stage(0, 0, 4);
  const StagePtr second = make_stage(0, 1, 2);
  play(store, {job_start(0, {first}), submitted(first), task_start(0, 0, 1), task_start(0, 0, 2),
               task_end(0, 0, 1), failed(first, "fetch"), submitted(second), task_start(0, 1, 3),
               task_end(0, 0, 2)});  // a straggler of the first attempt
  EXPECT_EQ(store.stage(0)->attempt, 1);
  EXPECT_EQ(store.stage(0)->tasks, 2);
  EXPECT_EQ(store.stage(0)->active, 1);
  EXPECT_EQ(store.stage(0)->completed, 0);
  EXPECT_EQ(store.stage_info(0)->attempt, 1);
  EXPECT_THAT(store.active_stage_ids(), ElementsAre(0));
}

TEST(StatusStore, AResubmittedTaskEndsNoAttempt) {
  StatusStore store;
  const StagePtr stage = make_stage(0, 0, 2);
  play(store, {job_start(0, {stage}), submitted(stage), task_start(0, 0, 1), task_start(0, 0, 2),
               task_end(0, 0, 1), task_end(0, 0, 1, TaskStatus::failed, "Resubmitted")});
  EXPECT_EQ(store.stage(0)->active, 1);
  EXPECT_EQ(store.stage(0)->completed, 1);
  EXPECT_EQ(store.stage(0)->failed, 0);
}

TEST(StatusStore, T218_GroupsAndTags) {
  StatusStore store;
  Properties both = group("my-job-group");
  both[kJobTagsKey] = "x,y";
  play(store,
       {job_start(0, {}, group("my-job-group")), job_start(1, {}, group("my-job-group")),
        job_start(2, {}), job_start(3, {}, group("my-job-group2")), job_start(4, {}, both),
        job_start(5, {}, tags("tag1")), job_start(6, {}, tags("tag2,tag1,tag")), job_end(0)});
  EXPECT_THAT(store.job_ids_for_group("my-job-group"), ElementsAre(0, 1, 4));
  EXPECT_THAT(store.job_ids_for_group("my-job-group2"), ElementsAre(3));
  EXPECT_THAT(store.job_ids_for_group(std::nullopt), ElementsAre(2, 5, 6));
  EXPECT_THAT(store.job_ids_for_group("unknown"), IsEmpty());
  EXPECT_THAT(store.job_ids_for_tag("tag1"), ElementsAre(5, 6));
  EXPECT_THAT(store.job_ids_for_tag("tag"), ElementsAre(6));
  EXPECT_THAT(store.job_ids_for_tag("tag2"), ElementsAre(6));
  EXPECT_THAT(store.job_ids_for_tag("y"), ElementsAre(4));
  EXPECT_THAT(store.job_ids_for_tag("ta"), IsEmpty());
  EXPECT_THAT(store.job_ids_for_tag(""), IsEmpty());
  EXPECT_EQ(store.job(4)->properties, both);
}

TEST(StatusStore, T216_StageInfosAreThoseOfTheEvents) {
  StatusStore store;
  StageInfo info;
  info.id = 1;
  info.task_count = 2;
  info.rdds = {RddInfo{5, "target rdd", 4, {}, false, {}}};
  const auto stage = std::make_shared<const StageInfo>(info);
  play(store, {job_start(0, {make_stage(0, 0, 4), stage}), submitted(stage)});
  EXPECT_EQ(store.stage(1)->tasks, 2);  // on 2 of 4 partitions
  ASSERT_THAT(store.stage_info(1)->rdds, SizeIs(1));
  EXPECT_EQ(store.stage_info(1)->rdds[0].partitions, 4);
  EXPECT_EQ(store.stage_info(1)->rdds[0].name, "target rdd");
  EXPECT_THAT(store.job(0)->stages, ElementsAre(0, 1));
}

TEST(StatusStore, C24_6_TheOldestEndedJobsAndStagesGoFirst) {
  StatusStore store({.jobs = 3, .stages = 2});
  const auto run = [&](int32_t id) {
    const StagePtr stage = make_stage(id, 0, 1);
    play(store, {job_start(id, {stage}), submitted(stage), completed(stage), job_end(id)});
  };
  const StagePtr long_stage = make_stage(0, 0, 1);
  play(store, {job_start(0, {long_stage}), submitted(long_stage)});
  for (int32_t id = 1; id <= 10; ++id) run(id);
  std::vector<int32_t> kept;
  for (const JobInfo& job : store.jobs()) kept.push_back(job.id);
  EXPECT_THAT(kept, ElementsAre(0, 9, 10));  // active ones stay, however old
  EXPECT_EQ(store.kept(), (std::pair<size_t, size_t>{3, 2}));
  EXPECT_TRUE(store.stage(0));
  EXPECT_FALSE(store.stage(9));
  EXPECT_TRUE(store.stage(10));
  play(store, {task_start(0, 0, 1), task_start(9, 0, 2)});  // 9 is gone: nothing happens
  EXPECT_EQ(store.stage(0)->active, 1);
}

TEST(StatusStore, C24_6_ActiveOnesMayExceedTheLimit) {
  StatusStore store({.jobs = 1, .stages = 1});
  for (int32_t id = 0; id < 4; ++id) {
    play(store, {job_start(id, {make_stage(id, 0, 1)}), submitted(make_stage(id, 0, 1))});
  }
  EXPECT_THAT(store.active_job_ids(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(store.active_stage_ids(), ElementsAre(0, 1, 2, 3));
}

TEST(StatusStore, C24_6_SkippedStagesAreForgottenToo) {
  StatusStore store({.jobs = 1, .stages = 2});
  for (int32_t id = 0; id < 5; ++id) {
    const StagePtr skipped = make_stage(2 * id, 0, 1);
    const StagePtr run = make_stage(2 * id + 1, 0, 1, {2 * id});
    play(store, {job_start(id, {skipped, run}), submitted(run), completed(run), job_end(id)});
  }
  EXPECT_EQ(store.kept().second, 2u);
}

TEST(StatusStore, AStageThatAnotherJobStillWaitsForIsKept) {
  StatusStore store({.jobs = 10, .stages = 1});
  const StagePtr shared = make_stage(0, 0, 1);
  play(store, {job_start(0, {shared}), job_start(1, {shared}), job_end(0, false),
               job_start(2, {make_stage(5, 0, 1)})});
  EXPECT_TRUE(store.stage(0));
  play(store, {job_end(1, false)});
  EXPECT_FALSE(store.stage(0));
}

TEST(StatusStore, AStageThatWasSkippedOnceMayRunForALaterJob) {
  StatusStore store({.jobs = 10, .stages = 1});
  const StagePtr stage = make_stage(0, 0, 3);
  play(store, {job_start(0, {stage}), job_end(0), job_start(1, {stage})});
  play(store, {job_start(2, {make_stage(1, 0, 1)})});
  ASSERT_TRUE(store.stage(0));  // job 1 waits for it
  play(store, {submitted(stage), task_start(0, 0, 1)});
  EXPECT_EQ(store.stage(0)->active, 1);
  EXPECT_THAT(store.active_stage_ids(), ElementsAre(0));
}

Event executor_added(const std::string& id, int32_t cores) {
  ExecutorInfo info;
  info.id = id;
  info.host = std::string("host-").append(id);
  info.cores = cores;
  return event::ExecutorAdded{info, 99};
}

TEST(StatusStore, C24_5_ExecutorsAndTheirTasks) {
  StatusStore store({.dead_executors = 2});
  play(store, {executor_added("b", 4), executor_added("a", 2), task_start(0, 0, 1, "a"),
               task_start(0, 0, 2, "a"), task_start(0, 0, 3, "b"),
               task_end(0, 0, 1, TaskStatus::succeeded, "Success", "a")});
  auto alive = store.executors();
  ASSERT_THAT(alive, SizeIs(2));
  EXPECT_EQ(alive[0].id, "b");
  EXPECT_EQ(alive[0].cores, 4);
  EXPECT_EQ(alive[0].added_ms, 99);
  EXPECT_EQ(alive[0].running_tasks, 1);
  EXPECT_EQ(alive[1].id, "a");
  EXPECT_EQ(alive[1].host, "host-a");
  EXPECT_EQ(alive[1].running_tasks, 1);

  play(store, {executor_added("c", 1), event::ExecutorRemoved{"b", "killed", 200},
               event::ExecutorRemoved{"a", "lost", 201}, event::ExecutorRemoved{"nobody", "x", 202},
               event::ExecutorRemoved{"c", "idle", 203}});
  EXPECT_THAT(store.executors(), IsEmpty());
  const auto dead = store.dead_executors();
  ASSERT_THAT(dead, SizeIs(2));  // C24.6: the oldest is forgotten
  EXPECT_EQ(dead[0].info.id, "a");
  EXPECT_EQ(dead[0].info.running_tasks, 0);
  EXPECT_EQ(dead[0].removed_reason, "lost");
  EXPECT_EQ(dead[0].removed_ms, 201);
  EXPECT_EQ(dead[1].info.id, "c");
}

TEST(StatusStore, ReadersOnOtherThreads) {
  StatusStore store({.jobs = 5, .stages = 5});
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      for (const int32_t id : store.active_job_ids()) (void)store.job(id);
      (void)store.active_stages();
      (void)store.executors();
    }
  });
  for (int32_t id = 0; id < 500; ++id) {
    const std::string executor = std::to_string(id);
    const StagePtr stage = make_stage(id, 0, 1);
    play(store, {job_start(id, {stage}), submitted(stage), executor_added(executor, 1),
                 task_start(id, 0, 1), task_end(id, 0, 1), completed(stage), job_end(id),
                 event::ExecutorRemoved{executor, "", 0}});
  }
  done = true;
  reader.join();
  EXPECT_EQ(store.kept(), (std::pair<size_t, size_t>{5, 5}));
}

}  // namespace
}  // namespace tenon::events
