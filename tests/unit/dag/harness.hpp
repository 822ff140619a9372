// A DagScheduler over a manual loop, with a fake task scheduler that records task sets (contract
// §27, "DAG").
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dag/dag_scheduler.hpp"
#include "dag/properties.hpp"
#include "loop/loop.hpp"

namespace tenon::dag::testing {

using namespace std::chrono_literals;

inline task::BlockManagerId block_manager(const std::string& host) {
  return {host + "-exec", host, host + ":1"};
}

inline task::EndReason map_output(const std::string& host, int32_t reduces, uint64_t size = 2) {
  auto result = std::make_shared<task::TaskResult>();
  result->map_status = task::MapStatus{
      block_manager(host), std::vector<uint64_t>(static_cast<size_t>(reduces), size), 0};
  return task::Success{result};
}

inline task::EndReason value(const std::string& text) {
  auto result = std::make_shared<task::TaskResult>();
  result->value = text;
  return task::Success{result};
}

inline task::EndReason fetch_failure(const std::string& host, int32_t shuffle, int32_t map,
                                     int32_t reduce, const std::string& message = "ignored") {
  return task::FetchFailed{block_manager(host), shuffle, map, map, reduce, message};
}

inline task::EndReason with_updates(task::EndReason reason,
                                    std::vector<task::AccumulatorUpdate> updates) {
  std::get<task::Success>(reason).result->accumulators = std::move(updates);
  return reason;
}

class FakeSubmitter final : public task::TaskSubmitter {
 public:
  void submit_tasks(task::TaskSetPtr set) override { sets.push_back(std::move(set)); }
  void cancel_tasks(int32_t stage_id, const std::string& reason) override {
    if (cannot_kill) throw Error(ErrorKind::internal, "this backend cannot kill tasks");
    cancelled.emplace_back(stage_id, reason);
  }
  void kill_all_task_attempts(int32_t stage_id, const std::string& reason) override {
    if (cannot_kill) throw Error(ErrorKind::internal, "this backend cannot kill tasks");
    killed.emplace_back(stage_id, reason);
  }
  bool kill_task_attempt(uint64_t /*task_id*/, const std::string& /*reason*/) override {
    return false;
  }
  void partition_completed(int32_t stage_id, int32_t partition) override {
    completed.emplace_back(stage_id, partition);
  }
  [[nodiscard]] int32_t default_parallelism() const override { return 2; }
  [[nodiscard]] std::vector<int32_t> cancelled_stages() const {
    std::vector<int32_t> ids;
    for (const auto& [id, reason] : cancelled) ids.push_back(id);
    return ids;
  }

  bool cannot_kill = false;
  std::vector<task::TaskSetPtr> sets;
  std::vector<std::pair<int32_t, std::string>> cancelled, killed;
  std::vector<std::pair<int32_t, int32_t>> completed;
};

class FakeBlocks final : public storage::BlockLocations {
 public:
  [[nodiscard]] std::vector<std::vector<task::Location>> locations(
      int32_t rdd_id, int32_t partitions) const override {
    ++lookups;
    std::vector<std::vector<task::Location>> result(static_cast<size_t>(partitions));
    for (const auto& [place, at] : cached) {
      if (place.first == rdd_id) result.at(static_cast<size_t>(place.second)) = at;
    }
    return result;
  }
  void remove_executor(const std::string& executor_id) override { removed.push_back(executor_id); }

  std::map<std::pair<int32_t, int32_t>, std::vector<task::Location>> cached;  // (rdd, partition)
  std::vector<std::string> removed;
  mutable int lookups = 0;
};

class RecordingSink final : public events::EventSink {
 public:
  void post(Event event) override { events.push_back(std::move(event)); }

  template <class E>
  [[nodiscard]] std::vector<E> of() const {
    std::vector<E> found;
    for (const Event& each : events) {
      if (const E* event = std::get_if<E>(&each)) found.push_back(*event);
    }
    return found;
  }

  std::vector<Event> events;
};

struct RecordingListener final : public JobListener {
  bool task_succeeded(int32_t position, std::string result) override {
    if (throws) throw std::runtime_error("handler of " + std::to_string(position));
    EXPECT_TRUE(results.emplace(position, std::move(result)).second) << "twice: " << position;
    return handles;
  }
  void job_succeeded() override {
    ++ends;
    succeeded = true;
  }
  void job_failed(std::shared_ptr<const Error> error) override {
    ++ends;
    failure = std::move(error);
  }
  [[nodiscard]] std::string failure_text() const { return failure ? failure->message() : ""; }

  bool handles = true;  // at once
  bool throws = false;
  std::map<int32_t, std::string> results;
  bool succeeded = false;
  int ends = 0;
  std::shared_ptr<const Error> failure;
};
using ListenerPtr = std::shared_ptr<RecordingListener>;

class DagTest : public ::testing::Test {
 protected:
  DagTest() {
    loop_.advance(1s);  // a time of 0 means none
    make_scheduler({});
  }

  void make_scheduler(Settings settings);
  void TearDown() override;

  // ---- lineage
  rdd::NodePtr node(int32_t partitions, std::vector<rdd::Dependency> dependencies = {},
                    std::vector<std::vector<std::string>> preferred = {}, CallSite site = {});
  rdd::ShufflePtr shuffle(const rdd::NodePtr& parent, int32_t reduces);
  static rdd::Dependency one_to_one(rdd::NodePtr parent) {
    return rdd::NarrowDependency{std::move(parent), {}};
  }

  // ---- jobs; ids count up
  ListenerPtr submit(const rdd::NodePtr& final, std::vector<int32_t> partitions,
                     Properties properties = {}, ListenerPtr listener = nullptr);
  ListenerPtr submit_map_stage(const rdd::ShufflePtr& dependency);
  void post(DagEvent event) {
    scheduler_->post(std::move(event));
    loop_.run();
  }
  void cancel(int32_t job) { post(JobCancelled{job, {}}); }

  // ---- tasks
  const task::TaskSet& set(size_t index) { return *submitter_.sets.at(index); }
  // The end of one task of a set; executor: where it ran.
  void end(size_t set, size_t task, task::EndReason reason, const std::string& executor = "");
  // The same without running the loop.
  void queue_end(size_t set, size_t task, task::EndReason reason, const std::string& executor = "");
  // The ends of the set's first tasks, in order.
  void complete(size_t set, std::vector<task::EndReason> reasons);
  // All map tasks of the set succeed, at the hosts in turn.
  void complete_maps(size_t set, const std::vector<std::string>& hosts);
  void fail_set(size_t set, const std::string& reason,
                std::shared_ptr<const Error> cause = nullptr);
  void lose_executor(const std::string& host, const std::string& host_lost = "");
  void resubmit() { loop_.advance(200ms); }

  // ---- what came of it
  std::vector<int32_t> partitions_of(size_t index);
  std::vector<std::string> preferred_hosts(size_t set, size_t task);
  std::vector<std::string> output_hosts(const rdd::ShufflePtr& dependency);
  std::vector<int32_t> completed_stages();                      // in order, whatever their end
  std::vector<int32_t> failed_stages();                         // completed with a failure
  std::vector<std::pair<int32_t, int32_t>> submitted_stages();  // (stage, attempt)
  void expect_all_empty() { EXPECT_EQ(scheduler_->sizes(), Sizes{}); }
  bool logged(const std::string& part) const;

  loop::ManualLoop loop_;
  FakeSubmitter submitter_;
  FakeBlocks blocks_;
  RecordingSink sink_;
  std::unique_ptr<MapOutputTracker> tracker_;
  std::unique_ptr<DagScheduler> scheduler_;
  std::vector<std::pair<LogLevel, std::string>> log_;
  std::vector<std::string> fatal_;
  std::vector<ListenerPtr> listeners_;
  std::set<uint64_t> unknown_operators_;
  int32_t next_job_ = 0;

 private:
  void check_events() const;

  int32_t next_node_ = 0;
  int32_t next_shuffle_ = 0;
  uint64_t next_task_ = 0;
};

}  // namespace tenon::dag::testing
