#include "harness.hpp"

#include <chrono>
#include <sstream>
#include <utility>

#include "tenon/detail/registry.hpp"
#include "tenon/error.hpp"

namespace tenon::executor::testing {
namespace {

constexpr std::chrono::seconds kDeadline{30};

std::mutex hooks_mutex;
std::map<std::string, Hook> hooks;

void call_hook(const std::string& name, const TaskContext& task) {
  Hook hook;
  {
    const std::lock_guard lock(hooks_mutex);
    const auto found = hooks.find(name);
    if (found == hooks.end()) return;
    hook = found->second;
  }
  if (hook) hook(task);
}

using Numbers = std::vector<int64_t>;

Numbers parse(std::string_view text) {
  std::istringstream in{std::string(text)};
  Numbers numbers;
  for (int64_t n = 0; in >> n;) numbers.push_back(n);
  return numbers;
}

class NumberStream final : public detail::Stream<int64_t> {
 public:
  explicit NumberStream(std::function<Numbers()> make) : make_(std::move(make)) {}
  std::span<int64_t> next() override {
    if (!make_) return {};
    numbers_ = std::exchange(make_, nullptr)();
    return numbers_;
  }

 private:
  std::function<Numbers()> make_;
  Numbers numbers_;
};

Numbers read_all(detail::StreamBase& stream) {
  Numbers all;
  auto& typed = dynamic_cast<detail::Stream<int64_t>&>(stream);
  for (auto batch = typed.next(); !batch.empty(); batch = typed.next()) {
    all.insert(all.end(), batch.begin(), batch.end());
  }
  return all;
}

struct KeptNumbers final : detail::CachedPartition {
  Numbers numbers;
  [[nodiscard]] uint64_t bytes() const override { return numbers.size() * sizeof(int64_t); }
  void encode(const detail::ByteSink&) const override {}
};

class NumberKeeper final : public detail::KeepOperator {
 public:
  explicit NumberKeeper(std::string_view) {}
  detail::CachedPtr keep(detail::StreamBase& stream, const TaskContext&) const override {
    auto kept = std::make_shared<KeptNumbers>();
    kept->numbers = read_all(stream);
    return kept;
  }
  void encode(detail::StreamBase&, const TaskContext&, const detail::ByteSink&) const override {}
  detail::StreamPtr reopen(detail::CachedPtr kept) const override {
    return std::make_unique<NumberStream>(
        [kept] { return dynamic_cast<const KeptNumbers&>(*kept).numbers; });
  }
};

class NumberOperator : public detail::RddOperator {
 public:
  explicit NumberOperator(std::string_view hook) : hook_(hook) {}

 protected:
  std::string hook_;
};

class SourceOperator final : public NumberOperator {
 public:
  using NumberOperator::NumberOperator;
  detail::StreamPtr open(detail::PartitionContext& context, int32_t partition) const override {
    return std::make_unique<NumberStream>([this, &context, partition] {
      call_hook(hook_, context.task());
      return parse(context.data(partition));
    });
  }
};

class PassOperator final : public NumberOperator {
 public:
  using NumberOperator::NumberOperator;
  detail::StreamPtr open(detail::PartitionContext& context, int32_t partition) const override {
    std::shared_ptr<detail::StreamBase> parent = context.parent(0, partition);
    return std::make_unique<NumberStream>([this, &context, parent] {
      Numbers numbers = read_all(*parent);
      try {
        call_hook(hook_, context.task());
      } catch (...) {
        context.note_failure();
        throw;
      }
      return numbers;
    });
  }
};

class ShuffleReadOperator final : public NumberOperator {
 public:
  using NumberOperator::NumberOperator;
  detail::StreamPtr open(detail::PartitionContext& context, int32_t partition) const override {
    return std::make_unique<NumberStream>([&context, partition] {
      Numbers numbers;
      try {
        const auto input = context.shuffle(0, partition);
        while (const auto block = input->next()) {
          for (const int64_t n : parse(block->bytes)) numbers.push_back(n);
        }
      } catch (const std::exception&) {
        bool hooked = false;
        {
          const std::lock_guard lock(hooks_mutex);
          hooked = hooks.contains("on fetch failure");
        }
        if (!hooked) throw;
        call_hook("on fetch failure", context.task());
      }
      return numbers;
    });
  }
};

class SumAction final : public detail::ActionOperator {
 public:
  explicit SumAction(std::string_view hook) : hook_(hook) {}
  std::string run(detail::StreamBase& input, const TaskContext& task) const override {
    call_hook(hook_, task);
    int64_t sum = 0;
    for (const int64_t n : read_all(input)) sum += n;
    if (hook_ == "large") return std::string(static_cast<size_t>(sum), 'x');
    return std::to_string(sum);
  }

 private:
  std::string hook_;
};

class ModuloWriter final : public detail::ShuffleWriteOperator {
 public:
  explicit ModuloWriter(std::string_view reduces) : reduces_(std::stoll(std::string(reduces))) {}
  void write(detail::StreamBase& input, detail::ShuffleOutput& output,
             const TaskContext& task) const override {
    for (const int64_t n : read_all(input)) {
      output.append(static_cast<int32_t>(n % reduces_), std::to_string(n) + " ", 1);
    }
    call_hook("after write", task);
  }

 private:
  int64_t reduces_;
};

template <class Op>
std::unique_ptr<detail::OperatorBase> make_op(std::string_view bytes) {
  if (bytes == "cannot be made") throw Error(ErrorKind::codec, "bytes that do not fit");
  return std::make_unique<Op>(bytes);
}

template <class Op>
rdd::Operator operator_of(const std::string& bytes) {
  static const int here = 0;
  return {detail::register_operator(typeid(Op).name(), &make_op<Op>, &here), bytes};
}

}  // namespace

void set_hook(const std::string& name, Hook hook) {
  const std::lock_guard lock(hooks_mutex);
  if (hook) {
    hooks[name] = std::move(hook);
  } else {
    hooks.erase(name);
  }
}

rdd::Operator source_operator(const std::string& hook) { return operator_of<SourceOperator>(hook); }
rdd::Operator pass_operator(const std::string& hook) { return operator_of<PassOperator>(hook); }
rdd::Operator shuffle_read_operator() { return operator_of<ShuffleReadOperator>(""); }
rdd::Operator sum_action(const std::string& hook) { return operator_of<SumAction>(hook); }
rdd::Operator shuffle_writer() { return operator_of<ModuloWriter>("2"); }

rdd::NodePtr make_node(int32_t id, rdd::Operator op, std::vector<rdd::Dependency> dependencies,
                       std::vector<std::string> partitions, const std::string& operation) {
  rdd::NodeSpec spec;
  spec.id = id;
  spec.call_site = {operation, "program.cpp", static_cast<uint32_t>(10 + id)};
  spec.op = std::move(op);
  spec.dependencies = std::move(dependencies);
  spec.partitions = [partitions = std::move(partitions)] {
    rdd::Partitions made;
    for (const std::string& data : partitions) made.push_back({data, {}});
    return made;
  };
  auto node = std::make_shared<const rdd::Node>(std::move(spec));
  rdd::compute_partitions(node);
  return node;
}

std::shared_ptr<const std::string> FakeDriver::stage_binary(const std::string& id) {
  const std::lock_guard lock(mutex);
  ++binary_fetches;
  const auto found = binaries.find(id);
  if (found == binaries.end()) throw Error(ErrorKind::internal, "no binary " + id);
  return std::make_shared<const std::string>(found->second);
}

std::shared_ptr<const std::string> FakeDriver::broadcast(uint64_t id) {
  const std::lock_guard lock(mutex);
  ++broadcast_fetches;
  const auto found = broadcasts.find(id);
  if (found == broadcasts.end()) throw Error(ErrorKind::invalid_argument, "broadcast is destroyed");
  return std::make_shared<const std::string>(found->second);
}

shuffle::MapOutputsPtr FakeDriver::map_outputs(int32_t shuffle, uint64_t /*epoch*/) {
  const std::lock_guard lock(mutex);
  ++output_fetches;
  return std::make_shared<const shuffle::MapOutputs>(outputs[shuffle]);
}

void FakeDriver::heartbeat(const service::Heartbeat& heartbeat, HeartbeatAnswered answered) {
  std::function<void(HeartbeatAnswered)> how;
  {
    const std::lock_guard lock(mutex);
    heartbeats.push_back(heartbeat);
    how = answer;
  }
  if (how) {
    how(std::move(answered));
  } else {
    answered(true, false);
  }
}

void FakeDriver::block_update(const storage::BlockUpdate&) {}

void RecordingSink::status_update(std::vector<Status> statuses) {
  const std::lock_guard lock(mutex_);
  ++batches_;
  for (Status& status : statuses) statuses_.push_back(std::move(status));
  changed_.notify_all();
}

template <class Done>
bool RecordingSink::wait_until(Done done) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kDeadline, done);
}

std::vector<Status> RecordingSink::of(uint64_t task_id) {
  const std::lock_guard lock(mutex_);
  std::vector<Status> found;
  for (const Status& status : statuses_) {
    if (status.task_id == task_id) found.push_back(status);
  }
  return found;
}

task::StatusUpdate RecordingSink::wait(uint64_t task_id) {
  const Status* found = nullptr;
  const auto ended = [&] {
    for (const Status& status : statuses_) {
      if (status.task_id == task_id && task::is_terminal(status.state)) found = &status;
    }
    return found != nullptr;
  };
  if (!wait_until(ended)) throw std::runtime_error("no end of task " + std::to_string(task_id));
  const std::lock_guard lock(mutex_);
  ended();
  return task::decode_status(task_id, "1", found->state, found->data);
}

bool RecordingSink::wait_for_ends(size_t count) {
  return wait_until([&] {
    size_t ended = 0;
    for (const Status& status : statuses_) ended += task::is_terminal(status.state) ? 1 : 0;
    return ended >= count;
  });
}

bool RecordingSink::wait_running(uint64_t task_id) {
  return wait_until([&] {
    for (const Status& status : statuses_) {
      if (status.task_id == task_id && status.state == task::TaskState::running) return true;
    }
    return false;
  });
}

std::vector<uint64_t> RecordingSink::ended() {
  const std::lock_guard lock(mutex_);
  std::vector<uint64_t> ids;
  for (const Status& status : statuses_) {
    if (task::is_terminal(status.state)) ids.push_back(status.task_id);
  }
  return ids;
}

size_t RecordingSink::batches() {
  const std::lock_guard lock(mutex_);
  return batches_;
}

Harness::Harness(uint32_t cores, uint64_t memory, std::function<void(ExecutorOptions&)> change,
                 std::function<void()> heartbeat_failed)
    : blocks(memory), services(blocks, driver) {
  ExecutorOptions options;
  options.location = {"1", "host-a", "inproc://blocks-1"};
  options.cores = cores;
  if (change) change(options);
  executor = std::make_unique<Executor>(options, services, sink, std::move(heartbeat_failed));
}

void Harness::add_stage(int32_t stage, const rdd::NodePtr& node, const rdd::Operator& action,
                        int32_t attempt) {
  const rdd::StageHeader header{"app-1", "", stage, attempt, {{"tenon.job.description", "test"}}};
  const std::lock_guard lock(driver.mutex);
  driver.binaries["stage " + std::to_string(stage) + "." + std::to_string(attempt)] =
      rdd::encode_stage(header, node, action);
  nodes[stage] = node;
}

void Harness::add_map_stage(int32_t stage, const rdd::ShuffleDependency& shuffle) {
  const rdd::StageHeader header{"app-1", "", stage, 0, {}};
  const std::lock_guard lock(driver.mutex);
  driver.binaries["stage " + std::to_string(stage) + ".0"] = rdd::encode_stage(header, shuffle);
  nodes[stage] = shuffle.parent;
}

LaunchedTask Harness::task(uint64_t id, int32_t stage, int32_t partition, int32_t attempt,
                           uint64_t epoch) {
  const std::string binary_id = "stage " + std::to_string(stage) + "." + std::to_string(attempt);
  const auto data = rdd::partition_data(nodes.at(stage), partition);
  TaskDescription description;
  description.task_id = id;
  description.epoch = epoch;
  description.stage_id = stage;
  description.stage_attempt = attempt;
  description.partition = partition;
  description.output = partition;
  description.binary_id = binary_id;
  if (data) description.data = *data;
  return {id, 1, plugin::Buffer(encode(description))};
}

void Harness::launch(LaunchedTask task) {
  std::vector<LaunchedTask> tasks;
  tasks.push_back(std::move(task));
  executor->launch_tasks(std::move(tasks));
}

task::StatusUpdate Harness::run(LaunchedTask task) {
  const uint64_t id = task.task_id;
  launch(std::move(task));
  return sink.wait(id);
}

rdd::NodePtr numbers(int32_t id, const std::string& hook) {
  return make_node(id, source_operator(hook), {}, {"1 2 3", "4 5"}, "parallelize");
}

void keep_in_memory(const rdd::Node& node) {
  node.set_keeper(detail::operator_of<NumberKeeper>());
  node.set_level(StorageLevel::memory);
}

rdd::NodePtr pass(int32_t id, rdd::NodePtr parent, const std::string& hook) {
  std::vector<std::string> partitions(parent->partitions().size());
  return make_node(id, pass_operator(hook), {rdd::NarrowDependency{std::move(parent), {}}},
                   std::move(partitions), "map");
}

std::string value_of(const task::StatusUpdate& update) {
  const auto* success = reason_of<task::Success>(update);
  return success == nullptr ? task::describe(update.reason) : success->result->value;
}

void Signal::set() {
  const std::lock_guard lock(mutex_);
  set_ = true;
  changed_.notify_all();
}

bool Signal::wait() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kDeadline, [&] { return set_; });
}

}  // namespace tenon::executor::testing
