// Cancelling jobs, stages, groups, tags and all (C2.12 to C2.15, C29.2).
#include "unit/dag/harness.hpp"

namespace tenon::dag::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Cancel = DagTest;

TEST_F(Cancel, C2_12_S004_071_CancelOfUnknownOrFinishedJobIsNothing) {
  cancel(99);
  const auto listener = submit(node(1), {0});
  end(0, 0, value("42"));
  post(JobCancelled{0, "too late"});
  EXPECT_TRUE(listener->succeeded);
  EXPECT_EQ(listener->ends, 1);
  EXPECT_THAT(submitter_.cancelled, IsEmpty());
}

TEST_F(Cancel, C2_12_JobGoesOnWhenTheBackendCannotKill) {
  submitter_.cannot_kill = true;
  const auto listener = submit(node(1), {0});
  cancel(0);
  EXPECT_EQ(listener->ends, 0);
  EXPECT_THAT(failed_stages(), IsEmpty());
  EXPECT_THAT(scheduler_->active_jobs(), ElementsAre(0));
  end(0, 0, value("42"));
  EXPECT_TRUE(listener->succeeded);
}

TEST_F(Cancel, C2_12_StageFailureEndsTheJobThoughTheBackendCannotKill) {
  submitter_.cannot_kill = true;
  const auto listener = submit(node(1), {0});
  fail_set(0, "some failure");
  EXPECT_THAT(listener->failure_text(), HasSubstr("some failure"));
}

TEST_F(Cancel, C2_13_S004_070_CancelStageCancelsEveryJobThatUsesIt) {
  const auto shared = shuffle(node(2), 1);
  const auto first = submit(node(1, {shared}), {0});
  const auto second = submit(node(1, {shared}), {0});
  const auto other = submit(node(1), {0});
  post(StageCancelled{0, {}});
  EXPECT_EQ(first->failure_text(), "Job 0 cancelled because Stage 0 was cancelled");
  EXPECT_EQ(second->failure_text(), "Job 1 cancelled because Stage 0 was cancelled");
  EXPECT_EQ(other->ends, 0);
  post(StageCancelled{0, {}});  // gone: nothing
  const int32_t stage = set(1).stage_id;
  post(StageCancelled{stage, "it takes too long"});
  EXPECT_EQ(other->failure_text(), "Job 2 cancelled because it takes too long");
}

TEST_F(Cancel, C2_13_C2_14_S004_072_CancelGroupHitsActiveJobsOnly) {
  const Properties mine{{kJobGroup, "g"}}, others{{kJobGroup, "h"}};
  const auto a = submit(node(1), {0}, mine);
  const auto b = submit(node(1), {0}, others);
  const auto c = submit(node(1), {0});
  const auto d = submit(node(1), {0}, mine);
  post(JobGroupCancelled{"g"});
  const auto later = submit(node(1), {0}, mine);
  EXPECT_EQ(a->failure_text(), "Job 0 cancelled part of cancelled job group g");
  EXPECT_EQ(d->failure_text(), "Job 3 cancelled part of cancelled job group g");
  EXPECT_EQ(b->ends + c->ends + later->ends, 0);
  post(AllJobsCancelled{});
}

TEST_F(Cancel, C2_13_C2_15_CancelByTag) {
  const auto a = submit(node(1), {0}, {{kJobTags, "x,y"}});
  const auto b = submit(node(1), {0}, {{kJobTags, "xy"}});
  const auto c = submit(node(1), {0}, {{kJobTags, "y"}});
  post(JobTagCancelled{"y"});
  EXPECT_EQ(a->failure_text(), "Job 0 cancelled part of cancelled job tag y");
  EXPECT_EQ(c->failure_text(), "Job 2 cancelled part of cancelled job tag y");
  EXPECT_EQ(b->ends, 0);
  post(JobTagCancelled{"x"});
  EXPECT_EQ(b->ends, 0);
  cancel(1);
}

TEST_F(Cancel, C2_15_TagsAreASetAndAreChecked) {
  EXPECT_THAT(tags_of({{kJobTags, "b,a,,b"}}), ElementsAre("a", "b"));
  EXPECT_THAT(tags_of({}), IsEmpty());
  EXPECT_NO_THROW(check_tag("a b"));
  for (const char* bad : {"", "a,b", ","}) {
    try {
      check_tag(bad);
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    }
  }
}

TEST_F(Cancel, C29_2_S004_073_CancelAllTellsEveryWaiter) {
  const auto running = submit(node(1), {0});
  const auto shared = shuffle(node(1), 1);
  const auto waiting = submit(node(1, {shared}), {0});
  const auto also_waiting = submit(node(1, {shared}), {0});  // its first job is another one
  const auto handled = std::make_shared<RecordingListener>();
  handled->handles = false;
  const size_t index = submitter_.sets.size();
  submit(node(1), {0}, {}, handled);
  end(index, 0, value("a"));  // no stage left, only its handler
  post(AllJobsCancelled{});
  int32_t id = 0;
  for (const auto& listener : {running, waiting, also_waiting, handled}) {
    EXPECT_EQ(listener->failure_text(),
              "Job " + std::to_string(id++) + " cancelled as part of cancellation of all jobs");
  }
  expect_all_empty();
}

TEST_F(Cancel, C2_14_BadInterruptFlagCountsAsFalseWithAWarning) {
  struct Row {
    const char* value;
    const char* seen;
    bool warned;
  };
  for (const Row& row : {Row{"true", "true", false}, Row{"false", "false", false},
                         Row{"yes", "false", true}, Row{"", "false", true}}) {
    log_.clear();
    const size_t index = submitter_.sets.size();
    submit(node(1), {0}, {{kInterruptOnCancel, row.value}});
    EXPECT_EQ(set(index).properties->at(kInterruptOnCancel), row.seen);
    EXPECT_EQ(logged(kInterruptOnCancel), row.warned) << row.value;
    end(index, 0, value("42"));
  }
}

}  // namespace
}  // namespace tenon::dag::testing
