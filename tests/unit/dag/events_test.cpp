// Each kind of event reaches its handler (C1.2).
#include "unit/dag/harness.hpp"

namespace tenon::dag::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Posts events and keeps which kinds there were.
class Events : public DagTest {
 protected:
  void send(DagEvent event) {
    kinds_.insert(event.index());
    post(std::move(event));
  }
  ListenerPtr send_job(const rdd::NodePtr& final, Properties properties = {},
                       ListenerPtr listener = std::make_shared<RecordingListener>()) {
    rdd::compute_partitions(final);
    listeners_.push_back(listener);
    JobRequest request;
    request.id = next_job_++;
    request.node = final;
    request.action.id = 3;
    request.partitions = {0};
    request.properties = std::move(properties);
    request.listener = listener;
    send(JobSubmitted{Pending(std::move(request))});
    return listener;
  }
  CompletionEvent completion(size_t index, uint64_t task, task::EndReason reason) {
    if (auto* success = std::get_if<task::Success>(&reason)) {
      if (success->result->map_status) success->result->map_status->map_id = task;
    }
    const task::TaskSpec& spec = set(index).tasks.at(0);
    return {submitter_.sets.at(index), spec.partition, spec.output, info(task), std::move(reason)};
  }
  static TaskInfo info(uint64_t task) {
    TaskInfo info;
    info.id = task;
    return info;
  }
  static std::string text(const ListenerPtr& listener) { return listener->failure_text(); }

  std::set<size_t> kinds_;
};

TEST_F(Events, S004_067_EachKindReachesItsHandler) {
  // A job over a shuffle, from its submission to a fetch failure, the retry and its end.
  const auto dependency = shuffle(node(1), 1);
  const auto job = send_job(node(1, {dependency}));
  EXPECT_THAT(sink_.of<event::JobStart>(), SizeIs(1));
  send(BeginEvent{submitter_.sets.at(0), info(1)});
  EXPECT_EQ(sink_.of<event::TaskStart>().at(0).task.id, 1u);
  send(GettingResultEvent{submitter_.sets.at(0), info(1)});
  EXPECT_EQ(sink_.of<event::TaskGettingResult>().at(0).task.id, 1u);
  send(completion(0, 1, map_output("A", 1)));
  EXPECT_THAT(completed_stages(), ElementsAre(0));
  send(completion(1, 2, fetch_failure("A", dependency->shuffle_id, 0, 0)));
  EXPECT_THAT(submitter_.sets, SizeIs(2));
  send(ResubmitFailedStages{});
  ASSERT_THAT(submitter_.sets, SizeIs(3)) << "at once, not when its timer comes";
  send(completion(2, 3, map_output("B", 1)));
  send(completion(3, 4, value("42")));
  EXPECT_TRUE(job->succeeded);

  // A map stage alone; what is lost with an executor, and with a worker.
  const auto alone = shuffle(node(1), 1);
  MapStageRequest request;
  request.id = next_job_++;
  request.shuffle = alone;
  request.listener = std::make_shared<RecordingListener>();
  request.on_statistics = [](const MapOutputStatistics&) {};
  send(MapStageSubmitted{Pending(std::move(request))});
  ASSERT_EQ(set(4).kind, task::TaskKind::shuffle_map);
  send(completion(4, 5, map_output("C", 1)));
  EXPECT_THAT(output_hosts(alone), ElementsAre("C"));
  blocks_.removed.clear();
  send(ExecutorLost{"C-exec", {}});
  EXPECT_THAT(blocks_.removed, ElementsAre("C-exec"));
  EXPECT_THAT(output_hosts(alone), ElementsAre(""));
  send(WorkerRemoved{"w", "D", "gone"});
  EXPECT_TRUE(logged("Shuffle files lost for worker w on host D"));
  // An executor that is added is trusted again: its output of an earlier epoch counts.
  send_job(node(1, {alone}));
  const size_t retry = submitter_.sets.size() - 1;
  send(ExecutorLost{"C-exec", {}});
  send(ExecutorAdded{"C-exec", "C"});
  send(completion(retry, 6, map_output("C", 1)));
  EXPECT_THAT(output_hosts(alone), ElementsAre("C"));

  // Every way to end a job before its time.
  send(JobCancelled{2, "enough"});
  EXPECT_EQ(text(listeners_.back()), "Job 2 cancelled enough");
  const auto by_stage = send_job(node(1));
  send(StageCancelled{submitted_stages().back().first, {}});
  EXPECT_THAT(text(by_stage), HasSubstr("was cancelled"));
  const auto by_group = send_job(node(1), {{kJobGroup, "g"}});
  send(JobGroupCancelled{"g"});
  EXPECT_THAT(text(by_group), HasSubstr("job group g"));
  const auto by_tag = send_job(node(1), {{kJobTags, "t"}});
  send(JobTagCancelled{"t"});
  EXPECT_THAT(text(by_tag), HasSubstr("job tag t"));
  const auto by_all = send_job(node(1));
  send(AllJobsCancelled{});
  EXPECT_THAT(text(by_all), HasSubstr("cancellation of all jobs"));
  const auto by_set = send_job(node(1));
  send(TaskSetFailed{submitter_.sets.back(), "a task failed", nullptr});
  EXPECT_THAT(text(by_set), HasSubstr("a task failed"));
  const auto by_abort = send_job(node(1));
  send(StageFailed{submitted_stages().back().first, "no way", nullptr});
  EXPECT_THAT(text(by_abort), HasSubstr("no way"));

  // Results that are handled elsewhere, well and not.
  for (const bool well : {true, false}) {
    const auto elsewhere = std::make_shared<RecordingListener>();
    elsewhere->handles = false;
    const int32_t id = next_job_;
    send_job(node(1), {}, elsewhere);
    send(completion(submitter_.sets.size() - 1, 20, value("42")));
    EXPECT_EQ(elsewhere->ends, 0);
    if (well) {
      send(ResultHandled{id, 0});
    } else {
      send(ResultHandlerFailed{id, 0, std::make_shared<const Error>(ErrorKind::codec, "full")});
    }
    EXPECT_EQ(elsewhere->succeeded, well);
    EXPECT_EQ(elsewhere->ends, 1);
  }

  EXPECT_THAT(kinds_, SizeIs(std::variant_size_v<DagEvent>)) << "a kind that was not posted here";
  EXPECT_TRUE(fatal_.empty());
  expect_all_empty();
}

}  // namespace
}  // namespace tenon::dag::testing
