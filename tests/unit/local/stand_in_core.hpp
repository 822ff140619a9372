// A stand-in for core that drives the shipped local plugin through the host's classes: a scheduler
// that fills offers with tasks, and an executor of N threads. Both check every rule of the contract
// that they can see.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "plugin/executor_backend.hpp"
#include "plugin/plugin_host.hpp"
#include "plugin/scheduler_backend.hpp"

namespace tenon::local::testing {

using host::LaunchedTask;

// One thread that runs what is posted, in order.
class Mailbox {
 public:
  void post(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    changed_.notify_all();
  }
  // Runs what comes until the condition holds; false when nothing came for long.
  bool run_until(const std::function<bool()>& condition) {
    while (!condition()) {
      std::deque<std::function<void()>> turn;
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, std::chrono::seconds(20), [&] { return !queue_.empty(); })) {
          return false;
        }
        turn.swap(queue_);
      }
      for (auto& work : turn) work();
    }
    return true;
  }
  [[nodiscard]] size_t waiting() {
    const std::lock_guard lock(mutex_);
    return queue_.size();
  }

 private:
  std::mutex mutex_;  // guards queue_
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
};

// Core's Executor in small: its own thread for orders, and a thread for each core.
class StandInExecutor final : public host::ExecutorEvents {
 public:
  using Body = std::function<host::ExecutorStatus(const LaunchedTask&)>;
  StandInExecutor(host::InProcessRequest request, host::MasterUrl master, Body body)
      : cores(request.executor.cores),
        executor_id(request.executor.executor_id),
        body_(std::move(body)) {
    thread_ =
        std::thread([this, request = std::move(request), master = std::move(master)]() mutable {
          run(std::move(request), std::move(master));
        });
  }
  ~StandInExecutor() override { join(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  void registered() override {
    mailbox_.post([this] { backend_->executor_ready(); });
  }
  void launch_tasks(std::vector<LaunchedTask> tasks) override {
    const std::lock_guard lock(mutex_);
    for (auto& task : tasks) queue_.push_back(std::move(task));
    wake_.notify_all();
  }
  void kill_task(uint64_t id, bool, bool if_queued, std::string) override {
    if (reports_at_once) return kill(id, if_queued);
    mailbox_.post([this, id, if_queued] { kill(id, if_queued); });
  }
  void shutdown(int32_t code, std::string) override {
    exit_code = code;
    mailbox_.post([this] { ending_ = true; });
  }
  void failed(ErrorKind, std::string) override {
    mailbox_.post([this] { ending_ = true; });
  }
  void stopped() override { stopped_ = true; }
  // Ends by itself, as on an uncaught error.
  void exit(int32_t code, const std::string& reason) {
    mailbox_.post([this, code, reason] {
      ends_process = backend_->exit_executor(code, true, reason, true);
      ending_ = true;
    });
  }
  // Holds back the runners, so that tasks stay where they are.
  void pause(bool on) {
    const std::lock_guard lock(mutex_);
    paused_ = on;
    wake_.notify_all();
  }

  const uint32_t cores;
  const std::string executor_id;
  std::atomic<bool> reports_at_once = false;  // a kill, on the stack of the order
  std::atomic<uint32_t> most_running = 0;
  std::optional<int32_t> exit_code;
  std::optional<bool> ends_process;

 private:
  void run(host::InProcessRequest request, host::MasterUrl master) {
    backend_ = std::make_unique<host::ExecutorBackend>(
        host::ExecutorBackendSetup{.api = request.backend,
                                   .host = host::HostServices::make({}, {}),
                                   .master = std::move(master),
                                   .bootstrap = "",
                                   .executor = request.executor,
                                   .stop_timeout = std::chrono::seconds(20)},
        *this);
    std::vector<std::thread> runners;
    for (uint32_t i = 0; i < cores; ++i) runners.emplace_back([this] { work(); });
    backend_->start();
    mailbox_.run_until([this] { return ending_; });
    {
      const std::lock_guard lock(mutex_);
      stop_runners_ = true;
      paused_ = false;
    }
    wake_.notify_all();
    for (auto& runner : runners) runner.join();
    backend_->stop();
    backend_->destroy();
  }
  void kill(uint64_t id, bool if_queued) {
    {
      const std::lock_guard lock(mutex_);
      const auto at = std::find_if(queue_.begin(), queue_.end(),
                                   [&](const LaunchedTask& task) { return task.id == id; });
      if (at == queue_.end()) return;
      queue_.erase(at);
    }
    std::vector<host::ExecutorStatus> statuses;
    statuses.push_back({id, if_queued ? task::TaskState::returned : task::TaskState::killed, ""});
    backend_->status_update(std::move(statuses));
  }
  void work() {
    while (true) {
      std::optional<LaunchedTask> task;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return (!queue_.empty() && !paused_) || stop_runners_; });
        if (stop_runners_) return;
        task.emplace(std::move(queue_.front()));
        queue_.pop_front();
        most_running = std::max<uint32_t>(most_running, ++running_);
      }
      std::vector<host::ExecutorStatus> statuses;
      statuses.push_back(body_(*task));
      task.reset();
      {
        const std::lock_guard lock(mutex_);
        --running_;
      }
      backend_->status_update(std::move(statuses));
    }
  }

  const Body body_;
  Mailbox mailbox_;
  std::unique_ptr<host::ExecutorBackend> backend_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::deque<LaunchedTask> queue_;
  uint32_t running_ = 0;
  bool stop_runners_ = false, paused_ = false;
  bool ending_ = false;  // on the mailbox's thread
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

// Core's scheduler in small: one mailbox, offers filled with tasks, the books kept beside the
// plugin's.
class StandInCore final : public task::BackendEvents {
 public:
  explicit StandInCore(const std::string& url, StandInExecutor::Body body)
      : StandInCore(url, std::move(body), host::PluginSearch::of({}, "", {TENON_TEST_PLUGIN_DIR})) {
  }
  StandInCore(const std::string& url, StandInExecutor::Body body, host::PluginSearch search) {
    const host::MasterUrl master = host::parse_master_url(url);
    host::HostCallbacks callbacks;
    callbacks.start_in_process = [this, master, body](host::InProcessRequest request) {
      executor = std::make_unique<StandInExecutor>(std::move(request), master, body);
    };
    backend = std::make_unique<host::SchedulerBackend>(
        host::SchedulerBackendSetup{
            .plugin = host::PluginHost(std::move(search)).load(master),
            .host = host::HostServices::make({}, std::move(callbacks)),
            .master = master,
            .app = {},
            .bootstrap = "",
            .decoder = [](task::TaskState, std::span<const std::byte> bytes) -> task::EndReason {
              return task::UnknownReason{
                  std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
            },
            .stop_timeout = std::chrono::seconds(20)},
        *this);
  }

  // Ends both halves in their order.
  bool stop(int code = 0) {
    waiting.clear();
    backend->stop(code);
    const bool in_time = mailbox.run_until([this] { return stopped_; });
    if (executor) executor->join();
    if (executor) exit_code = executor->exit_code;
    executor.reset();
    const auto events = event_names();
    if (events.empty() || events.back() != "stopped")
      faults.emplace_back("stopped was not the last event");
    return backend->destroy() && in_time;
  }
  void submit(size_t count) {
    for (size_t i = 0; i < count; ++i) waiting.push_back(next_id++);
    backend->revive_offers();
  }

  void registered(task::Registration value) override {
    note("registered");
    mailbox.post([this, value = std::move(value)] { registration = value; });
  }
  void ready() override {
    note("ready");
    mailbox.post([this] { is_ready = true; });
  }
  void pending(std::string, std::string, std::map<std::string, std::string>) override {}
  void executor_added(task::Executor value) override {
    note("executor_added");
    mailbox.post([this, value = std::move(value)] { added.push_back(value); });
  }
  void executor_decommissioning(std::string, int64_t, std::string) override {}
  void executor_loss_pending(std::string, std::string) override {}
  void executor_removed(std::string id, task::LossReason reason) override {
    note("executor_removed");
    mailbox.post([this, id, reason = std::move(reason)] { removed.emplace_back(id, reason); });
  }
  void worker_removed(std::string, std::string, std::string) override {}
  void resource_offers(uint64_t offer, task::OfferScope scope,
                       std::vector<task::WorkerOffer> rows) override {
    note("resource_offers");
    mailbox.post([this, offer, scope, rows = std::move(rows)] { on_offer(offer, scope, rows); });
  }
  void status_update(std::vector<task::StatusUpdate> updates) override {
    note("status_update");
    mailbox.post([this, updates = std::move(updates)] {
      for (const auto& update : updates) on_status(update);
    });
  }
  void acknowledged(uint64_t, bool, std::vector<std::string>) override {}
  void stopped() override {
    note("stopped");
    mailbox.post([this] { stopped_ = true; });
  }
  void failed(ErrorKind kind, std::string message) override {
    note("failed");
    mailbox.post([this, kind, message] { failure.emplace(kind, message); });
  }

  struct Held {
    uint32_t cores;
    bool queued;
  };

  Mailbox mailbox;
  std::unique_ptr<StandInExecutor> executor;
  std::unique_ptr<host::SchedulerBackend> backend;
  task::Registration registration;
  bool is_ready = false, stopped_ = false;
  std::vector<task::Executor> added;
  std::vector<std::pair<std::string, task::LossReason>> removed;
  std::optional<std::pair<ErrorKind, std::string>> failure;
  std::optional<int32_t> exit_code;  // that the executor was told to end with
  std::deque<uint64_t> waiting;
  std::map<uint64_t, Held> held;  // launched, no terminal status yet
  std::map<uint64_t, std::vector<task::TaskState>> ended;
  std::vector<std::string> data;
  std::vector<std::string> faults;  // what broke the contract
  std::vector<uint64_t> offers;
  bool use_slots = true;
  bool decline = false;
  uint64_t next_id = 1, launched = 0;
  [[nodiscard]] std::vector<std::string> event_names() {
    const std::lock_guard lock(names_mutex_);
    return names_;
  }

 private:
  void note(const char* name) {
    const std::lock_guard lock(names_mutex_);
    names_.emplace_back(name);
  }
  void on_offer(uint64_t offer, task::OfferScope scope,
                const std::vector<task::WorkerOffer>& rows) {
    if (scope != task::OfferScope::all_free || rows.size() != 1)
      faults.emplace_back("scope or rows");
    const task::WorkerOffer& row = rows.at(0);
    if (row.executor_id != "driver" || row.host != "localhost") faults.emplace_back("row");
    if (std::find(offers.begin(), offers.end(), offer) != offers.end())
      faults.emplace_back("offer twice");
    offers.push_back(offer);
    if (running_cores() + row.free_cores > registration.default_parallelism) {
      faults.push_back("over-committed: " + std::to_string(running_cores()) + " + " +
                       std::to_string(row.free_cores));
    }
    std::vector<task::Launch> tasks;
    uint32_t cores = row.free_cores, slots = use_slots ? row.queue_slots : 0;
    while (!decline && !waiting.empty() && cores + slots > 0) {
      const bool queued = cores == 0;
      --(queued ? slots : cores);
      const uint64_t id = waiting.front();
      waiting.pop_front();
      tasks.push_back({.task_id = id,
                       .executor_id = row.executor_id,
                       .name = "task",
                       .cores = 1,
                       .attempt = 0,
                       .queued = queued,
                       .resources = {},
                       .payload = "payload " + std::to_string(id)});
      held[id] = {1, queued};
      if (queued) queue_.push_back(id);
      ++launched;
    }
    backend->launch_tasks(offer, std::move(tasks));
  }
  void on_status(const task::StatusUpdate& update) {
    if (!task::is_terminal(update.state)) return;
    ended[update.task_id].push_back(update.state);
    if (held.erase(update.task_id) == 0)
      faults.push_back("status of " + std::to_string(update.task_id));
    if (const auto* reason = std::get_if<task::UnknownReason>(&update.reason)) {
      data.push_back(reason->detail);
    }
    // The oldest queued task takes the core.
    while (!queue_.empty()) {
      const auto at = held.find(queue_.front());
      if (at != held.end()) {
        if (running_cores() >= registration.default_parallelism) break;
        at->second.queued = false;
      }
      queue_.pop_front();
    }
  }
  [[nodiscard]] uint32_t running_cores() const {
    uint32_t cores = 0;
    for (const auto& [id, task] : held) cores += task.queued ? 0 : task.cores;
    return cores;
  }
  std::deque<uint64_t> queue_;
  std::mutex names_mutex_;  // guards names_
  std::vector<std::string> names_;
};

}  // namespace tenon::local::testing
