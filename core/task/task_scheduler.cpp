// Task sets: their coming and going, revival, what is kept.
#include "task/task_scheduler.hpp"

#include <algorithm>
#include <filesystem>

#include "tenon/error.hpp"

namespace tenon::task {
namespace {

// The pool file of the settings, or the first pools.toml of the folders; empty: none.
std::string pool_file(const Settings& settings) {
  if (settings.pool_file) return *settings.pool_file;
  for (const std::string& folder : settings.pool_folders) {
    const auto path = std::filesystem::path(folder) / "pools.toml";
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path.string();
  }
  return {};
}

PoolTree make_pools(const Settings& settings, const LogCallback& log) {
  const SchedulingMode mode = scheduler_mode(settings.mode);
  if (mode == SchedulingMode::fifo) return {mode, {}, mode, log};
  const std::string file = pool_file(settings);
  if (!file.empty()) return {mode, read_pool_file(file, log), SchedulingMode::fifo, log};
  log.info("No pool file (tenon.scheduler.allocation.file), created the pool 'default'");
  return {mode, {}, mode, log};
}

std::string decimal(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

uint64_t smaller_limit(uint64_t limit, uint64_t other) {
  return other == 0 ? limit : std::min(limit, other);
}

}  // namespace

TaskScheduler::TaskScheduler(loop::Loop& loop, Backend& backend, DagEvents& dag, Settings settings,
                             PayloadEncoder encode, LogCallback log)
    : loop_(loop),
      state_{.settings = std::move(settings),
             .backend = backend,
             .dag = dag,
             .clock = loop.clock(),
             .encode = std::move(encode),
             .log = std::move(log)},
      pools_(make_pools(state_.settings, state_.log)),
      watch_(
          loop, state_.settings, state_.log, [this] { return why_starved(); },
          [this] { starved(); }) {
  for (const ResourceNeed& need : state_.settings.task_resources) unseen_.insert(need.name);
  registered(Registration{});
}

TaskScheduler::~TaskScheduler() {
  stop_timers();
  *alive_ = false;
  for_each_set([this](TaskSetManager& set) { pools_.remove(set); });
}

void TaskScheduler::stop() {
  stopped_ = true;
  stop_timers();
  state_.now_ms = state_.clock.wall_ms();
  std::vector<int32_t> stages;
  for_each_set([&](TaskSetManager& set) {
    set.make_zombie();
    stages.push_back(set.stage_id());
    for (Attempt* attempt : set.attempts().snapshot()) {
      set.failed(*attempt, TaskKilled{"the context was shut down", {}}, TaskStatus::killed);
    }
  });
  for (const int32_t stage : stages) remove_done(stage);
}

void TaskScheduler::stop_timers() {
  watch_.stop();
  if (revive_timer_ != 0) loop_.cancel(std::exchange(revive_timer_, 0));
  for (const auto& [executor, timer] : loss_timers_) loop_.cancel(timer);
  loss_timers_.clear();
}

void TaskScheduler::registered(const Registration& registration) {
  backend_parallelism_ = registration.default_parallelism;
  state_.max_task_failures = registration.max_task_failures > 0
                                 ? static_cast<int32_t>(registration.max_task_failures)
                                 : state_.settings.max_task_failures;
  state_.max_payload_bytes = smaller_limit(
      smaller_limit(state_.settings.rpc_message_max_bytes, state_.backend.max_payload_bytes()),
      registration.max_payload_bytes);
  if (registration.reset) drop_all_executors();
}

void TaskScheduler::pending(std::string reason, std::string message,
                            std::map<std::string, std::string> numbers) {
  pending_reason_ = reason.empty() ? std::string() : reason + ": " + message;
  if (reason.empty()) return;
  for (const auto& [name, value] : numbers) pending_reason_.append(", " + name + "=" + value);
}

int32_t TaskScheduler::default_parallelism() const {
  if (state_.settings.default_parallelism > 0) return state_.settings.default_parallelism;
  if (backend_parallelism_ > 0) return static_cast<int32_t>(backend_parallelism_);
  return static_cast<int32_t>(std::max<uint32_t>(state_.cluster.total_cores(), 2));
}

void TaskScheduler::submit_tasks(TaskSetPtr set) {
  state_.log.info("Adding task set " + set->name() + " with " + std::to_string(set->tasks.size()) +
                  " tasks");
  if (!set->tasks.empty()) {
    for (const auto& older : sets_[set->stage_id]) {
      if (older->set().stage_attempt == set->stage_attempt) {
        throw Error(ErrorKind::internal, "more than one active taskSet for stage " +
                                             std::to_string(set->stage_id) + ": " + set->name());
      }
      older->make_zombie();
    }
    Managers& managers = sets_[set->stage_id];
    auto manager = std::make_unique<TaskSetManager>(set, state_);
    pools_.add(*manager, set->properties != nullptr ? *set->properties : Properties{});
    managers.push_back(std::move(manager));
    remove_done(set->stage_id);
    watch_.submitted();
    update_watch();
  }
  revive_soon();
}

void TaskScheduler::kill_attempts(int32_t stage_id, const std::string& reason) {
  const auto it = sets_.find(stage_id);
  if (it == sets_.end()) return;
  for (const auto& set : it->second) {
    for (const Attempt* attempt : set->attempts().snapshot()) {
      state_.backend.kill_task(attempt->info.id, attempt->info.executor_id,
                               set->interrupt_on_cancel(), /*if_queued=*/false,
                               "Stage cancelled: " + reason);
    }
  }
}

void TaskScheduler::cancel_tasks(int32_t stage_id, const std::string& reason) {
  state_.log.info("Cancelling stage " + std::to_string(stage_id) + ": " + reason);
  kill_attempts(stage_id, reason);
  const auto it = sets_.find(stage_id);
  if (it == sets_.end()) return;
  for (const auto& set : it->second) {
    set->abort("Stage " + std::to_string(stage_id) + " cancelled: " + reason, nullptr);
  }
  remove_done(stage_id);
}

void TaskScheduler::kill_all_task_attempts(int32_t stage_id, const std::string& reason) {
  state_.log.info("Killing all running tasks in stage " + std::to_string(stage_id) + ": " + reason);
  kill_attempts(stage_id, reason);
}

bool TaskScheduler::kill_task_attempt(uint64_t task_id, const std::string& reason) {
  const Attempt* attempt = state_.attempts.find(task_id);
  if (attempt == nullptr) {
    state_.log.warn("Cannot kill task " + std::to_string(task_id) +
                    " because no task with that id is running");
    return false;
  }
  state_.backend.kill_task(task_id, attempt->info.executor_id, /*interrupt=*/true,
                           /*if_queued=*/false, reason);
  return true;
}

void TaskScheduler::partition_completed(int32_t stage_id, int32_t partition) {
  const auto it = sets_.find(stage_id);
  if (it == sets_.end()) return;
  for (const auto& set : it->second) set->partition_completed(partition);
  remove_done(stage_id);
}

void TaskScheduler::remove_if_done(TaskSetManager& set) {
  if (set.done()) remove_done(set.stage_id());
}

void TaskScheduler::remove_done(int32_t stage_id) {
  const auto it = sets_.find(stage_id);
  if (it == sets_.end()) return;
  std::erase_if(it->second, [this](const std::unique_ptr<TaskSetManager>& set) {
    if (!set->done()) return false;
    state_.log.info("Removed " + set->name() + ", whose tasks have all completed");
    pools_.remove(*set);
    return true;
  });
  if (it->second.empty()) sets_.erase(it);
  update_watch();
}

bool TaskScheduler::has_pending() const {
  bool pending_sets = false;
  for_each_set([&](const TaskSetManager& set) { pending_sets |= set.schedulable(); });
  return pending_sets;
}

// ---- revival

void TaskScheduler::revive_soon() {
  if (std::exchange(revive_posted_, true)) return;
  loop_.post([this, alive = alive_] {
    if (!*alive) return;
    revive_posted_ = false;
    revive_now();
  });
}

void TaskScheduler::revive_now() {
  try {
    state_.backend.revive_offers();
  } catch (const std::exception& error) {
    state_.log.error(std::string("The backend cannot revive offers: ") + error.what());
  }
  if (revive_timer_ == 0 && has_pending()) revive_later();
}

void TaskScheduler::revive_later() {
  revive_timer_ = loop_.call_after(state_.settings.revive_interval, [this] {
    revive_timer_ = 0;
    if (has_pending()) revive_now();
  });
}

// ---- waiting for resources

void TaskScheduler::update_watch() {
  watch_.waiting(state_.attempts.size() == 0 && !sets_.empty() && has_pending());
}

std::string TaskScheduler::why_starved() const {
  const size_t executors = state_.cluster.alive_count();
  const std::string unfit = executors == 0 ? std::string() : why_unfit(executors);
  if (!pending_reason_.empty()) {
    return "the cluster manager says " + pending_reason_ + (unfit.empty() ? "" : "; ") + unfit;
  }
  if (executors == 0) return "no executor is registered";
  if (!unfit.empty()) return unfit;
  return std::to_string(executors) + " executors are registered and offer nothing";
}

// What a task needs and no executor has offered; empty: nothing.
std::string TaskScheduler::why_unfit(size_t executors) const {
  if (largest_offer_ < state_.settings.task_cpus) {
    return "a task needs " + std::to_string(state_.settings.task_cpus) +
           " cores (tenon.task.cpus) and the largest of " + std::to_string(executors) +
           " executors offered " + std::to_string(largest_offer_);
  }
  if (state_.settings.task_resources.empty()) return {};
  std::string text = "no executor offered what a task needs:";
  for (const ResourceNeed& need : state_.settings.task_resources) {
    text += " " + need.name + "=" + decimal(static_cast<double>(need.amount) / 1000) +
            " (tenon.task.resource." + need.name + ".amount";
    text += unseen_.contains(need.name) ? "; nobody has any)" : ")";
  }
  return text;
}

void TaskScheduler::starved() {
  const auto seconds = std::chrono::duration<double>(state_.settings.max_wait).count();
  fail_waiting("No resources within tenon.scheduler.maxWait (" + decimal(seconds) + " s)");
}

// The only executor of a backend of one process has offered all that there will ever be.
void TaskScheduler::fail_if_never() {
  if (!state_.settings.is_one_process || unseen_.empty() || !has_pending()) return;
  if (state_.cluster.alive_count() > 0) fail_waiting("No resources");
}

void TaskScheduler::fail_waiting(const std::string& what) {
  size_t tasks = 0;
  std::vector<int32_t> stages;
  for_each_set([&](const TaskSetManager& set) {
    tasks += set.pending();
    stages.push_back(set.stage_id());
  });
  const std::string text =
      what + ", " + std::to_string(tasks) + " tasks wait and none runs: " + why_starved();
  state_.log.error(text);
  const auto cause = std::make_shared<const Error>(ErrorKind::no_resources, text);
  for_each_set([&](TaskSetManager& set) {
    if (!set.zombie()) set.abort(text, cause);
  });
  for (const int32_t stage : stages) remove_done(stage);
}

// ---- what is kept

uint32_t TaskScheduler::max_concurrent_tasks() const {
  uint32_t tasks = 0;
  for (const NameId executor : state_.cluster.alive_executors()) {
    const ExecutorState& known = *state_.cluster.find(executor);
    if (known.usable()) tasks += known.cores / state_.settings.task_cpus;
  }
  return tasks;
}

bool TaskScheduler::is_executor_alive(const std::string& executor_id) const {
  return state_.cluster.usable(state_.cluster.find_executor(executor_id));
}

size_t TaskScheduler::running_on(const std::string& executor_id) const {
  const ExecutorState* known = state_.cluster.find(state_.cluster.find_executor(executor_id));
  return known == nullptr ? 0 : known->attempts.size() - known->waiting;
}

TaskSetManager* TaskScheduler::find_set(int32_t stage_id, int32_t stage_attempt) const {
  const auto it = sets_.find(stage_id);
  if (it == sets_.end()) return nullptr;
  for (const auto& set : it->second) {
    if (set->set().stage_attempt == stage_attempt) return set.get();
  }
  return nullptr;
}

Sizes TaskScheduler::sizes() const {
  Sizes sizes;
  sizes.stages = sets_.size();
  for_each_set([&](const TaskSetManager&) { ++sizes.task_sets; });
  sizes.attempts = state_.attempts.size();
  sizes.queued = state_.queued.size();
  const auto count = [](const auto& self, const Pool& pool) -> size_t {
    size_t sets = 0;
    for (const Schedulable* child : pool.children()) {
      const auto* inner = dynamic_cast<const Pool*>(child);
      sets += inner != nullptr ? self(self, *inner) : 1;
    }
    return sets;
  };
  sizes.pooled = count(count, pools_.root());
  sizes.running = static_cast<size_t>(pools_.root().running());
  sizes.executors = state_.cluster.alive_count();
  return sizes;
}

std::vector<std::string> TaskScheduler::check_invariants() const {
  std::vector<std::string> violations;
  for (const auto& [stage, managers] : sets_) {
    const auto live =
        std::ranges::count_if(managers, [](const auto& set) { return !set->zombie(); });
    if (live > 1) violations.push_back("stage " + std::to_string(stage) + " has two live sets");
    if (managers.empty()) violations.push_back("stage " + std::to_string(stage) + " has no set");
  }
  for_each_set([&](const TaskSetManager& set) {
    set.check(violations);
    if (set.done()) violations.push_back(set.name() + " is done and still there");
    if (set.parent() == nullptr) violations.push_back(set.name() + " is in no pool");
  });
  check_attempts(violations);
  return violations;
}

void TaskScheduler::check_attempts(std::vector<std::string>& violations) const {
  size_t queued = 0;
  state_.attempts.for_each([&](const Attempt& attempt) {
    if (!state_.cluster.alive(attempt.executor)) {
      violations.push_back("task " + std::to_string(attempt.info.id) +
                           " runs on an executor that is not alive: " + attempt.info.executor_id);
    }
    queued += attempt.waits_in_queue && !attempt.asked_back ? 1 : 0;
  });
  if (queued != state_.queued.size()) violations.emplace_back("wrong list of queued attempts");
  size_t on_executors = 0;
  for (const NameId executor : state_.cluster.alive_executors()) {
    const ExecutorState& known = *state_.cluster.find(executor);
    on_executors += known.attempts.size();
    size_t without_cores = known.waiting;
    for (const Attempt* at = known.attempts.first(); at != nullptr; at = at->on_executor.next) {
      without_cores += at->info.status == TaskStatus::getting_result ? 1 : 0;
    }
    const uint64_t taken = (known.attempts.size() - without_cores) * state_.settings.task_cpus;
    if (known.cores > 0 && taken > known.cores) {
      violations.push_back("executor " + state_.cluster.executor_name(executor) +
                           " runs tasks on " + std::to_string(taken) + " of its " +
                           std::to_string(known.cores) + " cores");
    }
  }
  if (on_executors != state_.attempts.size()) {
    violations.emplace_back("the executors' lists and the table of attempts differ");
  }
  if (static_cast<size_t>(pools_.root().running()) != state_.attempts.size()) {
    violations.emplace_back("the root pool's running count is wrong");
  }
}

}  // namespace tenon::task
