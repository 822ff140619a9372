#include <array>
#include <chrono>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "cpu_limit.hpp"
#include "local_backends.hpp"

namespace tenon::local {
namespace {

// Tasks that may wait in the executor, for each thread. The round trip of an offer through the loop
// takes as long as dozens of the shortest tasks, and a batch spreads its cost. Core fills the slots
// only while tasks are short.
constexpr uint32_t kSlotsPerThread = 512;
// A new batch goes when a quarter of the slots is free, so that three quarters are left to run
// meanwhile.
constexpr uint32_t kBatchPerThread = kSlotsPerThread / 4;

std::string application_id() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return "local-" +
         std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

}  // namespace

LocalScheduler::LocalScheduler(const tenon_args& arguments, plugin::Core mailbox)
    : SchedulerBackend(arguments, mailbox),
      url_(parse_local_url(*arguments.master, usable_cpus())),
      free_(url_.threads, url_.threads * kSlotsPerThread, url_.threads * kBatchPerThread) {}

void LocalScheduler::start() {
  const std::string id = application_id();
  auto registration = plugin::make<tenon_registration>();
  registration.app_id = plugin::str(id);
  registration.default_parallelism = url_.threads;
  registration.max_task_failures = url_.max_task_failures;
  core.registered(registration);

  auto executor = plugin::make<tenon_executor_args>();
  executor.executor_id = plugin::str(kExecutorId);
  executor.cores = url_.threads;
  executor.peer = this;
  host.start_in_process(executor, plugin::ExecutorTable<LocalExecutor>::api);
}

void LocalScheduler::stop(int32_t exit_code) {
  const std::lock_guard lock(executor_mutex_);
  if (stop_code_) return;
  stop_code_ = exit_code;
  if (executor_stopped_) return core.stopped();
  if (!executor_ || std::exchange(gone_, true)) return;
  end_offers();
  executor_->shutdown(exit_code, "driver stops");
}

void LocalScheduler::revive_offers() {
  plugin::FreeCores::Offer offer;
  {
    const std::lock_guard lock(mutex_);
    if (offering_) offer = free_.revive();
  }
  post(offer);
}

void LocalScheduler::launch_tasks(uint64_t number, plugin::Tasks tasks) {
  const std::lock_guard executor_lock(executor_mutex_);
  if (gone_) {
    if (tasks.empty()) return;
    throw plugin::Error(TENON_INVALID_STATE, "the executor has ended");
  }
  plugin::FreeCores::Offer next;
  {
    const std::lock_guard lock(mutex_);
    free_.answer(number, tasks);
    next = free_.offer_after_answer();
  }
  if (!tasks.empty()) executor_->launch_tasks(std::move(tasks));
  post(next);
}

void LocalScheduler::kill_task(uint64_t task, std::string_view /*executor_id*/, uint32_t flags,
                               std::string_view reason) {
  const std::lock_guard lock(executor_mutex_);
  if (executor_ && !gone_) executor_->kill_task(task, flags, reason);
}

void LocalScheduler::executor_ready(plugin::ExecutorCore executor) {
  const std::lock_guard executor_lock(executor_mutex_);
  executor_ = executor;
  if (stop_code_) {
    gone_ = true;
    return executor.shutdown(*stop_code_, "driver stops");
  }
  auto info = plugin::make<tenon_executor_info>();
  info.id = plugin::str(kExecutorId);
  info.host = plugin::str(kHost);
  info.cores = url_.threads;
  core.executor_added(info);
  core.ready();
  plugin::FreeCores::Offer offer;
  {
    const std::lock_guard lock(mutex_);
    offering_ = true;
    offer = free_.offer();
  }
  post(offer);
}

void LocalScheduler::status_update(plugin::Statuses statuses) {
  std::array<std::byte, 1024> stack;
  std::pmr::monotonic_buffer_resource pool(stack.data(), stack.size());
  std::pmr::vector<uint64_t> ended(&pool);
  for (size_t i = 0; i < statuses.size(); ++i) {
    const tenon_task_status status = statuses[i];
    if (plugin::is_terminal(status.state)) ended.push_back(status.id);
  }
  // The statuses go first, so that core hears of a task's end before it is offered its cores; and
  // without the lock, for core decodes results on this thread.
  core.status_update(std::move(statuses));
  if (ended.empty()) return;
  plugin::FreeCores::Offer offer;
  {
    const std::lock_guard lock(mutex_);
    free_.give_back(ended);
    if (offering_) offer = free_.offer();
  }
  post(offer);
}

void LocalScheduler::executor_exits(int32_t exit_code, bool tell, std::string_view reason) {
  std::vector<uint64_t> lost;
  {
    const std::lock_guard executor_lock(executor_mutex_);
    gone_ = true;
    const std::lock_guard lock(mutex_);
    offering_ = false;
    lost = free_.forget_all();
  }
  if (!tell) return;
  std::vector<tenon_task_status> statuses;
  for (const uint64_t id : lost) {
    statuses.push_back({id, plugin::str(kExecutorId), TENON_TASK_LOST, 0, {}});
  }
  if (!statuses.empty()) {
    core.status_update(plugin::Statuses(
        plugin::array<tenon_task_statuses>(std::span<tenon_task_status>(statuses))));
  }
  auto loss = plugin::make<tenon_loss>();
  loss.kind = TENON_LOSS_EXITED;
  loss.exit_code = exit_code;
  loss.app_caused = 1;
  loss.host = plugin::str(kHost);
  loss.message = plugin::str(reason);
  core.executor_removed(kExecutorId, loss);
  core.failed(TENON_EXHAUSTED, "the only executor ended with code " + std::to_string(exit_code) +
                                   ": " + std::string(reason));
}

void LocalScheduler::executor_stopped() {
  const std::lock_guard lock(executor_mutex_);
  gone_ = executor_stopped_ = true;
  end_offers();
  if (stop_code_) core.stopped();  // else it ended by itself, and stop() will be answered at once
}

void LocalScheduler::end_offers() {
  const std::lock_guard lock(mutex_);
  offering_ = false;
}

void LocalScheduler::post(plugin::FreeCores::Offer offer) const {
  if (!offer) return;
  const tenon_worker_offer row = plugin::worker_offer(kExecutorId, kHost, offer.cores, offer.slots);
  core.resource_offers(offer.number, TENON_OFFER_ALL_FREE, {&row, 1});
}

namespace {

constexpr tenon_str kSchemes[] = {TENON_STR("local")};
constexpr tenon_description kDescription = {
    sizeof(tenon_description),
    TENON_DEPLOY_CLIENT,
    TENON_IS_ONE_PROCESS,
    TENON_STR("runs the program on threads of its own process"),
    {kSchemes, 1, sizeof(tenon_str)},
    {nullptr, 0, sizeof(tenon_setting)},
    {nullptr, 0, sizeof(tenon_submit_option)}};

}  // namespace
}  // namespace tenon::local

TENON_PLUGIN("tenon-local", "0.1.0", tenon::local::LocalScheduler, tenon::local::LocalExecutor,
             tenon::local::kDescription)
