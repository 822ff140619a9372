// Jobs: beginning, results, end, cancellation (C1, C2).
#include <thread>

#include "unit/dag/harness.hpp"

namespace tenon::dag::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;
using Jobs = DagTest;

JobRequest request_for(int32_t id, rdd::NodePtr node, std::vector<int32_t> partitions,
                       std::shared_ptr<JobListener> listener) {
  JobRequest request;
  request.id = id;
  request.node = std::move(node);
  request.action.id = 3;
  request.partitions = std::move(partitions);
  request.listener = std::move(listener);
  return request;
}

TEST_F(Jobs, T001_ZeroPartitionJob) {
  const auto listener = submit(node(0), {});
  EXPECT_EQ(listener->ends, 0);
  cancel(0);
  EXPECT_EQ(listener->failure_text(), "Job 0 cancelled");
  EXPECT_THAT(listener->results, IsEmpty());
  EXPECT_THAT(submitter_.sets, IsEmpty());
}

TEST_F(Jobs, T001_ZeroPartitionJobThroughThePublicCall) {
  const auto listener = std::make_shared<RecordingListener>();
  JobRequest request = request_for(7, node(0), {}, listener);
  request.properties = {{"k", "v"}};
  scheduler_->submit_job(std::move(request));
  loop_.run();
  EXPECT_TRUE(listener->succeeded);
  EXPECT_THAT(listener->results, IsEmpty());
  EXPECT_THAT(submitter_.sets, IsEmpty());
  const auto starts = sink_.of<event::JobStart>();
  const auto ends = sink_.of<event::JobEnd>();
  ASSERT_EQ(starts.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(starts[0].job, 7);
  EXPECT_THAT(starts[0].stages, IsEmpty());
  EXPECT_THAT(starts[0].properties, ElementsAre(Pair("k", "v")));
  EXPECT_TRUE(ends[0].succeeded);
  EXPECT_EQ(starts[0].time_ms, ends[0].time_ms);
}

TEST_F(Jobs, T002_JobFailure) {
  const auto listener = submit(node(1), {0});
  fail_set(0, "some failure");
  EXPECT_EQ(listener->failure_text(), "Job aborted due to stage failure: some failure");
  EXPECT_EQ(listener->failure->kind(), ErrorKind::job_failed);
  EXPECT_THAT(failed_stages(), ElementsAre(0));
  EXPECT_THAT(sink_.of<event::StageCompleted>()[0].stage->failure, HasSubstr("some failure"));
  EXPECT_THAT(sink_.of<event::JobEnd>()[0].failure, HasSubstr("some failure"));
  expect_all_empty();
}

TEST_F(Jobs, T003_CancelRunningJob) {
  const auto listener = submit(node(1), {0});
  cancel(0);
  EXPECT_EQ(listener->failure_text(), "Job 0 cancelled");
  EXPECT_EQ(listener->failure->kind(), ErrorKind::cancelled);
  EXPECT_THAT(failed_stages(), ElementsAre(0));
  EXPECT_THAT(submitter_.cancelled_stages(), ElementsAre(0));
  expect_all_empty();
}

TEST_F(Jobs, C1_1_EventsAreHandledInPostOrderAndNeverOnTheCallersStack) {
  const auto final = node(1);
  const auto listener = std::make_shared<RecordingListener>();
  listeners_.push_back(listener);
  rdd::compute_partitions(final);
  scheduler_->post(JobSubmitted{Pending(request_for(0, final, {0}, listener))});
  scheduler_->post(JobCancelled{0, "at once"});
  EXPECT_EQ(scheduler_->sizes(), Sizes{});
  EXPECT_EQ(listener->ends, 0);
  loop_.run();
  EXPECT_EQ(listener->failure_text(),
            "Job 0 cancelled at once");  // C2.12: cancel after submit wins
  EXPECT_EQ(submitter_.sets.size(), 1u);
}

TEST_F(Jobs, C1_1_S004_063_ManyThreadsPostWithoutLoss) {
  const auto final = node(1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto listener = std::make_shared<RecordingListener>();
        scheduler_->submit_job(request_for(t * 50 + i, final, {0}, listener));
        scheduler_->post_from_any_thread(JobCancelled{t * 50 + i, {}});
      }
    });
  }
  for (auto& thread : threads) thread.join();
  loop_.run();
  EXPECT_EQ(sink_.of<event::JobStart>().size(), 200u);
  EXPECT_EQ(sink_.of<event::JobEnd>().size(), 200u);
}

// A sink that fails stands for any fault of ours within a handler.
class ThrowingSink final : public events::EventSink {
 public:
  explicit ThrowingSink(RecordingSink& next) : next_(next) {}
  void post(Event event) override {
    if (throws && std::holds_alternative<event::TaskStart>(event)) {
      throw std::logic_error("a broken handler");
    }
    next_.post(std::move(event));
  }
  bool throws = true;

 private:
  RecordingSink& next_;
};

TEST_F(Jobs, C1_3_S004_065_ThrowingHandlerCancelsAllJobsAndStopsTheContext) {
  ThrowingSink sink(sink_);
  std::vector<std::string> fatal;
  Hooks hooks;
  hooks.on_fatal = [&](const std::string& reason) { fatal.push_back(reason); };
  scheduler_ = std::make_unique<DagScheduler>(loop_, submitter_, *tracker_, blocks_, sink,
                                              Settings{}, std::move(hooks));
  const auto first = submit(node(1), {0});
  const auto second = submit(node(1, {shuffle(node(1), 1)}), {0});
  scheduler_->task_started(submitter_.sets[0], set(0).tasks[0], {});
  loop_.run();
  EXPECT_THAT(first->failure_text(), HasSubstr("a broken handler"));
  EXPECT_THAT(second->failure_text(),
              StartsWith("Job 1 cancelled as part of cancellation of all jobs"));
  EXPECT_THAT(fatal, ElementsAre(HasSubstr("a broken handler")));
  EXPECT_THAT(submitter_.cancelled_stages(), ElementsAre(0, 1));
  expect_all_empty();
  sink.throws = false;  // the loop lives on
  const auto third = submit(node(1), {0});
  end(2, 0, value("42"));
  EXPECT_TRUE(third->succeeded);
  scheduler_.reset();
  make_scheduler({});
}

TEST_F(Jobs, C1_3_ErrorWhileHandlingAnErrorLeavesNoJobWaiting) {
  ThrowingSink sink(sink_);
  scheduler_ =
      std::make_unique<DagScheduler>(loop_, submitter_, *tracker_, blocks_, sink, Settings{});
  const auto listener = submit(node(1), {0});
  submitter_.cannot_kill = true;
  scheduler_->task_started(submitter_.sets[0], set(0).tasks[0], {});
  loop_.run();
  EXPECT_NE(listener->failure, nullptr);
  scheduler_.reset();
  make_scheduler({});
}

TEST_F(Jobs, C1_4_S004_066_StopEndsAtOnceEvenWithEventsQueued) {
  const auto first = submit(node(1), {0});
  const auto second = submit(node(1, {shuffle(node(1), 1)}), {0});
  const auto third = std::make_shared<RecordingListener>();
  const auto fourth = std::make_shared<RecordingListener>();
  listeners_.insert(listeners_.end(), {third, fourth});
  scheduler_->post(JobSubmitted{Pending(request_for(2, node(1), {0}, third))});
  scheduler_->stop();
  EXPECT_EQ(first->failure_text(), "Job 0 cancelled because the context was shut down");
  EXPECT_EQ(second->failure_text(), "Job 1 cancelled because the context was shut down");
  EXPECT_EQ(third->failure_text(), "Job 2 cancelled because the context was shut down");
  EXPECT_EQ(first->failure->kind(), ErrorKind::stopped);
  EXPECT_THAT(failed_stages(), ElementsAre(0, 1));
  EXPECT_THAT(sink_.of<event::StageCompleted>()[0].stage->failure, HasSubstr("shut down"));
  EXPECT_EQ(sink_.of<event::JobEnd>().size(), 2u);
  expect_all_empty();
  scheduler_->submit_job(request_for(3, node(1), {0}, fourth));
  loop_.run();
  EXPECT_EQ(fourth->failure_text(), "Job 3 cancelled because the context was shut down");
  EXPECT_EQ(submitter_.sets.size(), 2u);
  scheduler_->stop();
}

TEST_F(Jobs, C24_2_EndsOfAttemptsThatAreQueuedAtTheStopAreToldFirst) {
  submit(node(2), {0, 1});
  scheduler_->task_started(submitter_.sets[0], set(0).tasks[0], {});
  queue_end(0, 0, task::TaskKilled{"the context was shut down", {}});
  scheduler_->stop();
  std::vector<std::string> order;
  for (const Event& event : sink_.events) {
    if (std::holds_alternative<event::TaskStart>(event)) order.emplace_back("task start");
    if (std::holds_alternative<event::TaskEnd>(event)) order.emplace_back("task end");
    if (std::holds_alternative<event::StageCompleted>(event)) order.emplace_back("stage end");
    if (std::holds_alternative<event::JobEnd>(event)) order.emplace_back("job end");
  }
  EXPECT_THAT(order, ElementsAre("task start", "task end", "stage end", "job end"));
  expect_all_empty();
}

// C29.1: the exit code is that of the root cause.
TEST_F(Jobs, C29_1_AJobThatFailsForWantOfExecutorsSaysSoByItsKind) {
  for (const auto& [cause, kind] : std::vector<std::pair<ErrorKind, ErrorKind>>{
           {ErrorKind::no_resources, ErrorKind::no_resources},
           {ErrorKind::executors_lost, ErrorKind::executors_lost},
           {ErrorKind::user_function, ErrorKind::job_failed},
           {ErrorKind::input_output, ErrorKind::job_failed}}) {
    const auto listener = submit(node(1), {0});
    const auto root = std::make_shared<const Error>(cause, "root");
    fail_set(submitter_.sets.size() - 1, "why",
             std::make_shared<const Error>(ErrorKind::job_failed, "above it", root));
    ASSERT_NE(listener->failure, nullptr);
    EXPECT_EQ(listener->failure->kind(), kind);
  }
}

TEST_F(Jobs, C1_4_StopFromWithinAHandlerComesAfterIt) {
  struct Stopper final : JobListener {
    bool task_succeeded(int32_t, std::string) override {
      scheduler->stop();
      return true;
    }
    void job_succeeded() override { succeeded = true; }
    void job_failed(std::shared_ptr<const Error> error) override { failure = std::move(error); }
    DagScheduler* scheduler = nullptr;
    bool succeeded = false;
    std::shared_ptr<const Error> failure;
  };
  const auto stopper = std::make_shared<Stopper>();
  stopper->scheduler = scheduler_.get();
  scheduler_->submit_job(request_for(0, node(1), {0}, stopper));
  loop_.run();
  const auto other = std::make_shared<RecordingListener>();
  listeners_.push_back(other);
  scheduler_->submit_job(request_for(1, node(1), {0}, other));
  loop_.run();
  end(0, 0, value("42"));
  EXPECT_TRUE(stopper->succeeded);
  EXPECT_EQ(other->failure->kind(), ErrorKind::stopped);
}

TEST_F(Jobs, C1_4_JobOfAStoppedLoopIsNotLeftAlone) {
  const auto listener = std::make_shared<RecordingListener>();
  {
    loop::ManualLoop loop;
    MapOutputTracker tracker;
    DagScheduler scheduler(loop, submitter_, tracker, blocks_, sink_);
    scheduler.submit_job(request_for(0, node(1), {0}, listener));
  }
  ASSERT_NE(listener->failure, nullptr);
  EXPECT_EQ(listener->failure->kind(), ErrorKind::stopped);
}

TEST_F(Jobs, C2_2_S004_096_AnySubsetInAnyOrderAlsoRepeated) {
  const auto listener = submit(node(8), {5, 3, 5});
  ASSERT_EQ(set(0).tasks.size(), 3u);
  EXPECT_THAT(partitions_of(0), ElementsAre(5, 3, 5));
  for (int32_t i = 0; i < 3; ++i) EXPECT_EQ(set(0).tasks[static_cast<size_t>(i)].output, i);
  complete(0, {value("a"), value("b"), value("c")});
  EXPECT_THAT(listener->results, ElementsAre(Pair(0, "a"), Pair(1, "b"), Pair(2, "c")));
  EXPECT_TRUE(listener->succeeded);
}

TEST_F(Jobs, C2_3_S004_058_BadPartitionThrowsInTheCaller) {
  for (const int32_t bad : {-1, 4, 100}) {
    const auto listener = std::make_shared<RecordingListener>();
    try {
      scheduler_->submit_job(request_for(0, node(4), {0, bad}, listener));
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
      EXPECT_EQ(error.message(), "Attempting to access a non-existent partition: " +
                                     std::to_string(bad) + ". Total number of partitions: 4");
    }
    loop_.run();
    EXPECT_EQ(listener->ends, 0);
  }
  EXPECT_THAT(sink_.events, IsEmpty());
}

TEST_F(Jobs, T029_ThrowingPartitionsFailInTheCallerAndTheNextJobWorks) {
  rdd::NodeSpec spec;
  spec.id = 100;
  spec.op.id = 1;
  spec.partitions = []() -> rdd::Partitions { throw std::domain_error("no such file"); };
  const auto broken = std::make_shared<const rdd::Node>(std::move(spec));
  const auto final = node(1, {shuffle(broken, 1)});
  const auto listener = std::make_shared<RecordingListener>();
  EXPECT_THROW(scheduler_->submit_job(request_for(0, final, {0}, listener)), std::domain_error);
  loop_.run();
  EXPECT_EQ(listener->ends, 0);
  EXPECT_THAT(sink_.events, IsEmpty());
  const auto next = submit(node(1), {0});
  end(0, 0, value("10"));
  EXPECT_THAT(next->results, ElementsAre(Pair(0, "10")));
  EXPECT_TRUE(next->succeeded);
}

TEST_F(Jobs, C2_6_S004_055_PropertiesAreTheJobsOwn) {
  Properties properties{{"tenon.scheduler.pool", "a"}, {"mine", "1"}};
  submit(node(1), {0}, properties);
  properties["mine"] = "2";
  EXPECT_EQ(set(0).properties->at("mine"), "1");
  EXPECT_EQ(sink_.of<event::JobStart>()[0].properties.at("mine"), "1");
  EXPECT_EQ(sink_.of<event::StageSubmitted>()[0].stage->properties.at("tenon.scheduler.pool"), "a");
  EXPECT_EQ(rdd::decode_stage_graph(set(0).binary->bytes).header.properties.at("mine"), "1");
  end(0, 0, value("42"));
}

TEST_F(Jobs, C2_7_StageCreationThatThrowsFailsOnlyThatJob) {
  int calls = 0;
  rdd::NodeSpec spec;
  spec.id = 100;
  spec.op.id = 1;
  spec.partitions = [&calls]() -> rdd::Partitions {
    ++calls;
    throw std::runtime_error("gone");
  };
  const auto broken = std::make_shared<const rdd::Node>(std::move(spec));
  const auto running = submit(node(1), {0});
  const auto good_parent = shuffle(node(1), 1);
  const auto bad_parent = shuffle(broken, 1);
  const auto final = node(1, {rdd::Dependency(good_parent)});
  const auto listener = std::make_shared<RecordingListener>();
  listeners_.push_back(listener);
  rdd::NodeSpec last;
  last.id = 101;
  last.op.id = 1;
  last.dependencies = {good_parent, bad_parent};
  last.partitions = [] { return rdd::Partitions(1); };
  // Straight to the event: the public call would have thrown at once.
  post(JobSubmitted{
      Pending(request_for(9, std::make_shared<const rdd::Node>(std::move(last)), {0}, listener))});
  EXPECT_GT(calls, 0);
  EXPECT_THAT(listener->failure_text(), HasSubstr("gone"));
  EXPECT_TRUE(logged("Creating the stages of job 9 failed"));
  EXPECT_EQ(sink_.of<event::JobStart>().size(), 1u);
  EXPECT_EQ(scheduler_->sizes().stages, 1u);
  end(0, 0, value("42"));
  EXPECT_TRUE(running->succeeded);
}

TEST_F(Jobs, C2_8_S004_089_JobStartNamesAllStagesBeforeTheFirstIsSubmitted) {
  const auto first = shuffle(node(2), 1);
  const auto second = shuffle(node(1, {first}), 1);
  CallSite site{"collect", "/src/app/wc.cpp", 12};
  const auto listener = std::make_shared<RecordingListener>();
  listeners_.push_back(listener);
  JobRequest request = request_for(0, node(1, {second}), {0}, listener);
  request.call_site = site;
  scheduler_->submit_job(std::move(request));
  loop_.run();
  ASSERT_TRUE(std::holds_alternative<event::JobStart>(sink_.events.at(0)));
  ASSERT_TRUE(std::holds_alternative<event::StageSubmitted>(sink_.events.at(1)));
  const auto start = sink_.of<event::JobStart>()[0];
  ASSERT_EQ(start.stages.size(), 3u);
  for (int32_t i = 0; i < 3; ++i) EXPECT_EQ(start.stages[static_cast<size_t>(i)]->id, i);
  EXPECT_EQ(start.stages[2]->name, "collect at wc.cpp:12");
  EXPECT_EQ(start.stages[2]->details, "collect at /src/app/wc.cpp:12");
  EXPECT_EQ(start.call_site.text(), "collect at wc.cpp:12");
  fail_set(0, "boom");
  EXPECT_EQ(listener->failure_text(),
            "Job aborted due to stage failure: boom\n  in job 0: collect at wc.cpp:12");  // C2.11
}

TEST_F(Jobs, C2_9_ThrowingHandlerFailsTheJobWithItsCause) {
  const auto listener = std::make_shared<RecordingListener>();
  listener->throws = true;
  submit(node(2), {0, 1}, {}, listener);
  end(0, 0, value("42"));
  ASSERT_NE(listener->failure, nullptr);
  EXPECT_THAT(listener->failure_text(), HasSubstr("driver execution"));
  ASSERT_NE(listener->failure->cause(), nullptr);
  EXPECT_THAT(listener->failure->cause()->message(), HasSubstr("handler of 0"));
  EXPECT_THAT(failed_stages(), ElementsAre(0));
  EXPECT_THAT(fatal_, IsEmpty());
  const auto next = submit(node(1), {0});
  end(1, 0, value("42"));
  EXPECT_TRUE(next->succeeded);
}

TEST_F(Jobs, C2_9_C29_14_JobEndsOnlyWhenAllResultsAreHandled) {
  const auto listener = std::make_shared<RecordingListener>();
  listener->handles = false;
  submit(node(2), {0, 1}, {}, listener);
  complete(0, {value("a"), value("b")});
  EXPECT_EQ(listener->ends, 0);
  EXPECT_THAT(completed_stages(), ElementsAre(0));  // its tasks are done all the same
  EXPECT_THAT(submitter_.killed, ElementsAre(Pair(0, "Stage finished")));
  EXPECT_EQ(scheduler_->sizes().stages, 0u);
  EXPECT_THAT(scheduler_->active_jobs(), ElementsAre(0));
  post(ResultHandled{0, 1});
  post(ResultHandled{0, 1});  // once more: nothing
  EXPECT_EQ(listener->ends, 0);
  post(ResultHandled{0, 0});
  EXPECT_TRUE(listener->succeeded);
  EXPECT_TRUE(sink_.of<event::JobEnd>()[0].succeeded);
  post(ResultHandled{0, 0});
}

TEST_F(Jobs, C2_9_HandlerThatFailsElsewhereFailsTheJob) {
  for (const bool last : {false, true}) {
    const auto listener = std::make_shared<RecordingListener>();
    listener->handles = false;
    const int32_t job = next_job_;
    const size_t index = submitter_.sets.size();
    submit(node(2), {0, 1}, {}, listener);
    end(index, 0, value("a"));
    if (last) end(index, 1, value("b"));
    const auto cause = std::make_shared<const Error>(ErrorKind::user_function, "full");
    post(ResultHandlerFailed{job, 0, cause});
    ASSERT_NE(listener->failure, nullptr);
    EXPECT_THAT(listener->failure_text(), HasSubstr("driver execution"));
    EXPECT_EQ(listener->failure->cause(), cause);
    EXPECT_FALSE(sink_.of<event::JobEnd>().back().succeeded);
    expect_all_empty();
    post(ResultHandlerFailed{job, 1, cause});  // the job is gone
    EXPECT_EQ(listener->ends, 1);
  }
}

TEST_F(Jobs, C2_9_CancelWhileResultsAreHandled) {
  const auto listener = std::make_shared<RecordingListener>();
  listener->handles = false;
  submit(node(1), {0}, {}, listener);
  end(0, 0, value("a"));
  cancel(0);
  EXPECT_EQ(listener->failure_text(), "Job 0 cancelled");
  post(ResultHandled{0, 0});
  EXPECT_EQ(listener->ends, 1);
}

TEST_F(Jobs, C2_10_LaterAttemptsOfAFinishedStageChangeNothing) {
  const auto listener = submit(node(1), {0});
  end(0, 0, value("42"));
  EXPECT_THAT(submitter_.killed, ElementsAre(Pair(0, "Stage finished")));
  end(0, 0, value("43"));
  EXPECT_EQ(sink_.of<event::TaskEnd>().size(), 2u);
  EXPECT_THAT(listener->results, ElementsAre(Pair(0, "42")));
  EXPECT_EQ(sink_.of<event::JobEnd>().size(), 1u);
}

TEST_F(Jobs, C2_10_BackendThatCannotKillDoesNotHinderTheEnd) {
  submitter_.cannot_kill = true;
  const auto listener = submit(node(1), {0});
  end(0, 0, value("42"));
  EXPECT_TRUE(listener->succeeded);
  EXPECT_TRUE(logged("cannot kill"));
}

TEST_F(Jobs, C2_11_ErrorCarriesTheRootCause) {
  const auto cause = std::make_shared<const Error>(ErrorKind::user_function, "division by zero");
  const auto listener = submit(node(1), {0});
  fail_set(0, "Task 0 failed 4 times", cause);
  EXPECT_EQ(listener->failure->cause(), cause);
  EXPECT_THAT(listener->failure->what(), HasSubstr("caused by: division by zero"));
}

TEST_F(Jobs, S004_079_StageFailedAbortsAllJobsThatNeedIt) {
  const auto listener = submit(node(1, {shuffle(node(1), 1)}), {0});
  post(StageFailed{0, "no way", nullptr});
  EXPECT_EQ(listener->failure_text(), "Job aborted due to stage failure: no way");
  post(StageFailed{0, "no way", nullptr});
  fail_set(0, "late");
  EXPECT_EQ(listener->ends, 1);
}

TEST_F(Jobs, S004_076_S004_077_TaskStartAndGettingResultArePosted) {
  submit(node(1), {0});
  TaskInfo info;
  info.id = 77;
  info.executor_id = "e";
  scheduler_->task_started(submitter_.sets[0], set(0).tasks[0], info);
  scheduler_->task_getting_result(submitter_.sets[0], info);
  loop_.run();
  const auto starts = sink_.of<event::TaskStart>();
  const auto gets = sink_.of<event::TaskGettingResult>();
  ASSERT_EQ(starts.size(), 1u);
  ASSERT_EQ(gets.size(), 1u);
  EXPECT_EQ(starts[0].stage, 0);
  EXPECT_EQ(starts[0].stage_attempt, 0);
  EXPECT_EQ(starts[0].task.id, 77u);
  EXPECT_EQ(gets[0].task.executor_id, "e");
  end(0, 0, value("42"));
}

TEST_F(Jobs, C24_2_OrderOfEventsOfOneJob) {
  const auto dependency = shuffle(node(1), 1);
  submit(node(1, {dependency}), {0});
  scheduler_->task_started(submitter_.sets[0], set(0).tasks[0], {});
  complete_maps(0, {"A"});
  scheduler_->task_started(submitter_.sets[1], set(1).tasks[0], {});
  end(1, 0, value("42"));
  std::vector<std::string> names;
  const auto name = [](const Event& each) -> std::string {
    if (std::holds_alternative<event::JobStart>(each)) return "job start";
    if (std::holds_alternative<event::JobEnd>(each)) return "job end";
    if (std::holds_alternative<event::StageSubmitted>(each)) return "stage submitted";
    if (std::holds_alternative<event::StageCompleted>(each)) return "stage completed";
    if (std::holds_alternative<event::TaskStart>(each)) return "task start";
    return std::holds_alternative<event::TaskEnd>(each) ? "task end" : "?";
  };
  for (const Event& each : sink_.events) names.push_back(name(each));
  EXPECT_THAT(names, ElementsAre("job start", "stage submitted", "task start", "task end",
                                 "stage completed", "stage submitted", "task start", "task end",
                                 "stage completed", "job end"));
}

}  // namespace
}  // namespace tenon::dag::testing
