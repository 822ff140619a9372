#include "context/driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "common/console.hpp"
#include "common/log.hpp"
#include "conf/redaction.hpp"
#include "context/process_guard.hpp"
#include "rdd/node.hpp"
#include "tenon/error.hpp"
#include "tenon/task_context.hpp"

namespace tenon::detail {
namespace {

using namespace std::chrono_literals;

const log::Logger kLog = log::logger("driver");

std::string program_name() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "program" : path.filename().string();
}

[[noreturn]] void refuse_in_task(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, what +
                                               " cannot be used inside a task: functions given to "
                                               "an Rdd run in the executors. Run the action in "
                                               "the driver and pass its value to the function");
}

std::atomic<uint64_t> next_serial{1};

}  // namespace

Driver::Driver(context::Startup startup, CallSite made_at)
    : startup_(std::move(startup)),
      made_at_(std::move(made_at)),
      serial_(next_serial.fetch_add(1)),
      cleaner_(std::make_shared<context::Cleaner>(
          [this] { scheduling_->loop().post([this] { clean(); }); })) {
  const conf::Settings& settings = startup_.settings;
  events::ListenerBus::Options options;
  options.capacity =
      static_cast<size_t>(settings.get_int("tenon.scheduler.listenerbus.eventqueue.capacity"));
  // The status tracker counts every task: its queue is the last to overflow.
  constexpr size_t kStatusCapacity = 200'000;
  options.group_capacity[static_cast<size_t>(events::Group::app_status)] =
      std::max(options.capacity, kStatusCapacity);
  options.log = [](events::Severity severity, std::string_view text) {
    static const log::Logger kBusLog = log::logger("listener-bus");
    kBusLog.log(severity == events::Severity::error ? log::Level::error : log::Level::warn,
                std::string(text));
  };
  bus_ = std::make_shared<events::ListenerBus>(std::move(options));
  events::StatusStore::Limits limits;
  limits.jobs = static_cast<size_t>(settings.get_int("tenon.ui.retainedJobs"));
  limits.stages = static_cast<size_t>(settings.get_int("tenon.ui.retainedStages"));
  limits.dead_executors = static_cast<size_t>(settings.get_int("tenon.ui.retainedDeadExecutors"));
  store_ = std::make_shared<events::StatusStore>(limits);
  bus_->add(store_, events::Group::app_status);
  pool_ = std::make_shared<context::ResultPool>(
      static_cast<size_t>(settings.get_int("tenon.resultGetter.threads")));
  scheduling_ = std::make_unique<context::Scheduling>(startup_, *bus_);
  if (!settings.get_bool("tenon.cleaner.referenceTracking")) cleaner_->close();
}

DriverPtr Driver::start(const Conf& conf, const Defaults& defaults, const CallSite& made_at) {
  if (TaskContext::current() != nullptr) refuse_in_task("Context");
  // Before anything that can throw: an error of the start leaves main too.
  context::install_process_handlers();
  auto active = std::make_shared<context::ActiveContext>(made_at);
  context::Startup startup = context::resolve(conf, defaults, program_name());
  context::configure_log(startup.settings);
  std::shared_ptr<Driver> driver(new Driver(std::move(startup), made_at));
  driver->active_ = active;
  driver->begin();
  active->set(driver);
  return driver;
}

void Driver::begin() {
  bus_->start();
  if (settings().get_bool("tenon.ui.showConsoleProgress") && events::can_draw_bar(STDERR_FILENO)) {
    events::ProgressBar::Options options;
    options.store = store_;
    options.write = [](std::string_view text) {
      static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
    };
    options.columns = [] { return events::terminal_columns(STDERR_FILENO); };
    options.color = events::may_use_color(STDERR_FILENO);
    options.clock = &clock_;
    bar_ = std::make_shared<events::ProgressBar>(std::move(options));
    bus_->add(bar_, events::Group::app_status);
    bar_->start();
    console::set_frame([weak = std::weak_ptr(bar_)](const std::function<void()>& write) {
      const auto bar = weak.lock();
      bar ? bar->write_above(write) : write();
    });
  }
  scheduling_->start();
  const task::Registration registration = scheduling_->registration();
  event::ApplicationStart start;
  start.name = settings().get_string("tenon.app.name");
  start.id = registration.app_id;
  start.attempt_id = registration.attempt_id;
  if (const char* user = std::getenv("USER")) start.user = user;
  start.time_ms = clock_.wall_ms();
  bus_->post(event::EnvironmentUpdate{redacted_settings()});
  bus_->post(std::move(start));
  kLog.info([&] { return "application started, id=" + registration.app_id; });
}

Properties Driver::redacted_settings() const {
  Properties shown;
  const conf::Redaction redaction(settings().get_string("tenon.redaction.regex"));
  for (const auto& [key, value] : settings().values()) {
    shown.emplace(key, redaction.shown(key, settings().shown(key)));
  }
  return shown;
}

Driver::~Driver() {
  try {
    stop();
  } catch (const Error&) {
    // on a listener's thread: stop() was called by who owned the context
  }
  cleaner_->close();
}

void Driver::stop(int exit_code) {
  if (bus_->on_listener_thread()) {
    throw Error(ErrorKind::invalid_argument,
                "stop() was called from a listener, for which it would have to wait; stop the "
                "context from another thread");
  }
  if (TaskContext::current() != nullptr) refuse_in_task("Context::stop()");
  if (pool_->on_thread()) {
    throw Error(ErrorKind::invalid_argument,
                "stop() was called from a result handler, for which it would have to wait");
  }
  const std::lock_guard lock(stop_mutex_);
  if (std::exchange(stop_done_, true)) return;
  stopping_.store(true, std::memory_order_release);
  cleaner_->close();
  if (scheduling_) scheduling_->stop(exit_code);
  pool_->stop();
  if (bar_) {
    console::set_frame({});
    bar_->stop();
  }
  bus_->post(event::ApplicationEnd{clock_.wall_ms(), exit_code});
  bus_->stop();
  active_.reset();
}

void Driver::check_usable() const {
  if (TaskContext::current() != nullptr) refuse_in_task("an Rdd or a Context");
  if (stopped()) {
    const std::string by = made_at_.file.empty() ? "" : " made by " + made_at_.text();
    throw Error(ErrorKind::stopped,
                "the Context" + by + " has been shutdown; make a new one to go on");
  }
}

std::string Driver::application_id() const { return scheduling_->registration().app_id; }
std::string Driver::attempt_id() const { return scheduling_->registration().attempt_id; }
int32_t Driver::default_parallelism() const { return scheduling_->default_parallelism(); }

StatusTracker Driver::status() const {
  auto settle = [weak = std::weak_ptr<const Driver>(weak_from_this())] {
    const auto driver = weak.lock();
    if (!driver || driver->stopped()) return;
    events::wait_for_status(driver->scheduling_->loop(), *driver->bus_, 2s);
  };
  return StatusTracker(std::make_shared<events::StatusSource>(store_, std::move(settle)));
}

Properties& Driver::local_properties() const {
  thread_local std::unordered_map<uint64_t, Properties> properties;
  return properties[serial_];
}

// ------------------------------------------------------------------------------- jobs

context::ReportHandled Driver::report_handled() {
  // The scheduling room outlives its jobs' waiters: stop() fails them first.
  return [weak = weak_from_this()](int32_t job, std::vector<int32_t> positions,
                                   std::shared_ptr<const Error> error) {
    const auto driver = weak.lock();
    if (!driver) return;
    dag::DagScheduler& dag = driver->scheduling_->dag();
    driver->scheduling_->loop().post(
        [&dag, job, positions = std::move(positions), error = std::move(error)] {
          for (size_t i = 0; i < positions.size(); ++i) {
            if (error && i + 1 == positions.size()) {
              dag.post(dag::ResultHandlerFailed{job, positions[i], error});
            } else {
              dag.post(dag::ResultHandled{job, positions[i]});
            }
          }
          dag.drain();
        });
  };
}

dag::JobRequest Driver::request(JobSpec spec, int32_t id,
                                std::shared_ptr<dag::JobListener> listener) const {
  dag::JobRequest request;
  request.id = id;
  request.node = std::move(spec.node);
  request.action = std::move(spec.action);
  request.partitions = std::move(spec.partitions);
  request.call_site = std::move(spec.call_site);
  request.properties = local_properties();
  request.listener = std::move(listener);
  return request;
}

// Ids in the order of submits: both under one lock. What submitting throws has used up no id.
template <class MakeWaiter>
auto Driver::submit(JobSpec spec, MakeWaiter make_waiter) {
  check_usable();
  rdd::compute_partitions(spec.node);
  scheduling_->wait_until_ready();
  kLog.info([&] { return "Starting job: " + spec.call_site.text(); });
  if (settings().get_bool("tenon.logLineage")) {
    kLog.info([&] { return "Lineage of the job:\n" + rdd::debug_string(*spec.node); });
  }
  const std::lock_guard lock(submit_mutex_);
  const int32_t id = next_job_;
  auto waiter = make_waiter(id, spec.partitions.size());
  scheduling_->dag().submit_job(request(std::move(spec), id, waiter));
  ++next_job_;
  return waiter;
}

void Driver::run_job(JobSpec spec, const ResultHandler& handler) {
  const rdd::NodePtr node = spec.node;
  const CallSite site = spec.call_site;
  run_one_job(std::move(spec), handler);
  make_checkpoints(node, site);
}

void Driver::make_checkpoints(const rdd::NodePtr& node, const CallSite& site) {
  const auto run_job = [&](const rdd::NodePtr& marked, const Operator& make) {
    CallSite here = site;
    here.operation =
        "checkpoint of Rdd " + std::to_string(marked->id()) + " after " + site.operation;
    run_one_job({marked, make, all_partitions(marked), std::move(here)},
                [](int32_t, std::string_view) {});
  };
  checkpoints_.make(node, run_job, [this](const auto& work) { on_loop(work); });
}

void Driver::run_one_job(JobSpec spec, const ResultHandler& handler) {
  const CallSite site = spec.call_site;
  const auto begin = clock_.now();
  const auto waiter = submit(std::move(spec), [&](int32_t id, size_t positions) {
    return std::make_shared<context::SyncJob>(id, positions, report_handled(),
                                              scheduling_->result_turn());
  });
  ++waiting_jobs_;
  const auto seconds = [&] { return std::chrono::duration<double>(clock_.now() - begin).count(); };
  try {
    waiter->run(handler);
  } catch (const Error& error) {
    --waiting_jobs_;
    kLog.info([&] {
      return "Job " + std::to_string(waiter->job()) + " failed: " + site.text() + ", took " +
             std::to_string(seconds()) + " s";
    });
    throw Error(error.kind(),
                error.message() + "\n  job " + std::to_string(waiter->job()) + " was started by " +
                    site.text(),
                error.cause());
  }
  --waiting_jobs_;
  kLog.info([&] {
    return "Job " + std::to_string(waiter->job()) + " finished: " + site.text() + ", took " +
           std::to_string(seconds()) + " s";
  });
  if (bar_) bar_->finish_all();
}

std::shared_ptr<JobHandle> Driver::submit_job(JobSpec spec, ResultHandler handler) {
  return submit(std::move(spec), [&](int32_t id, size_t positions) {
    return std::make_shared<context::AsyncJob>(id, positions, report_handled(),
                                               scheduling_->result_turn(), std::move(handler),
                                               pool_, canceller(id));
  });
}

std::function<void(const std::string&)> Driver::canceller(int32_t id) {
  return [weak = weak_from_this(), id](const std::string& reason) {
    if (const auto driver = weak.lock()) driver->post(dag::JobCancelled{id, reason});
  };
}

std::shared_ptr<JobHandle> Driver::submit_map_stage(
    rdd::ShufflePtr shuffle, CallSite site, std::function<void(std::vector<uint64_t>)> on_bytes) {
  check_usable();
  rdd::compute_partitions(shuffle->parent);
  scheduling_->wait_until_ready();
  kLog.info([&] { return "Starting map-stage job: " + site.text(); });
  dag::MapStageRequest request;
  request.shuffle = std::move(shuffle);
  request.call_site = std::move(site);
  request.properties = local_properties();
  request.on_statistics = [on_bytes = std::move(on_bytes)](dag::MapOutputStatistics statistics) {
    on_bytes(std::move(statistics.bytes_by_partition));
  };
  const std::lock_guard lock(submit_mutex_);
  const int32_t id = request.id = next_job_;
  auto waiter = std::make_shared<context::AsyncJob>(
      id, 0, report_handled(), scheduling_->result_turn(), ResultHandler(), pool_, canceller(id));
  request.listener = waiter;
  scheduling_->dag().submit_map_stage(std::move(request));
  ++next_job_;
  return waiter;
}

void Driver::post(dag::DagEvent event) {
  if (!stopped()) scheduling_->post(std::move(event));
}

void Driver::cancel_all(const std::string& reason) {
  kLog.info([&] { return "cancelling all jobs: " + reason; });
  post(dag::AllJobsCancelled{});
}

void Driver::on_loop(const std::function<void()>& work) {
  loop::Loop& loop = scheduling_->loop();
  if (loop.on_thread()) {
    work();
    return;
  }
  // The work is dropped, and with it the promise broken, when the loop stops first.
  auto done = std::make_shared<std::promise<void>>();
  auto future = done->get_future();
  loop.post([&work, done = std::move(done)] {
    work();
    done->set_value();
  });
  try {
    future.get();
  } catch (const std::future_error&) {  // ignored: the loop has ended and dropped the work
  }
}

// ------------------------------------------------------------------------------- data

// On the loop's thread.
void Driver::clean() {
  const context::Cleaner::Ended ended = cleaner_->take();
  for (const int32_t id : ended.shuffles) scheduling_->remove_shuffle(id);
  for (const int32_t id : ended.rdds) {
    scheduling_->services().remove_rdd(id);
    scheduling_->remove_rdd(id);
  }
}

void Driver::unpersist(const rdd::NodePtr& node) {
  node->set_level(StorageLevel::none);
  // At once, so that the order is on its way before the caller's next job.
  scheduling_->services().remove_rdd(node->id());
  const int32_t id = node->id();
  scheduling_->loop().post([this, self = shared_from_this(), id] { scheduling_->remove_rdd(id); });
}

uint64_t Driver::add_broadcast(std::string bytes) {
  const uint64_t id = next_object_id();
  scheduling_->services().add_broadcast(id, std::move(bytes));
  return id;
}

void Driver::remove_broadcast(uint64_t id, std::optional<std::string> destroyed) {
  if (!stopped()) scheduling_->services().remove_broadcast(id, std::move(destroyed));
}

}  // namespace tenon::detail
