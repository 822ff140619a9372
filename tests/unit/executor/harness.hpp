// Hand-made operators, a driver and a sink for tests of the executor.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/executor.hpp"
#include "executor/task_description.hpp"
#include "rdd/stage_graph.hpp"
#include "service/driver_client.hpp"
#include "task/end_reason_codec.hpp"

namespace tenon::executor::testing {

// Code that operators of a test run, by the name that is their bytes.
using Hook = std::function<void(const TaskContext& task)>;
void set_hook(const std::string& name, Hook hook);

// Reads numbers from the partition's data, "1 2 3"; runs the hook before the first batch.
rdd::Operator source_operator(const std::string& hook = "");
// Passes its parent's numbers on; runs the hook in the place of the program's function.
rdd::Operator pass_operator(const std::string& hook = "");
// Reads numbers from a shuffle; a failed fetch goes to the hook "on fetch failure" if it is set.
rdd::Operator shuffle_read_operator();
// The sum as text; runs the hook first.
rdd::Operator sum_action(const std::string& hook = "");
// Number n goes to reduce partition n % reduces.
rdd::Operator shuffle_writer();

rdd::NodePtr make_node(int32_t id, rdd::Operator op, std::vector<rdd::Dependency> dependencies,
                       std::vector<std::string> partitions, const std::string& operation = "map");

// Numbers 1 2 3 and 4 5 in two partitions, read by source_operator(hook).
rdd::NodePtr numbers(int32_t id = 0, const std::string& hook = "");
// Passes its parent's numbers on by pass_operator(hook).
rdd::NodePtr pass(int32_t id, rdd::NodePtr parent, const std::string& hook = "");
// Of the level memory from now on.
void keep_in_memory(const rdd::Node& node);

class FakeDriver final : public service::DriverClient {
 public:
  std::shared_ptr<const std::string> stage_binary(const std::string& id) override;
  std::shared_ptr<const std::string> broadcast(uint64_t id) override;
  shuffle::MapOutputsPtr map_outputs(int32_t shuffle, uint64_t epoch) override;
  void heartbeat(const service::Heartbeat& heartbeat, HeartbeatAnswered answered) override;
  void block_update(const storage::BlockUpdate& update) override;

  std::mutex mutex;
  std::map<std::string, std::string> binaries;
  std::map<uint64_t, std::string> broadcasts;
  std::map<int32_t, shuffle::MapOutputs> outputs;
  std::vector<service::Heartbeat> heartbeats;
  std::function<void(HeartbeatAnswered)> answer;  // null: ok, no re-registration
  int binary_fetches = 0, broadcast_fetches = 0, output_fetches = 0;
};

class RecordingSink final : public StatusSink {
 public:
  void status_update(std::vector<Status> statuses) override;
  // All statuses of the task so far.
  std::vector<Status> of(uint64_t task_id);
  // Waits for the task's terminal status.
  task::StatusUpdate wait(uint64_t task_id);
  // Waits for that many terminal statuses; false after 30 s.
  bool wait_for_ends(size_t count);
  bool wait_running(uint64_t task_id);
  std::vector<uint64_t> ended();
  size_t batches();

 private:
  template <class Done>
  bool wait_until(Done done);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Status> statuses_;
  size_t batches_ = 0;
};

// An executor over fakes. The stage of a test is given to the driver by add_stage().
struct Harness {
  explicit Harness(uint32_t cores = 2, uint64_t memory = 1 << 20,
                   std::function<void(ExecutorOptions&)> change = nullptr,
                   std::function<void()> heartbeat_failed = nullptr);

  // A result stage; its binary's id is "stage <id>.<attempt>".
  void add_stage(int32_t stage, const rdd::NodePtr& node, const rdd::Operator& action,
                 int32_t attempt = 0);
  void add_map_stage(int32_t stage, const rdd::ShuffleDependency& shuffle);
  // A launch of the stage's partition.
  LaunchedTask task(uint64_t id, int32_t stage, int32_t partition = 0, int32_t attempt = 0,
                    uint64_t epoch = 0);
  void launch(LaunchedTask task);
  // Launches and waits for the end.
  task::StatusUpdate run(LaunchedTask task);

  storage::BlockManager blocks;
  FakeDriver driver;
  TaskServices services;
  RecordingSink sink;
  std::map<int32_t, rdd::NodePtr> nodes;  // by stage
  std::unique_ptr<Executor> executor;
};

// A flag that one thread sets and others wait for, with a deadline.
class Signal {
 public:
  void set();
  bool wait();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

// The value that a task sent; its failure as text when it did not finish.
std::string value_of(const task::StatusUpdate& update);

template <class Reason>
const Reason* reason_of(const task::StatusUpdate& update) {
  return std::get_if<Reason>(&update.reason);
}

}  // namespace tenon::executor::testing
