#include "context/scheduling.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <future>
#include <random>
#include <utility>

#include "common/log.hpp"
#include "conf/conf_dir.hpp"
#include "executor/task_description.hpp"
#include "rdd/operator_registry.hpp"
#include "task/end_reason_codec.hpp"
#include "tenon/error.hpp"

namespace tenon::context {
namespace {

constexpr std::chrono::milliseconds kLeastTimeToDestroy{250};

const log::Logger kLog = log::logger("scheduler");
const log::Logger kExecutorLog = log::logger("executor");
const log::Logger kPluginLog = log::logger("plugin");

log::Level level_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return log::Level::debug;
    case LogLevel::info:
      return log::Level::info;
    case LogLevel::warn:
      return log::Level::warn;
    case LogLevel::error:
      return log::Level::error;
  }
  return log::Level::error;
}

uint64_t seed_of(const conf::Settings& settings) {
  if (settings.has("tenon.scheduler.seed")) {
    return static_cast<uint64_t>(settings.get_int("tenon.scheduler.seed"));
  }
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

std::string encode_payload(const task::TaskSet& set, const task::TaskSpec& task, uint64_t task_id,
                           int32_t attempt, bool with_binary) {
  executor::TaskDescription description;
  description.task_id = task_id;
  description.epoch = set.epoch;
  description.stage_id = set.stage_id;
  description.stage_attempt = set.stage_attempt;
  description.partition = task.partition;
  description.output = task.output;
  description.attempt = attempt;
  description.binary_id = set.binary->id;
  if (with_binary) description.binary = set.binary->bytes;
  if (task.data) description.data = *task.data;
  return executor::encode(description);
}

std::string program_path() {
  char path[4096];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : std::string();
}

// tenon.task.resource.<name>.amount, checked; amounts in thousandths.
std::vector<task::ResourceNeed> task_resources(const conf::Settings& settings) {
  constexpr std::string_view kBefore = "tenon.task.resource.", kAfter = ".amount";
  std::vector<task::ResourceNeed> needs;
  for (const auto& [key, value] : settings.values()) {
    if (!key.starts_with(kBefore) || !key.ends_with(kAfter) || value.text.empty()) continue;
    const double thousandths = std::floor(settings.get_double(key) * 1000 + 1e-6);
    if (thousandths == 0) continue;
    const size_t length = key.size() - kBefore.size() - kAfter.size();
    needs.push_back({key.substr(kBefore.size(), length), static_cast<uint64_t>(thousandths)});
  }
  return needs;
}

}  // namespace

Scheduling::Scheduling(const Startup& startup, events::ListenerBus& bus)
    : startup_(startup),
      stop_timeout_(startup.settings.get_duration("tenon.plugin.stopTimeout")),
      loop_(clock_, seed_of(startup.settings)),
      sink_(loop_, bus),
      relay_(loop_, *this),
      invariants_([](std::string_view name, const std::string& violation) {
        kLog.error("invariant broken, check=" + std::string(name) + ": " + violation);
      }) {
  loop_.set_error_handler([](std::exception_ptr error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      kLog.error(std::string("unexpected error in the scheduler loop: ") + e.what());
    } catch (...) {
      kLog.error("unexpected error in the scheduler loop");
    }
  });
  loop_.at_turn_end([this] { result_turn_.end(); });
  make_schedulers();
  make_backend();
  add_checks();
}

Scheduling::~Scheduling() {
  stop(0);
  if (stopper_.joinable()) stopper_.join();
}

// The DagScheduler first: tasks_ and the backend refer to it.
void Scheduling::make_schedulers() {
  dag::Hooks hooks;
  hooks.log = [](dag::LogLevel level, const std::string& text) {
    kLog.log(level_of(static_cast<LogLevel>(level)), text);
  };
  hooks.on_fatal = [this](const std::string& reason) { on_fatal(reason); };
  hooks.operator_known = [](uint64_t id) { return rdd::find_operator(id) != nullptr; };
  dag_ = std::make_unique<dag::DagScheduler>(loop_, submitter_, tracker_, blocks_, sink_,
                                             dag_settings(), std::move(hooks));

  make_services();
}

void Scheduling::make_services() {
  service::DriverSources sources;
  sources.map_outputs = [this](int32_t shuffle, uint64_t, auto answer) {
    loop_.post([this, shuffle, answer = std::move(answer)] {
      if (!tracker_.contains(shuffle)) return answer(std::nullopt);
      auto outputs = tracker_.outputs(shuffle);
      answer(shuffle::MapOutputs{outputs.epoch, std::move(outputs.statuses)});
    });
  };
  sources.block_update = [this](std::string executor_id, storage::BlockUpdate update) {
    loop_.post([this, executor_id = std::move(executor_id), update] {
      blocks_.update(executor_id, update);
    });
  };
  sources.heartbeat = [this](service::Heartbeat heartbeat, auto answer) {
    loop_.post([this, heartbeat = std::move(heartbeat), answer = std::move(answer)] {
      answer(take_heartbeat(heartbeat.executor_id));
    });
  };
  services_ = std::make_unique<Services>(
      startup_.settings, startup_.plugin.can(TENON_IS_ONE_PROCESS), std::move(sources));
}

void Scheduling::make_backend() {
  executors_ = std::make_unique<InProcessExecutors>(
      [this](host::InProcessRequest request) { return executor_setup(std::move(request)); });
  host::TextPairs conf;
  for (const auto& [key, value] : startup_.settings.values()) conf.emplace_back(key, value.text);
  host_ = host::HostServices::make(conf, host_callbacks());

  const auto decode_end = [](task::TaskState state, std::span<const std::byte> data) {
    return task::decode_end(state, {reinterpret_cast<const char*>(data.data()), data.size()});
  };
  host::SchedulerBackendSetup setup{
      startup_.plugin, host_, startup_.master, app_description(), {}, decode_end, stop_timeout_};
  backend_ = std::make_unique<host::SchedulerBackend>(std::move(setup), relay_);
  tasks_ = std::make_unique<task::TaskScheduler>(
      loop_, *backend_, *dag_, task_settings(), encode_payload,
      LogCallback([](LogLevel level, const std::string& text) { kLog.log(level_of(level), text); },
                  kLog.enabled(log::Level::debug) ? LogLevel::debug : LogLevel::info));
  submitter_.set(*tasks_, [this](const task::TaskSetPtr& set) {
    if (set->binary) services_->add_binary(set->binary);
  });
  make_heartbeats();
}

void Scheduling::make_heartbeats() {
  task::HeartbeatReceiver::Settings settings;
  settings.timeout = startup_.settings.get_duration("tenon.network.timeout");
  settings.check_interval = startup_.settings.get_duration("tenon.network.timeoutInterval");
  settings.executor_interval = startup_.settings.get_duration("tenon.executor.heartbeatInterval");
  heartbeats_ = std::make_unique<task::HeartbeatReceiver>(
      loop_, *backend_, settings,
      [this](const std::string& executor_id, const task::LossReason& reason) {
        executor_removed(executor_id, reason);
      },
      [this](const std::string& executor_id) { return blocks_.knows(executor_id); });
}

// True: the executor reports its blocks anew, which count from now on unless it has gone for good
// (C18.11, C18.12).
bool Scheduling::take_heartbeat(const std::string& executor_id) {
  const bool reregister = heartbeats_->heartbeat(executor_id);
  const auto host = hosts_.find(executor_id);
  if (reregister && host != hosts_.end()) blocks_.add_executor(executor_id, host->second);
  return reregister;
}

// A result that was too large for its status stays with its executor until it is fetched; the
// status waits for it (C11.3).
bool Scheduling::fetch_large_value(task::StatusUpdate& status) {
  const auto* success = std::get_if<task::Success>(&status.reason);
  if (success == nullptr || !success->result || !success->result->stored_at) return false;
  const task::BlockManagerId from = *success->result->stored_at;
  const uint64_t task_id = status.task_id;
  // Of a late or repeated status the block is taken all the same, lest it stay for ever.
  const bool wanted = tasks_->getting_result(task_id, status.executor_id);
  services_->take_result(
      from, task_id, [this, wanted, status = std::move(status)](auto value) mutable {
        if (!wanted) return;
        loop_.post([this, status = std::move(status), value = std::move(value)]() mutable {
          task::TaskResult& result = *std::get<task::Success>(status.reason).result;
          if (value) {
            result.value = std::move(*value);
            result.stored_at.reset();
            result.missing_value_bytes = 0;
          } else {
            status.state = task::TaskState::failed;
            status.reason = task::TaskResultLost{};
          }
          std::vector<task::StatusUpdate> one;
          one.push_back(std::move(status));
          tasks_->status_update(std::move(one));
        });
      });
  return true;
}

void Scheduling::add_checks() {
  invariants_.add("task scheduler", [this] {
    std::string all;
    for (const std::string& violation : tasks_->check_invariants()) {
      all += (all.empty() ? "" : "; ") + violation;
    }
    return all;
  });
  invariants_.attach(loop_, 256);
}

host::HostCallbacks Scheduling::host_callbacks() {
  host::HostCallbacks callbacks;
  callbacks.log = [](int32_t level, std::string_view logger, std::string_view message) {
    static constexpr log::Level kLevels[] = {log::Level::trace, log::Level::debug,
                                             log::Level::info,  log::Level::warn,
                                             log::Level::error, log::Level::error};
    const auto at = static_cast<size_t>(std::clamp(level, 0, 5));
    kPluginLog.log(kLevels[at], std::string(logger) + ": " + std::string(message));
  };
  callbacks.now_ns = [this] { return clock_.now().count(); };
  callbacks.call_after = [this](int64_t delay_ns, std::function<void()> work) {
    loop_.post([this, delay_ns, work = std::move(work)]() mutable {
      loop_.call_after(std::chrono::nanoseconds(delay_ns), std::move(work));
    });
  };
  callbacks.start_in_process = [this](host::InProcessRequest request) {
    executors_->start(std::move(request));
  };
  return callbacks;
}

executor::ExecutorHost::Setup Scheduling::executor_setup(host::InProcessRequest request) {
  const conf::Settings& settings = startup_.settings;
  executor::ExecutorHost::Setup setup;
  const std::string id = request.executor.executor_id;
  setup.options.cores = request.executor.cores;
  setup.options.max_result_bytes = settings.get_size("tenon.driver.maxResultSize");
  setup.options.max_direct_result_bytes = settings.get_size("tenon.task.maxDirectResultSize");
  setup.options.heartbeat_interval = std::chrono::duration_cast<std::chrono::milliseconds>(
      settings.get_duration("tenon.executor.heartbeatInterval"));
  setup.options.heartbeat_max_failures =
      static_cast<uint32_t>(settings.get_int("tenon.executor.heartbeat.maxFailures"));
  setup.options.random_seed = seed_of(settings);
  setup.backend.api = request.backend;
  host::TextPairs conf;
  for (const auto& [key, value] : settings.values()) conf.emplace_back(key, value.text);
  setup.backend.host = host::HostServices::make(std::move(conf), host_callbacks());
  setup.backend.master = startup_.master;
  setup.backend.executor = std::move(request.executor);
  setup.backend.stop_timeout = stop_timeout_;
  setup.parts = [this, id] { return services_->make_parts(id); };
  setup.log = [](const std::string& text) { kExecutorLog.warn(text); };
  setup.stop_timeout = stop_timeout_;
  return setup;
}

task::Settings Scheduling::task_settings() const {
  const conf::Settings& from = startup_.settings;
  task::Settings to;
  to.task_cpus = static_cast<uint32_t>(from.get_int("tenon.task.cpus"));
  to.task_resources = task_resources(from);
  to.max_task_failures = static_cast<int32_t>(from.get_int("tenon.task.maxFailures"));
  to.mode = from.get_string("tenon.scheduler.mode");
  if (from.has("tenon.scheduler.allocation.file")) {
    to.pool_file = from.get_string("tenon.scheduler.allocation.file");
  }
  to.pool_folders = conf::conf_dirs(conf::process_environment);
  to.starvation_timeout = from.get_duration("tenon.starvation.timeout");
  to.revive_interval = from.get_duration("tenon.scheduler.revive.interval");
  to.max_wait = from.get_duration("tenon.scheduler.maxWait");
  to.launch_ahead_max_task_time = from.get_duration("tenon.scheduler.launchAhead.maxTaskTime");
  to.rpc_message_max_bytes = from.get_size("tenon.rpc.message.maxSize");
  if (from.has("tenon.default.parallelism")) {
    to.default_parallelism = static_cast<int32_t>(from.get_int("tenon.default.parallelism"));
  }
  to.is_one_process = startup_.plugin.can(TENON_IS_ONE_PROCESS);
  return to;
}

dag::Settings Scheduling::dag_settings() const {
  const conf::Settings& from = startup_.settings;
  dag::Settings to;
  to.max_consecutive_stage_attempts =
      static_cast<int32_t>(from.get_int("tenon.stage.maxConsecutiveAttempts"));
  if (from.has("tenon.stage.maxAttempts")) {
    to.max_stage_attempts = static_cast<int32_t>(from.get_int("tenon.stage.maxAttempts"));
  }
  to.unregister_output_on_host = from.get_bool("tenon.files.fetchFailure.unRegisterOutputOnHost");
  to.reduce_locality = from.get_bool("tenon.shuffle.reduceLocality.enabled");
  return to;
}

host::AppDescription Scheduling::app_description() const {
  const conf::Settings& settings = startup_.settings;
  host::AppDescription app;
  app.name = settings.get_string("tenon.app.name");
  if (const char* user = std::getenv("USER")) app.user = user;
  app.program = program_path();
  app.argv = {app.program};
  for (const auto& module : rdd::registered_modules()) {
    app.modules.emplace_back(module.path, module.build_id);
  }
  app.executor.task_cpus = static_cast<uint32_t>(settings.get_int("tenon.task.cpus"));
  for (task::ResourceNeed& need : task_resources(settings)) {
    app.executor.task_resources.push_back({std::move(need.name), "", need.amount});
  }
  if (settings.has("tenon.executor.cores")) {
    app.executor.cores = static_cast<uint32_t>(settings.get_int("tenon.executor.cores"));
  }
  if (settings.has("tenon.executor.memory")) {
    app.executor.memory_bytes = settings.get_size("tenon.executor.memory");
  }
  if (settings.has("tenon.executor.instances")) {
    app.instances = static_cast<uint32_t>(settings.get_int("tenon.executor.instances"));
  }
  return app;
}

void Scheduling::start() {
  loop_.start();
  loop_started_ = true;
  loop_.post([this] {
    try {
      backend_->start();
    } catch (const Error& error) {
      failed(error.kind(), error.message());
    }
  });
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return registration_ || failure_; });
    if (failure_) throw Error(*failure_);
  }
  check_task_fits();
}

// A backend of one process has all its cores from the beginning (UR-12).
void Scheduling::check_task_fits() {
  const conf::Settings& settings = startup_.settings;
  const int64_t cpus = settings.get_int("tenon.task.cpus");
  if (cpus == 1 || !startup_.plugin.can(TENON_IS_ONE_PROCESS)) return;
  wait_until_ready();
  const std::lock_guard lock(mutex_);
  if (failure_) throw Error(*failure_);
  if (!ready_ || cpus <= int64_t{total_cores_}) return;
  const conf::Value& value = *settings.find("tenon.task.cpus");
  const std::string where =
      value.where.empty() ? std::string(conf::to_string(value.source)) : value.where;
  throw Error(ErrorKind::usage,
              "tenon.task.cpus=" + value.text + " (" + where + ") is more than the " +
                  std::to_string(total_cores_) + " cores of tenon.master=" +
                  settings.get_string("tenon.master") + ": no executor could run a task");
}

void Scheduling::wait_until_ready() {
  const conf::Settings& settings = startup_.settings;
  if (settings.get_double("tenon.scheduler.minRegisteredResourcesRatio") <= 0 &&
      !startup_.plugin.can(TENON_IS_ONE_PROCESS)) {
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock,
                    settings.get_duration("tenon.scheduler.maxRegisteredResourcesWaitingTime"),
                    [&] { return ready_ || failure_ || backend_stopped_; });
}

task::Registration Scheduling::registration() const {
  const std::lock_guard lock(mutex_);
  return registration_.value_or(task::Registration{});
}

int32_t Scheduling::default_parallelism() const {
  if (startup_.settings.has("tenon.default.parallelism")) {
    return static_cast<int32_t>(startup_.settings.get_int("tenon.default.parallelism"));
  }
  const std::lock_guard lock(mutex_);
  if (registration_ && registration_->default_parallelism != 0) {
    return static_cast<int32_t>(registration_->default_parallelism);
  }
  return static_cast<int32_t>(std::max<uint32_t>(total_cores_, 2));
}

bool Scheduling::kill_task_attempt(uint64_t task_id, const std::string& reason) {
  return tasks_->kill_task_attempt(task_id, reason);
}

void Scheduling::remove_shuffle(int32_t shuffle_id) {
  tracker_.unregister_shuffle(shuffle_id);
  services_->remove_shuffle(shuffle_id);
}

void Scheduling::remove_rdd(int32_t rdd_id) {
  blocks_.remove_rdd(rdd_id);
  sink_.post(event::UnpersistRdd{rdd_id});
}

void Scheduling::on_fatal(const std::string& reason) {
  kLog.error("the scheduler failed and stops the context: " + reason);
  if (!stopper_.joinable()) stopper_ = std::thread([this] { stop(1); });
}

void Scheduling::stop(int exit_code) {
  const std::lock_guard stopping(stop_mutex_);
  if (std::exchange(stop_done_, true)) return;
  bool started = false;
  {
    const std::lock_guard lock(mutex_);
    started = registration_.has_value();
  }
  services_->begin_stop();
  const auto deadline = std::chrono::steady_clock::now() + stop_timeout_;
  const auto told = std::make_shared<std::promise<void>>();
  loop_.post([this, exit_code, told] {
    if (tasks_) tasks_->stop();  // first: ends of attempts come before those of stages and jobs
    dag_->stop();
    if (heartbeats_) heartbeats_->stop();
    if (backend_) backend_->stop(exit_code);
    told->set_value();
  });
  // A backend that was refused says nothing more, but must not go while it is told to stop.
  if (loop_started_) told->get_future().wait_until(deadline);
  if (started) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, deadline, [&] { return backend_stopped_; })) {
      kPluginLog.warn("the backend did not stop within tenon.plugin.stopTimeout");
    }
  }
  if (executors_ && !executors_->end(deadline)) {
    kExecutorLog.warn("the code of a task runs on after the context was stopped");
  }
  // A task that ran on has used up the time; the plugin gets a moment of its own.
  const auto left = std::max<std::chrono::nanoseconds>(
      deadline - std::chrono::steady_clock::now(),
      std::min<std::chrono::nanoseconds>(stop_timeout_, kLeastTimeToDestroy));
  if (backend_ && !backend_->destroy(left)) {
    kPluginLog.warn("the plugin did not end within tenon.plugin.stopTimeout");
  }
  services_->stop();
  loop_.stop();
  sink_.flush();
}

// ------------------------------------------------------------------------------- events of the
// backend

void Scheduling::registered(task::Registration registration) {
  tasks_->registered(registration);
  dag_->set_application(registration.app_id, registration.attempt_id);
  const std::lock_guard lock(mutex_);
  registration_ = std::move(registration);
  changed_.notify_all();
}

void Scheduling::ready() {
  const std::lock_guard lock(mutex_);
  ready_ = true;
  changed_.notify_all();
}

void Scheduling::pending(std::string reason, std::string message,
                         std::map<std::string, std::string> numbers) {
  tasks_->pending(std::move(reason), std::move(message), std::move(numbers));
}

void Scheduling::executor_added(task::Executor executor) {
  ExecutorInfo info;
  info.id = executor.id;
  info.host = executor.host;
  info.cores = static_cast<int32_t>(executor.cores);
  info.added_ms = clock_.wall_ms();
  info.log_urls = executor.log_urls;
  info.attributes = executor.attributes;
  sink_.post(event::ExecutorAdded{info, info.added_ms});
  hosts_[executor.id] = executor.host;
  blocks_.add_executor(executor.id, executor.host);
  heartbeats_->add_executor(executor.id);
  sink_.post(event::BlockManagerAdded{executor.id, executor.host, storage_bytes(startup_.settings),
                                      info.added_ms});
  {
    const std::lock_guard lock(mutex_);
    total_cores_ += executor.cores;
  }
  tasks_->executor_added(executor);
}

void Scheduling::executor_decommissioning(std::string executor_id, int64_t, std::string) {
  tasks_->executor_decommissioning(executor_id);
}

void Scheduling::executor_loss_pending(std::string executor_id, std::string message) {
  tasks_->executor_loss_pending(executor_id, message);
}

void Scheduling::executor_removed(std::string executor_id, task::LossReason reason) {
  const int64_t now = clock_.wall_ms();
  heartbeats_->remove_executor(executor_id);
  hosts_.erase(executor_id);
  services_->forget_executor(executor_id);
  sink_.post(event::BlockManagerRemoved{executor_id, now});
  sink_.post(event::ExecutorRemoved{executor_id, task::describe(reason), now});
  tasks_->executor_removed(executor_id, reason);
}

void Scheduling::worker_removed(std::string worker_id, std::string host, std::string message) {
  tasks_->worker_removed(worker_id, host, message);
}

void Scheduling::resource_offers(uint64_t offer, task::OfferScope scope,
                                 std::vector<task::WorkerOffer> offers) {
  tasks_->resource_offers(offer, scope, std::move(offers));
}

void Scheduling::status_update(std::vector<task::StatusUpdate> statuses) {
  std::erase_if(statuses, [this](task::StatusUpdate& status) { return fetch_large_value(status); });
  tasks_->status_update(std::move(statuses));
}

void Scheduling::acknowledged(uint64_t, bool, std::vector<std::string>) {}

void Scheduling::stopped() {
  const std::lock_guard lock(mutex_);
  backend_stopped_ = true;
  changed_.notify_all();
}

void Scheduling::failed(ErrorKind kind, std::string message) {
  const auto error = std::make_shared<const Error>(kind, std::move(message));
  bool running = false;
  {
    const std::lock_guard lock(mutex_);
    running = registration_.has_value();
    if (!failure_) failure_ = error;
    changed_.notify_all();
  }
  if (running) on_fatal(error->message());
}

}  // namespace tenon::context
