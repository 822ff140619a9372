// What the tests of the task scheduler share: a backend and a DAG scheduler that only record.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loop/loop.hpp"
#include "task/task_scheduler.hpp"
#include "tenon/error.hpp"

namespace tenon::task::test {

struct Kill {
  uint64_t task_id;
  std::string executor_id;
  bool interrupt, if_queued;
  std::string reason;
};

class FakeBackend final : public Backend {
 public:
  void revive_offers() override {
    ++revived;
    if (throw_on_revive) throw std::runtime_error("no revival");
  }
  void launch_tasks(uint64_t offer, std::vector<Launch> tasks) override {
    answers.emplace_back(offer, tasks.size());
    if (throw_on_launch) throw Error(ErrorKind::plugin, "cannot launch");
    for (Launch& task : tasks) launched.push_back(std::move(task));
  }
  void kill_task(uint64_t task_id, const std::string& executor_id, bool interrupt, bool if_queued,
                 const std::string& reason) override {
    if (throw_on_kill) throw Error(ErrorKind::plugin, "this backend cannot kill tasks");
    kills.push_back({task_id, executor_id, interrupt, if_queued, reason});
  }
  bool kill_executor(const std::string&, const std::string&) override { return false; }
  uint64_t max_payload_bytes() const override { return max_payload; }

  int revived = 0;
  bool throw_on_revive = false, throw_on_launch = false, throw_on_kill = false;
  uint64_t max_payload = 0;
  std::vector<std::pair<uint64_t, size_t>> answers;  // offer, tasks
  std::vector<Launch> launched;
  std::vector<Kill> kills;
};

class RecordingDag final : public DagEvents {
 public:
  struct Ended {
    std::string set;
    TaskInfo info;
    EndReason reason;
  };
  struct SetFailed {
    std::string set, reason;
    std::shared_ptr<const Error> cause;
  };

  void task_started(const TaskSetPtr&, const TaskSpec&, const TaskInfo& info) override {
    started.push_back(info);
    log.push_back("start " + std::to_string(info.id));
  }
  void task_getting_result(const TaskSetPtr&, const TaskInfo& info) override {
    EXPECT_EQ(info.status, TaskStatus::getting_result);
    log.push_back("getting " + std::to_string(info.id));
  }
  void task_ended(const TaskSetPtr& set, const TaskSpec& task, const TaskInfo& info,
                  EndReason reason) override {
    EXPECT_EQ(task.partition, info.partition);
    ended.push_back({set->name(), info, std::move(reason)});
    log.push_back("end " + std::to_string(info.id));
  }
  void task_set_failed(const TaskSetPtr& set, const std::string& reason,
                       std::shared_ptr<const Error> cause) override {
    failed.push_back({set->name(), reason, std::move(cause)});
    log.push_back("failed " + set->name());
  }
  void executor_added(const std::string& id, const std::string& host) override {
    added.push_back(id + "@" + host);
  }
  void executor_lost(const std::string& id, const LossReason& reason) override {
    lost.push_back(id + ": " + describe(reason));
  }
  void worker_removed(const std::string& id, const std::string& host,
                      const std::string& message) override {
    workers.push_back(id + "@" + host + ": " + message);
  }

  // Kinds of ends, in order.
  std::vector<std::string> end_kinds() const {
    std::vector<std::string> kinds;
    for (const Ended& end : ended) kinds.emplace_back(kind_name(end.reason));
    return kinds;
  }

  std::vector<TaskInfo> started;
  std::vector<Ended> ended;
  std::vector<SetFailed> failed;
  std::vector<std::string> added, lost, workers, log;
};

// "exec1@host1" with free cores and queue slots.
inline WorkerOffer offer_of(const std::string& executor, const std::string& host, uint32_t cores,
                            uint32_t slots = 0) {
  WorkerOffer offer;
  offer.executor_id = executor;
  offer.host = host;
  offer.free_cores = cores;
  offer.queue_slots = slots;
  return offer;
}

inline std::shared_ptr<TaskSet> make_set(int32_t tasks, int32_t stage = 0, int32_t attempt = 0,
                                         int32_t priority = 0) {
  auto set = std::make_shared<TaskSet>();
  set->stage_id = stage;
  set->stage_attempt = attempt;
  set->priority = priority;
  set->properties = std::make_shared<const Properties>();
  for (int32_t i = 0; i < tasks; ++i) {
    TaskSpec task;
    task.partition = i;
    task.output = i;
    set->tasks.push_back(std::move(task));
  }
  return set;
}

class TaskSchedulerTest : public testing::Test {
 public:
  TaskSchedulerTest() { settings.shuffle_offers = false; }
  ~TaskSchedulerTest() override {
    if (scheduler_) {
      EXPECT_EQ(scheduler_->check_invariants(), std::vector<std::string>{});
    }
  }

  // Made at the first use, from settings.
  TaskScheduler& scheduler() {
    if (!scheduler_) {
      scheduler_ = std::make_unique<TaskScheduler>(
          loop, backend, dag, settings,
          [this](const TaskSet& set, const TaskSpec& task, uint64_t id, int attempt, bool binary) {
            if (encode) return encode(set, task, id, attempt, binary);
            return std::string(binary ? "with binary" : "task");
          },
          LogCallback([this](LogLevel level,
                             std::string text) { logs.emplace_back(level, std::move(text)); },
                      LogLevel::debug));
    }
    return *scheduler_;
  }

  TaskSchedulerTest& submit(TaskSetPtr set) {
    scheduler().submit_tasks(std::move(set));
    return *this;
  }
  TaskSetManager* manager(int32_t stage = 0, int32_t attempt = 0) {
    return scheduler().find_set(stage, attempt);
  }

  // Offers all at once and returns what was launched.
  std::vector<Launch> offer(std::vector<WorkerOffer> offers) {
    const size_t before = backend.launched.size();
    scheduler().resource_offers(++last_offer, OfferScope::all_free, std::move(offers));
    EXPECT_EQ(backend.answers.back().first, last_offer);
    return {backend.launched.begin() + static_cast<std::ptrdiff_t>(before), backend.launched.end()};
  }
  std::vector<Launch> offer(const std::string& executor, const std::string& host, uint32_t cores,
                            uint32_t slots = 0) {
    return offer({offer_of(executor, host, cores, slots)});
  }

  void status(const Launch& launch, TaskState state, EndReason reason = UnknownReason{}) {
    scheduler().status_update({{launch.task_id, launch.executor_id, state, std::move(reason)}});
  }
  void running(const Launch& launch) { status(launch, TaskState::running); }
  void finish(const Launch& launch, int64_t run_ns = 0) {
    auto result = std::make_shared<TaskResult>();
    result->value = "value";
    result->metrics.run_ns = run_ns;
    status(launch, TaskState::finished, Success{std::move(result)});
  }
  void fail(const Launch& launch, const std::string& message = "boom") {
    ExceptionFailure failure;
    failure.type = "std::runtime_error";
    failure.message = message;
    status(launch, TaskState::failed, std::move(failure));
  }
  void killed(const Launch& launch, const std::string& reason = "killed") {
    status(launch, TaskState::killed, TaskKilled{reason, {}});
  }

  LossReason loss(LossReason::Kind kind, bool app_caused) {
    LossReason reason;
    reason.kind = kind;
    reason.app_caused = app_caused;
    return reason;
  }

  void expect_nothing_kept() {
    const Sizes sizes = scheduler().sizes();
    EXPECT_EQ(sizes.stages, 0U);
    EXPECT_EQ(sizes.task_sets, 0U);
    EXPECT_EQ(sizes.attempts, 0U);
    EXPECT_EQ(sizes.queued, 0U);
    EXPECT_EQ(sizes.pooled, 0U);
    EXPECT_EQ(sizes.running, 0U);
  }

  int logged(LogLevel level, const std::string& part) const {
    int count = 0;
    for (const auto& [at, text] : logs) {
      count += at == level && text.find(part) != std::string::npos ? 1 : 0;
    }
    return count;
  }

  loop::ManualLoop loop;
  FakeBackend backend;
  RecordingDag dag;
  Settings settings;
  std::function<std::string(const TaskSet&, const TaskSpec&, uint64_t, int, bool)> encode;
  std::vector<std::pair<LogLevel, std::string>> logs;
  uint64_t last_offer = 0;

 private:
  std::unique_ptr<TaskScheduler> scheduler_;
};

}  // namespace tenon::task::test
