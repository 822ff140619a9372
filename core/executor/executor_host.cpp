#include "executor/executor_host.hpp"

#include <exception>
#include <utility>

#include "common/exit_codes.hpp"
#include "tenon/error.hpp"

namespace tenon::executor {

namespace {

// Set while an order of the backend is on this thread's stack. What answers it must not go back on
// that stack: the plugin may hold its own lock (rule 4 of the ABI).
thread_local bool inside_order = false;

class OrderScope {
 public:
  OrderScope() { inside_order = true; }
  ~OrderScope() { inside_order = false; }
  OrderScope(const OrderScope&) = delete;
  OrderScope& operator=(const OrderScope&) = delete;
};

}  // namespace

ExecutorHost::ExecutorHost(Setup setup) : setup_(std::move(setup)), loop_(clock_, 0) {}

ExecutorHost::~ExecutorHost() { end(); }

void ExecutorHost::start() {
  loop_.start();
  loop_.post([this] { create(); });
}

void ExecutorHost::create() {
  try {
    parts_ = setup_.parts();
    setup_.options.location = parts_.location;
    backend_ = std::make_unique<host::ExecutorBackend>(setup_.backend, *this);
    backend_->start();
  } catch (const std::exception& error) {
    setup_.log("executor " + setup_.backend.executor.executor_id +
               " cannot start: " + error.what());
    finish();
  }
}

void ExecutorHost::registered() {
  loop_.post([this] { make_executor(); });
}

void ExecutorHost::make_executor() {
  if (running_ || shutting_down_) return;
  try {
    auto running = std::make_shared<Running>();
    running->parts = parts_;
    running->executor =
        std::make_unique<Executor>(setup_.options, *running->parts.services, *this, [this] {
          loop_.post([this] {
            exit(exit_codes::kExecutorHeartbeat, false, "the driver answers no heartbeat");
          });
        });
    running_ = std::move(running);
  } catch (const std::exception& error) {
    exit(1, true, std::string("Unable to create executor due to ") + error.what());
    return;
  }
  executor_ = running_->executor.get();
  backend_->executor_ready();
}

void ExecutorHost::launch_tasks(std::vector<host::LaunchedTask> tasks) {
  Executor* executor = executor_;
  if (executor == nullptr) {
    loop_.post([this] { exit(1, true, "Received LaunchTask command but executor was null"); });
    return;
  }
  std::vector<LaunchedTask> launched;
  launched.reserve(tasks.size());
  for (host::LaunchedTask& task : tasks) {
    launched.push_back({task.id, task.cores, std::move(task.payload)});
  }
  const OrderScope order;
  executor->launch_tasks(std::move(launched));
}

void ExecutorHost::kill_task(uint64_t task_id, bool interrupt, bool if_queued, std::string reason) {
  Executor* executor = executor_;
  if (executor == nullptr) {
    loop_.post([this] { exit(1, true, "Received KillTask command but executor was null"); });
    return;
  }
  const OrderScope order;
  executor->kill_task(task_id, interrupt, if_queued, reason);
}

void ExecutorHost::shutdown(int32_t, std::string reason) {
  loop_.post([this, reason = std::move(reason)] { begin_shutdown(reason); });
}

void ExecutorHost::begin_shutdown(const std::string& reason) {
  if (std::exchange(shutting_down_, true)) return;
  if (!running_) {
    if (backend_ == nullptr || !backend_->stop()) finish();
    return;
  }
  running_->executor->shutdown(reason);
  joiner_ = std::thread([this, running = running_] {
    running->executor->join();
    loop_.post([this] {
      if (!backend_->stop()) finish();
    });
  });
}

void ExecutorHost::failed(ErrorKind, std::string message) {
  loop_.post([this, message = std::move(message)] { exit(1, false, message); });
}

void ExecutorHost::stopped() {
  loop_.post([this] { finish(); });
}

// The process of an executor of its own ends in its main(), which waits for end().
void ExecutorHost::exit(int exit_code, bool tell_driver, const std::string& reason) {
  setup_.log("executor " + setup_.backend.executor.executor_id + " ends with code " +
             std::to_string(exit_code) + ": " + reason);
  if (backend_ != nullptr) {
    static_cast<void>(backend_->exit_executor(exit_code, tell_driver, reason, setup_.in_process));
  }
  begin_shutdown(reason);
}

void ExecutorHost::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

void ExecutorHost::status_update(std::vector<Status> statuses) {
  const host::Gate::Pass pass(sink_);
  if (!pass) return;
  if (inside_order) {
    auto later = std::make_shared<std::vector<Status>>(std::move(statuses));
    loop_.post([this, later] { status_update(std::move(*later)); });
    return;
  }
  std::vector<host::ExecutorStatus> out;
  out.reserve(statuses.size());
  for (Status& status : statuses) {
    out.push_back({status.task_id, status.state, std::move(status.data)});
  }
  backend_->status_update(std::move(out));
}

bool ExecutorHost::end(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  if (std::exchange(ended_, true)) return finished_;
  lock.unlock();
  shutdown(0, "driver stops");
  lock.lock();
  const bool well = changed_.wait_until(lock, deadline, [&] { return finished_; });
  lock.unlock();
  executor_ = nullptr;
  if (well && joiner_.joinable()) joiner_.join();
  // The backend goes when nobody can be calling it any more.
  sink_.close();
  loop_.stop();
  if (backend_ != nullptr) backend_->destroy();
  if (!well && joiner_.joinable()) joiner_.detach();
  if (well) {
    running_.reset();
    parts_ = {};
  }
  return well;
}

}  // namespace tenon::executor
