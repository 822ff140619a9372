// A cluster within the driver's process, for tests: "several[3]" is three executors, executor-0 to
// executor-2, of one core each, offered together. Its manager counts attempts of the application:
// this is attempt 7. "several[cannot start]" throws in start(), "several[refuses]" refuses the
// application.
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/plugin/plugin.hpp"

namespace {

using namespace tenon::plugin;

struct Worker {
  std::string id;
  std::optional<ExecutorCore> executor;  // once it is ready
  uint32_t free = 1;
};

class Scheduler final : public SchedulerBackend {
 public:
  Scheduler(const tenon_args& arguments, Core mailbox)
      : SchedulerBackend(arguments, mailbox), what_(view(args.master->args)) {
    const bool number = what_.size() == 1 && what_[0] >= '1' && what_[0] <= '9';
    for (int i = 0; i < (number ? what_[0] - '0' : 1); ++i) {
      workers_.push_back({"executor-" + std::to_string(i), {}});
    }
    left_ = workers_.size();
  }

  void start() override {
    if (what_ == "cannot start") throw Error(TENON_UNAVAILABLE, "nobody listens");
    if (what_ == "refuses") return core.failed(TENON_PERMISSION, "the manager refuses");
    auto registration = make<tenon_registration>();
    registration.app_id = str("several-1");
    registration.attempt_id = str("7");
    registration.max_task_failures = 4;
    core.registered(registration);
    for (const Worker& worker : workers_) {
      auto executor = make<tenon_executor_args>();
      executor.executor_id = str(worker.id);
      executor.cores = 1;
      executor.peer = this;
      host.start_in_process(executor, executor_api());
    }
  }

  void stop(int32_t exit_code) override {
    const std::lock_guard lock(mutex_);
    if (stop_code_) return;
    stop_code_ = exit_code;
    for (const Worker& worker : workers_) {
      if (worker.executor) worker.executor->shutdown(exit_code, "driver stops");
    }
  }

  void revive_offers() override {
    const std::lock_guard lock(mutex_);
    offer();
  }

  // Each task goes to the executor that it names.
  void launch_tasks(uint64_t number, Tasks tasks) override {
    std::map<std::string, std::vector<tenon_task>> by_executor;
    {
      const std::lock_guard lock(mutex_);
      auto offered = std::move(offers_.extract(number).mapped());
      for (size_t i = 0; i < tasks.size(); ++i) {
        tenon_task task = tasks[i];
        const std::string id(view(task.executor_id));
        if (offered[id] < task.cores) throw Error(TENON_INVALID_ARGUMENT, id + " was not offered");
        offered[id] -= task.cores;
        running_[task.id] = {id, task.cores};
        task.payload = tasks.take(i).release();
        by_executor[id].push_back(task);
      }
      for (const auto& [id, cores] : offered) of(id).free += cores;
    }
    for (auto& [id, some] : by_executor) {
      of(id).executor->launch_tasks(Tasks(array<tenon_tasks>(std::span<tenon_task>(some))));
    }
  }

  void kill_task(uint64_t task, std::string_view executor_id, uint32_t flags,
                 std::string_view reason) override {
    of(executor_id).executor->kill_task(task, flags, reason);
  }

  // ---- called by the executors' backends. [any-thread]

  void executor_ready(std::string_view id, ExecutorCore executor) {
    const std::lock_guard lock(mutex_);
    of(id).executor = executor;
    if (stop_code_) return executor.shutdown(*stop_code_, "driver stops");
    auto info = make<tenon_executor_info>();
    info.id = str(id);
    info.host = str("localhost");
    info.cores = 1;
    core.executor_added(info);
    for (const Worker& worker : workers_) {
      if (!worker.executor) return;
    }
    core.ready();
    offer();
  }

  void status_update(Statuses statuses) {
    std::vector<uint64_t> ended;
    for (size_t i = 0; i < statuses.size(); ++i) {
      if (is_terminal(statuses[i].state)) ended.push_back(statuses[i].id);
    }
    core.status_update(std::move(statuses));
    const std::lock_guard lock(mutex_);
    for (const uint64_t id : ended) {
      const auto [executor, cores] = running_.extract(id).mapped();
      of(executor).free += cores;
    }
    if (!ended.empty()) offer();
  }

  void executor_stopped() {
    const std::lock_guard lock(mutex_);
    if (--left_ != 0 || !stop_code_) return;
    host.log(TENON_LOG_INFO, "several",
             "all executors are gone, unregistered with code " + std::to_string(*stop_code_));
    core.stopped();
  }

 private:
  static const tenon_executor_backend_api& executor_api();

  Worker& of(std::string_view id) {
    for (Worker& worker : workers_) {
      if (worker.id == id) return worker;
    }
    throw Error(TENON_NOT_FOUND, "no executor " + std::string(id));
  }

  // All that is free, under the mutex.
  void offer() {
    std::vector<tenon_worker_offer> rows;
    std::map<std::string, uint32_t> offered;
    for (Worker& worker : workers_) {
      if (stop_code_ || !worker.executor || worker.free == 0) continue;
      rows.push_back(worker_offer(worker.id, "localhost", worker.free, 0));
      offered[worker.id] = std::exchange(worker.free, 0);
    }
    if (rows.empty()) return;
    offers_[++last_offer_] = std::move(offered);
    core.resource_offers(last_offer_, 0, std::span<const tenon_worker_offer>(rows));
  }

  const std::string what_;
  std::mutex mutex_;  // guards all below; the ids of workers_ never change
  std::vector<Worker> workers_;
  std::map<uint64_t, std::map<std::string, uint32_t>> offers_;
  std::map<uint64_t, std::pair<std::string, uint32_t>> running_;
  std::optional<int32_t> stop_code_;
  uint64_t last_offer_ = 0;
  size_t left_ = 0;
};

class Executor final : public ExecutorBackend {
 public:
  using ExecutorBackend::ExecutorBackend;
  void start() override { core.registered(); }
  void executor_ready() override { driver().executor_ready(view(args.executor_id), core); }
  void status_update(Statuses statuses) override { driver().status_update(std::move(statuses)); }
  void stop() override {
    core.stopped();
    driver().executor_stopped();
  }

 private:
  [[nodiscard]] Scheduler& driver() const { return *static_cast<Scheduler*>(args.peer); }
};

const tenon_executor_backend_api& Scheduler::executor_api() { return ExecutorTable<Executor>::api; }

constexpr tenon_str kSchemes[] = {TENON_STR("several")};
constexpr tenon_description kDescription = {sizeof(tenon_description),
                                            TENON_DEPLOY_CLIENT,
                                            TENON_IS_ONE_PROCESS,
                                            TENON_STR("executors within the driver's process"),
                                            {kSchemes, 1, sizeof(tenon_str)},
                                            {nullptr, 0, sizeof(tenon_setting)},
                                            {nullptr, 0, sizeof(tenon_submit_option)}};

}  // namespace

TENON_PLUGIN("several", "0.1.0", Scheduler, Executor, kDescription)
