#include "dag/dag_scheduler.hpp"

#include <algorithm>
#include <utility>

#include "dag/errors.hpp"

namespace tenon::dag {

DagScheduler::DagScheduler(loop::Loop& loop, task::TaskSubmitter& submitter,
                           MapOutputTracker& tracker, storage::BlockLocations& blocks,
                           events::EventSink& sink, Settings settings, Hooks hooks)
    : loop_(loop),
      submitter_(submitter),
      tracker_(tracker),
      blocks_(blocks),
      sink_(sink),
      settings_(settings),
      hooks_(std::move(hooks)),
      self_(std::make_shared<DagScheduler*>(this)),
      table_(tracker),
      accumulators_([this](const std::string& text) { log(LogLevel::error, text); }) {}

DagScheduler::~DagScheduler() { stop(); }

void DagScheduler::set_application(std::string app_id, std::string attempt_id) {
  app_id_ = std::move(app_id);
  app_attempt_id_ = std::move(attempt_id);
}

void DagScheduler::post_from_any_thread(DagEvent event) {
  const std::weak_ptr<DagScheduler*> weak = self_;
  loop_.post([weak, event = std::move(event)]() mutable {
    const auto self = weak.lock();
    if (!self) return;
    (*self)->post(std::move(event));
    (*self)->drain();
  });
}

void DagScheduler::post(DagEvent event) {
  if (stopped_) return;
  inbox_.push_back(std::move(event));
  if (drain_posted_ || draining_) return;
  drain_posted_ = true;
  const std::weak_ptr<DagScheduler*> weak = self_;
  loop_.post([weak] {
    const auto self = weak.lock();
    if (!self) return;
    (*self)->drain_posted_ = false;
    (*self)->drain();
  });
}

void DagScheduler::drain() {
  if (draining_) return;
  draining_ = true;
  std::vector<DagEvent> batch;
  while (!inbox_.empty() && !stop_wanted_) {
    batch.clear();
    batch.swap(inbox_);
    for (size_t i = 0; i < batch.size(); ++i) {
      handle_guarded(batch[i]);
      if (!stop_wanted_) continue;
      std::vector<DagEvent> left;
      for (++i; i < batch.size(); ++i) left.push_back(std::move(batch[i]));
      for (DagEvent& event : inbox_) left.push_back(std::move(event));
      inbox_.swap(left);
    }
  }
  draining_ = false;
  if (stop_wanted_) stop_now();
}

void DagScheduler::handle_guarded(DagEvent& event) {
  try {
    std::visit([this](auto& each) { handle(each); }, event);
  } catch (...) {
    on_handler_error(current_error()->what());
  }
}

void DagScheduler::on_handler_error(const std::string& what) {
  log(LogLevel::error,
      "DagScheduler failed; all jobs are cancelled and the context stops: " + what);
  try {
    for (const int32_t id : active_stages()) submitter_.cancel_tasks(id, "the scheduler failed");
  } catch (...) {
    log(LogLevel::error,
        std::string("Unexpected error in DagScheduler: ") + current_error()->what());
  }
  fail_everything(ErrorKind::internal,
                  "as part of cancellation of all jobs: the scheduler failed: " + what);
  if (hooks_.on_fatal) hooks_.on_fatal(what);
}

void DagScheduler::stop() {
  if (draining_) {
    stop_wanted_ = true;  // a handler called it: after the event
  } else {
    stop_now();
  }
}

void DagScheduler::stop_now() {
  if (stopped_) return;
  stopped_ = true;
  std::vector<DagEvent> dropped = std::move(inbox_);  // jobs among them fail
  for (DagEvent& event : dropped) announce_task(event);
  fail_everything(ErrorKind::stopped, "because the context was shut down");
}

// Listeners hear of every attempt's start and end, also when nothing else comes of it (C24.2).
void DagScheduler::announce_task(DagEvent& event) {
  if (auto* begin = std::get_if<BeginEvent>(&event)) {
    handle(*begin);
  } else if (auto* getting = std::get_if<GettingResultEvent>(&event)) {
    handle(*getting);
  } else if (auto* completion = std::get_if<CompletionEvent>(&event)) {
    post_task_end(*completion);
  }
}

// Leaves nothing of any job, whatever state a failed handler left the tables in.
void DagScheduler::fail_everything(ErrorKind kind, const std::string& reason) {
  for (const int32_t id : active_stages()) {
    if (Stage* stage = table_.find(id)) mark_finished(*stage, "Stage cancelled " + reason);
  }
  table_.clear();
  cancel_idle_resubmit();
  const std::map<int32_t, ActiveJob> jobs = std::exchange(jobs_, {});
  for (const auto& [id, job] : jobs) {
    const auto error =
        std::make_shared<const Error>(kind, "Job " + std::to_string(id) + " cancelled " + reason);
    post_job_end(id, error->message());
    try {
      job.listener->job_failed(error);
    } catch (...) {
      log(LogLevel::error,
          std::string("Unexpected error in a job's listener: ") + current_error()->what());
    }
  }
}

Sizes DagScheduler::sizes() const {
  Sizes sizes;
  sizes.jobs = jobs_.size();
  sizes.job_stages = table_.job_stages();
  sizes.stages = table_.stages();
  sizes.shuffle_stages = table_.shuffle_stages();
  sizes.waiting = table_.waiting.size();
  sizes.running = table_.running.size();
  sizes.failed = table_.failed.size();
  sizes.timers = resubmit_timer_ == 0 ? 0 : 1;
  return sizes;
}

std::vector<int32_t> DagScheduler::active_jobs() const {
  std::vector<int32_t> ids;
  for (const auto& [id, job] : jobs_) ids.push_back(id);
  return ids;
}

std::vector<int32_t> DagScheduler::active_stages() const {
  return {table_.running.begin(), table_.running.end()};
}

std::vector<task::Location> DagScheduler::preferred_locations(const rdd::NodePtr& node,
                                                              int32_t partition) {
  const auto lookup = [this](const rdd::Node& each) { return cached_locations(each); };
  return PreferredLocations(*node, lookup, tracker_, settings_.reduce_locality).of(partition);
}

void DagScheduler::log(LogLevel level, const std::string& text) const {
  if (hooks_.log) hooks_.log(level, text);
}

DagScheduler::ActiveJob* DagScheduler::find_job(int32_t id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

void DagScheduler::task_started(const task::TaskSetPtr& set, const task::TaskSpec& /*task*/,
                                const TaskInfo& info) {
  post(BeginEvent{set, info});
}

void DagScheduler::task_getting_result(const task::TaskSetPtr& set, const TaskInfo& info) {
  post(GettingResultEvent{set, info});
}

void DagScheduler::task_ended(const task::TaskSetPtr& set, const task::TaskSpec& task,
                              const TaskInfo& info, task::EndReason reason) {
  post(CompletionEvent{set, task.partition, task.output, info, std::move(reason)});
}

void DagScheduler::task_set_failed(const task::TaskSetPtr& set, const std::string& reason,
                                   std::shared_ptr<const Error> cause) {
  post(TaskSetFailed{set, reason, std::move(cause)});
}

void DagScheduler::executor_added(const std::string& executor_id, const std::string& host) {
  post(ExecutorAdded{executor_id, host});
}

void DagScheduler::executor_lost(const std::string& executor_id, const task::LossReason& reason) {
  post(ExecutorLost{executor_id, reason});
}

void DagScheduler::worker_removed(const std::string& worker_id, const std::string& host,
                                  const std::string& message) {
  post(WorkerRemoved{worker_id, host, message});
}

}  // namespace tenon::dag
