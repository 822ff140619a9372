#include "unit/dag/harness.hpp"

namespace tenon::dag::testing {

void DagTest::make_scheduler(Settings settings) {
  scheduler_.reset();
  sink_.events.clear();  // stage ids begin anew
  tracker_ = std::make_unique<MapOutputTracker>();
  Hooks hooks;
  hooks.log = [this](LogLevel level, const std::string& text) { log_.emplace_back(level, text); };
  hooks.on_fatal = [this](const std::string& reason) { fatal_.push_back(reason); };
  hooks.operator_known = [this](uint64_t id) { return !unknown_operators_.contains(id); };
  scheduler_ = std::make_unique<DagScheduler>(loop_, submitter_, *tracker_, blocks_, sink_,
                                              settings, std::move(hooks));
  scheduler_->set_application("app-1", "1");
}

void DagTest::TearDown() {
  loop_.run();
  expect_all_empty();
  check_events();
  for (const ListenerPtr& listener : listeners_) {
    EXPECT_EQ(listener->ends, 1) << "a job's listener hears of its end once";
  }
}

// What holds in every run (C3.7, C24.2): an attempt is submitted before it is completed; a stage
// has one attempt at a time; a job starts once, ends once, and nothing of its stages comes after.
void DagTest::check_events() const {
  std::map<int32_t, int32_t> open_attempts;  // stage -> attempt
  std::set<std::pair<int32_t, int32_t>> submitted;
  std::set<int32_t> open_jobs, all_jobs, announced;
  for (const Event& each : sink_.events) {
    if (const auto* start = std::get_if<event::JobStart>(&each)) {
      EXPECT_TRUE(all_jobs.insert(start->job).second);
      open_jobs.insert(start->job);
      for (const auto& stage : start->stages) announced.insert(stage->id);
    } else if (const auto* end = std::get_if<event::JobEnd>(&each)) {
      EXPECT_EQ(open_jobs.erase(end->job), 1u) << "job " << end->job;
      EXPECT_EQ(end->succeeded, end->failure.empty());
    } else if (const auto* begun = std::get_if<event::StageSubmitted>(&each)) {
      const int32_t id = begun->stage->id;
      EXPECT_TRUE(announced.contains(id)) << "stage " << id << " of no job";
      EXPECT_FALSE(open_attempts.contains(id)) << "two attempts of stage " << id;
      EXPECT_TRUE(submitted.emplace(id, begun->stage->attempt).second);
      EXPECT_EQ(begun->stage->completed_ms, 0);
      open_attempts[id] = begun->stage->attempt;
    } else if (const auto* done = std::get_if<event::StageCompleted>(&each)) {
      const int32_t id = done->stage->id;
      EXPECT_TRUE(submitted.contains({id, done->stage->attempt})) << "stage " << id;
      EXPECT_FALSE(open_jobs.empty()) << "stage " << id << " completed after all jobs";
      open_attempts.erase(id);
    }
  }
  EXPECT_TRUE(open_jobs.empty());
  EXPECT_TRUE(open_attempts.empty());
}

rdd::NodePtr DagTest::node(int32_t partitions, std::vector<rdd::Dependency> dependencies,
                           std::vector<std::vector<std::string>> preferred, CallSite site) {
  rdd::NodeSpec spec;
  spec.id = next_node_++;
  spec.call_site = std::move(site);
  spec.op.id = 1;
  spec.dependencies = std::move(dependencies);
  spec.partitions = [partitions, preferred = std::move(preferred)] {
    rdd::Partitions result(static_cast<size_t>(partitions));
    for (size_t i = 0; i < preferred.size(); ++i) result.at(i).preferred = preferred[i];
    return result;
  };
  return std::make_shared<const rdd::Node>(std::move(spec));
}

rdd::ShufflePtr DagTest::shuffle(const rdd::NodePtr& parent, int32_t reduces) {
  rdd::ShuffleDependency dependency;
  dependency.shuffle_id = next_shuffle_++;
  dependency.parent = parent;
  dependency.reduces = reduces;
  dependency.writer.id = 2;
  return std::make_shared<const rdd::ShuffleDependency>(std::move(dependency));
}

ListenerPtr DagTest::submit(const rdd::NodePtr& final, std::vector<int32_t> partitions,
                            Properties properties, ListenerPtr listener) {
  if (!listener) listener = std::make_shared<RecordingListener>();
  listeners_.push_back(listener);
  rdd::compute_partitions(final);
  JobRequest request;
  request.id = next_job_++;
  request.node = final;
  request.action.id = 3;
  request.partitions = std::move(partitions);
  request.properties = std::move(properties);
  request.listener = listener;
  post(JobSubmitted{Pending(std::move(request))});
  return listener;
}

ListenerPtr DagTest::submit_map_stage(const rdd::ShufflePtr& dependency) {
  auto listener = std::make_shared<RecordingListener>();
  listeners_.push_back(listener);
  MapStageRequest request;
  request.id = next_job_++;
  request.shuffle = dependency;
  request.listener = listener;
  request.on_statistics = [listener](const MapOutputStatistics& statistics) {
    EXPECT_EQ(listener->ends, 0);
    std::string text;
    for (const uint64_t bytes : statistics.bytes_by_partition) text += std::to_string(bytes) + " ";
    EXPECT_TRUE(listener->results.emplace(0, text).second);
  };
  scheduler_->submit_map_stage(std::move(request));
  loop_.run();
  return listener;
}

void DagTest::end(size_t index, size_t task, task::EndReason reason, const std::string& executor) {
  queue_end(index, task, std::move(reason), executor);
  loop_.run();
}

void DagTest::queue_end(size_t index, size_t task, task::EndReason reason,
                        const std::string& executor) {
  const task::TaskSetPtr from = submitter_.sets.at(index);
  TaskInfo info;
  info.id = next_task_++;
  info.executor_id = executor;
  info.index = static_cast<int32_t>(task);
  info.partition = from->tasks.at(task).partition;
  if (const auto* success = std::get_if<task::Success>(&reason);
      success != nullptr && success->result->map_status) {
    success->result->map_status->map_id = info.id;
  }
  scheduler_->task_ended(from, from->tasks.at(task), info, std::move(reason));
}

void DagTest::complete(size_t index, std::vector<task::EndReason> reasons) {
  ASSERT_LE(reasons.size(), set(index).tasks.size());
  for (size_t i = 0; i < reasons.size(); ++i) end(index, i, std::move(reasons[i]));
}

void DagTest::complete_maps(size_t index, const std::vector<std::string>& hosts) {
  const size_t tasks = set(index).tasks.size();
  ASSERT_EQ(set(index).kind, task::TaskKind::shuffle_map);
  const rdd::StageGraph graph = rdd::decode_stage_graph(set(index).binary->bytes);
  const int32_t reduces = std::get<rdd::ShuffleWriteStep>(graph.last_step).reduces;
  for (size_t i = 0; i < tasks; ++i) end(index, i, map_output(hosts[i % hosts.size()], reduces));
}

void DagTest::fail_set(size_t index, const std::string& reason,
                       std::shared_ptr<const Error> cause) {
  scheduler_->task_set_failed(submitter_.sets.at(index), reason, std::move(cause));
  loop_.run();
}

void DagTest::lose_executor(const std::string& host, const std::string& host_lost) {
  task::LossReason reason;
  reason.kind = task::LossReason::Kind::killed;
  reason.host = host_lost;
  reason.host_lost = !host_lost.empty();
  scheduler_->executor_lost(host + "-exec", reason);
  loop_.run();
}

std::vector<int32_t> DagTest::partitions_of(size_t index) {
  std::vector<int32_t> partitions;
  for (const task::TaskSpec& task : set(index).tasks) partitions.push_back(task.partition);
  return partitions;
}

std::vector<std::string> DagTest::preferred_hosts(size_t index, size_t task) {
  std::vector<std::string> hosts;
  for (const task::Location& at : set(index).tasks.at(task).preferred) hosts.push_back(at.host);
  return hosts;
}

std::vector<std::string> DagTest::output_hosts(const rdd::ShufflePtr& dependency) {
  std::vector<std::string> hosts;
  for (const auto& status : tracker_->outputs(dependency->shuffle_id).statuses) {
    hosts.push_back(status ? status->location.host : "");
  }
  return hosts;
}

std::vector<int32_t> DagTest::completed_stages() {
  std::vector<int32_t> ids;
  for (const auto& each : sink_.of<event::StageCompleted>()) ids.push_back(each.stage->id);
  return ids;
}

std::vector<int32_t> DagTest::failed_stages() {
  std::vector<int32_t> ids;
  for (const auto& each : sink_.of<event::StageCompleted>()) {
    if (!each.stage->failure.empty()) ids.push_back(each.stage->id);
  }
  return ids;
}

std::vector<std::pair<int32_t, int32_t>> DagTest::submitted_stages() {
  std::vector<std::pair<int32_t, int32_t>> ids;
  for (const auto& each : sink_.of<event::StageSubmitted>()) {
    ids.emplace_back(each.stage->id, each.stage->attempt);
  }
  return ids;
}

bool DagTest::logged(const std::string& part) const {
  for (const auto& [level, text] : log_) {
    if (text.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace tenon::dag::testing
