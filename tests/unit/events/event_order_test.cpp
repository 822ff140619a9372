#include "support/event_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/event_builders.hpp"

namespace tenon::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Case {
  std::string name;
  std::vector<Event> events;
  std::string wrong;  // empty: in order
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

const StagePtr kMap = make_stage(0, 0, 1);
const StagePtr kReduce = make_stage(1, 0, 1, {0});
const StagePtr kMapAgain = make_stage(0, 1, 1);

event::TaskGettingResult getting(int32_t stage, uint64_t id) {
  return {stage, 0, make_task(id, TaskStatus::getting_result)};
}
Event speculative_start(int32_t stage, uint64_t id) {
  TaskInfo info = make_task(id, TaskStatus::running);
  info.speculative = true;
  return event::TaskStart{stage, 0, info};
}

std::vector<Case> cases() {
  const Event start = job_start(0, {kMap, kReduce});
  const auto killed = [](int32_t stage, uint64_t id) {
    return task_end(stage, 0, id, TaskStatus::killed, "TaskKilled");
  };
  return {
      {"good",
       {start, submitted(kMap), task_start(0, 0, 1), getting(0, 1), task_end(0, 0, 1),
        completed(kMap), submitted(kReduce), task_start(1, 0, 2), task_end(1, 0, 2),
        completed(kReduce), job_end(0)},
       ""},
      {"skipped parent", {start, submitted(kReduce), completed(kReduce), job_end(0)}, ""},
      {"failed stage, straggler ends later",
       {start, submitted(kMap), task_start(0, 0, 1), failed(kMap, "x"), job_end(0, false),
        killed(0, 1)},
       ""},
      {"resubmitted after success",
       {start, submitted(kMap), task_start(0, 0, 1), task_end(0, 0, 1),
        task_end(0, 0, 1, TaskStatus::failed, "Resubmitted"), completed(kMap), job_end(0)},
       ""},
      {"speculative copy ends later",
       {start, submitted(kMap), task_start(0, 0, 1), speculative_start(0, 2), task_end(0, 0, 2),
        completed(kMap), job_end(0), killed(0, 1)},
       ""},
      {"second attempt",
       {start, submitted(kMap), failed(kMap, "fetch"), submitted(kMapAgain), completed(kMapAgain),
        job_end(0)},
       ""},
      {"stage outside of a job", {submitted(kMap), completed(kMap)}, "stage 0.0 submitted outside"},
      {"stage after the job's end",
       {start, job_end(0), submitted(kMap), completed(kMap)},
       "stage 0.0 submitted outside"},
      {"child before its parent",
       {start, submitted(kMap), submitted(kReduce), completed(kMap), completed(kReduce),
        job_end(0)},
       "stage 1.0 submitted before its parent stage 0.0 completed"},
      {"task before its stage",
       {start, task_start(0, 0, 1), task_end(0, 0, 1), job_end(0)},
       "task 1 started before stage 0.0 was submitted"},
      {"stage before its task's end",
       {start, submitted(kMap), task_start(0, 0, 1), completed(kMap), task_end(0, 0, 1),
        job_end(0)},
       "stage 0.0 completed before the end of task 1"},
      {"task after its stage",
       {start, submitted(kMap), completed(kMap), task_start(0, 0, 1), task_end(0, 0, 1),
        job_end(0)},
       "task 1 started after stage 0.0 had completed"},
      {"two ends",
       {start, submitted(kMap), task_start(0, 0, 1), task_end(0, 0, 1), task_end(0, 0, 1),
        completed(kMap), job_end(0)},
       "second end of task 1"},
      {"two starts",
       {start, submitted(kMap), task_start(0, 0, 1), task_start(0, 0, 1), task_end(0, 0, 1),
        completed(kMap), job_end(0)},
       "task 1 started twice"},
      {"no end",
       {start, submitted(kMap), task_start(0, 0, 1), failed(kMap, "x"), job_end(0, false)},
       "task 1 did not end"},
      {"end without start",
       {start, submitted(kMap), task_end(0, 0, 1), completed(kMap), job_end(0)},
       "end of task 1, which did not start"},
      {"result after the end",
       {start, submitted(kMap), task_start(0, 0, 1), task_end(0, 0, 1), getting(0, 1),
        completed(kMap), job_end(0)},
       "getting the result of task 1 after its end"},
      {"job before its stage",
       {start, submitted(kMap), job_end(0), completed(kMap)},
       "job 0 ended before stage 0.0 completed"},
      {"job does not end", {start}, "job 0 did not end"},
      {"stage does not complete",
       {start, submitted(kMap), job_end(0)},
       "stage 0.0 did not complete"},
      {"two job ends", {start, job_end(0), job_end(0)}, "second end of job 0"},
      {"two job starts", {start, start, job_end(0)}, "second start of job 0"},
      {"completed twice",
       {start, submitted(kMap), completed(kMap), completed(kMap), job_end(0)},
       "stage 0.0 completed twice"},
      {"submitted twice",
       {start, submitted(kMap), submitted(kMap), completed(kMap), job_end(0)},
       "stage 0.0 submitted twice"},
      {"never submitted",
       {start, completed(kMap), job_end(0)},
       "stage 0.0 completed without being submitted"},
      {"resubmitted without success",
       {start, submitted(kMap), task_start(0, 0, 1),
        task_end(0, 0, 1, TaskStatus::failed, "Resubmitted"), task_end(0, 0, 1), completed(kMap),
        job_end(0)},
       "task 1 resubmitted without having succeeded"},
  };
}

class EventOrderTest : public testing::TestWithParam<Case> {};

TEST_P(EventOrderTest, C24_2) {
  const std::vector<std::string> wrong = EventOrderChecker::check(GetParam().events);
  if (GetParam().wrong.empty()) {
    EXPECT_THAT(wrong, IsEmpty());
    EXPECT_TRUE(events_in_order(GetParam().events));
  } else {
    EXPECT_THAT(wrong, testing::Contains(HasSubstr(GetParam().wrong)));
    EXPECT_FALSE(events_in_order(GetParam().events));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EventOrderTest, testing::ValuesIn(cases()));

TEST(EventOrder, AListThatGoesOnMayHaveOpenEnds) {
  const std::vector<Event> events{job_start(0, {kMap}), submitted(kMap), task_start(0, 0, 1)};
  EXPECT_TRUE(events_in_order(events, false));
  EXPECT_FALSE(events_in_order(events, true));
}

TEST(EventOrder, AStageSharedWithAJobThatRunsMayOutliveTheOtherJob) {
  EXPECT_TRUE(events_in_order({job_start(0, {kMap}), job_start(1, {kMap}), submitted(kMap),
                               job_end(0, false), completed(kMap), job_end(1)}));
}

}  // namespace
}  // namespace tenon::test
