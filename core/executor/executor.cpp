#include "executor/executor.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "common/log.hpp"
#include "executor/reporter.hpp"

namespace tenon::executor {
namespace {

const log::Logger kLog = log::logger("executor");

// Takes the answers to heartbeats; outlives the executor when one comes late.
class HeartbeatAnswers {
 public:
  HeartbeatAnswers(const ExecutorOptions& options, storage::MemoryStore& memory,
                   std::function<void()> failed)
      : executor_id_(options.location.executor_id),
        limit_(options.heartbeat_max_failures),
        memory_(&memory),
        failed_(std::move(failed)) {}

  void answered(bool ok, bool reregister) {
    const std::lock_guard lock(mutex_);
    if (memory_ == nullptr) return;
    if (ok) {
      failures_ = 0;
      if (reregister) memory_->report_all();
      return;
    }
    kLog.warn("heartbeat was not answered, executor=" + executor_id_ +
              " in_a_row=" + std::to_string(++failures_));
    if (failures_ == limit_ && failed_) std::exchange(failed_, nullptr)();
  }

  // What comes later is ignored.
  void close() {
    const std::lock_guard lock(mutex_);
    memory_ = nullptr;
  }

 private:
  const std::string executor_id_;
  const uint32_t limit_;
  std::mutex mutex_;  // guards all below
  storage::MemoryStore* memory_;
  std::function<void()> failed_;
  uint32_t failures_ = 0;
};

// C17.6: the first after one to two intervals, at random, so that executors started together do not
// beat together.
std::chrono::milliseconds first_beat(const ExecutorOptions& options) {
  std::mt19937_64 random(options.random_seed);
  const auto interval = options.heartbeat_interval.count();
  return std::chrono::milliseconds(
      interval + std::uniform_int_distribution<int64_t>(0, std::max<int64_t>(interval, 1))(random));
}

}  // namespace

struct Executor::State {
  State(ExecutorOptions o, TaskServices& s, StatusSink& sink, std::function<void()> failed)
      : options(std::move(o)),
        services(s),
        answers(std::make_shared<HeartbeatAnswers>(options, services.blocks.memory(),
                                                   std::move(failed))),
        table(std::max(options.cores, 1U), sink, [this] { reporter.arm(); }) {}

  const ExecutorOptions options;
  TaskServices& services;
  const std::shared_ptr<HeartbeatAnswers> answers;
  Reporter reporter;
  TaskTable table;
  std::mutex joining;  // guards threads
  std::vector<std::thread> threads;

  void start() {
    reporter.start({.tick = [this] { table.tick(); },
                    .beat = [this] { beat(); },
                    .first_beat = first_beat(options),
                    .beat_interval = options.heartbeat_interval});
    for (uint32_t i = 0; i < std::max(options.cores, 1U); ++i) {
      threads.emplace_back([this, i] { run(i); });
    }
  }

  void run(uint32_t index) {
    pthread_setname_np(pthread_self(), ("tenon-task-" + std::to_string(index)).c_str());
    TaskRunner runner(options, services);
    TaskTable::Slot slot(table, runner.attempt());
    table.add_slot(slot);
    std::optional<Status> ended;
    while (std::optional<LaunchedTask> task = table.next(slot, std::move(ended))) {
      const auto bytes = task->payload.bytes();
      ended = runner.run({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, slot);
    }
    table.remove_slot(slot);
  }

  void beat() {
    services.driver.heartbeat(
        {options.location.executor_id, table.running()},
        [to = answers](bool ok, bool reregister) { to->answered(ok, reregister); });
  }
};

Executor::Executor(ExecutorOptions options, TaskServices& services, StatusSink& sink,
                   std::function<void()> heartbeat_failed)
    : state_(std::make_unique<State>(std::move(options), services, sink,
                                     std::move(heartbeat_failed))) {
  try {
    state_->start();
  } catch (...) {
    shutdown("the executor could not start its threads");
    join();
    throw;
  }
}

Executor::~Executor() {
  shutdown("the executor ends");
  join();
}

void Executor::launch_tasks(std::vector<LaunchedTask> tasks) {
  state_->table.launch(std::move(tasks));
}

void Executor::kill_task(uint64_t task_id, bool /*interrupt*/, bool if_queued,
                         const std::string& reason) {
  state_->table.kill(task_id, if_queued, reason);
}

void Executor::shutdown(const std::string& reason) { state_->table.shutdown(reason); }

void Executor::join() {
  const std::lock_guard lock(state_->joining);
  for (std::thread& thread : state_->threads) {
    if (thread.joinable()) thread.join();
  }
  state_->reporter.stop();
  state_->table.wait_until_sent();
  state_->answers->close();
}

std::vector<std::pair<uint64_t, TaskMetrics>> Executor::running() const {
  return state_->table.running();
}

}  // namespace tenon::executor
