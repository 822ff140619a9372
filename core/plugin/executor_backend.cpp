#include "plugin/executor_backend.hpp"

#include <array>
#include <exception>
#include <span>
#include <utility>

#include "plugin/convert.hpp"
#include "plugin/gate.hpp"
#include "plugin/instance.hpp"
#include "plugin/payloads.hpp"
#include "plugin/quote.hpp"
#include "tenon/error.hpp"
#include "tenon/plugin/error.hpp"
#include "tenon/plugin/text.hpp"
#include "tenon/plugin/views.hpp"

namespace tenon::host {
namespace {

int32_t raw_state(task::TaskState state) {
  static constexpr std::array kStates = {TENON_TASK_RUNNING, TENON_TASK_FINISHED,
                                         TENON_TASK_FAILED,  TENON_TASK_KILLED,
                                         TENON_TASK_LOST,    TENON_TASK_RETURNED};
  return kStates.at(static_cast<size_t>(state));
}

std::vector<LaunchedTask> launched(plugin::Tasks tasks) {
  std::vector<LaunchedTask> out;
  out.reserve(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    const tenon_task raw = tasks[i];
    out.push_back({raw.id, text(raw.name), raw.cores, raw.attempt,
                   (raw.flags & TENON_TASK_QUEUED) != 0, resources(raw.resources), tasks.take(i)});
  }
  return out;
}

}  // namespace

// What a plugin may touch as long as its destroy() has not returned.
struct ExecutorBackend::Instance {
  Instance(ExecutorBackendSetup s, ExecutorEvents& target)
      : setup(std::move(s)),
        master(setup.master),
        resources(borrow(setup.executor.resources)),
        attributes(borrow(setup.executor.attributes)),
        log_urls(borrow(setup.executor.log_urls)),
        events(target),
        args(plugin::make<tenon_executor_args>()),
        raw_events(plugin::make<tenon_executor_events>()) {
    fill_args();
    fill_events();
  }

  void fill_args() {
    const ExecutorSpec& executor = setup.executor;
    args.incarnation = executor.incarnation;
    args.host = setup.host->raw();
    args.master = master.raw();
    args.executor_id = plugin::str(executor.executor_id);
    args.work_dir = plugin::str(executor.work_dir);
    args.cores = executor.cores;
    args.profile = executor.profile;
    args.memory_bytes = executor.memory_bytes;
    args.resources = plugin::array<tenon_resources>(std::span<const tenon_resource>(resources));
    args.attributes = plugin::array<tenon_pairs>(std::span<const tenon_pair>(attributes));
    args.log_urls = plugin::array<tenon_pairs>(std::span<const tenon_pair>(log_urls));
    args.bootstrap = {setup.bootstrap.data(), setup.bootstrap.size()};
    args.peer = executor.peer;
  }

  static Instance& of(void* ctx) { return *static_cast<Instance*>(ctx); }
  template <class Event>
  void run(const char* name, Event&& event) noexcept {
    const Gate::Pass pass(gate);
    if (!pass) return;
    try {
      event(events);
    } catch (const std::exception& e) {
      warn(std::string("event ") + name + " was dropped: " + e.what());
    } catch (...) {
      warn(std::string("event ") + name + " was dropped");
    }
  }
  void fill_events() {
    raw_events.ctx = this;
    raw_events.registered = [](void* ctx) {
      of(ctx).run("registered", [](ExecutorEvents& to) { to.registered(); });
    };
    raw_events.launch_tasks = [](void* ctx, tenon_tasks tasks) {
      plugin::Tasks owned(tasks);
      of(ctx).run("launch_tasks",
                  [&](ExecutorEvents& to) { to.launch_tasks(launched(std::move(owned))); });
    };
    raw_events.kill_task = [](void* ctx, uint64_t task, uint32_t flags, tenon_str reason) {
      of(ctx).run("kill_task", [&](ExecutorEvents& to) {
        to.kill_task(task, (flags & TENON_KILL_INTERRUPT) != 0, (flags & TENON_KILL_IF_QUEUED) != 0,
                     text(reason));
      });
    };
    raw_events.shutdown = [](void* ctx, int32_t exit_code, tenon_str reason) {
      of(ctx).run("shutdown", [&](ExecutorEvents& to) { to.shutdown(exit_code, text(reason)); });
    };
    raw_events.failed = [](void* ctx, tenon_status status, tenon_str message) {
      of(ctx).run("failed",
                  [&](ExecutorEvents& to) { to.failed(error_kind(status), text(message)); });
    };
    raw_events.stopped = [](void* ctx) {
      of(ctx).run("stopped", [](ExecutorEvents& to) { to.stopped(); });
    };
  }

  void warn(const std::string& message) const {
    setup.host->log(TENON_LOG_WARN, "plugin",
                    "executor=" + setup.executor.executor_id + " " + message);
  }
  // Runs a function of the table; a plugin without the wrapper may let an exception through.
  template <class Call>
  tenon_status call(plugin::ErrorSink& error, Call&& function) const {
    tenon_status status = TENON_OK;
    const tenon_status thrown = plugin::guard(error.get(), [&] { status = function(); });
    return thrown == TENON_OK ? status : thrown;
  }
  [[nodiscard]] std::string failure(const char* what, tenon_status status,
                                    const plugin::ErrorSink& error) const {
    return std::string(what) +
           " of the executor backend failed: " + first_lines(error.message(), 4, 1000) + " (" +
           std::string(status_name(status)) + ")";
  }
  void check(const char* what, tenon_status status, const plugin::ErrorSink& error) const {
    if (status == TENON_OK) return;
    throw Error(error_kind(status),
                "executor " + setup.executor.executor_id + ": " + failure(what, status, error));
  }

  const ExecutorBackendSetup setup;
  const PluginMasterUrl master;
  const std::vector<tenon_resource> resources;
  const std::vector<tenon_pair> attributes, log_urls;
  ExecutorEvents& events;
  Gate gate;
  tenon_executor_args args;
  tenon_executor_events raw_events;
  tenon_executor_backend* self = nullptr;
};

ExecutorBackend::ExecutorBackend(ExecutorBackendSetup setup, ExecutorEvents& events)
    : instance_(std::make_shared<Instance>(std::move(setup), events)) {
  Instance& in = *instance_;
  plugin::ErrorSink error;
  const tenon_status status = in.call(
      error, [&] { return in.setup.api.create(&in.args, &in.raw_events, &in.self, error.get()); });
  in.check("create", status, error);
  if (in.self == nullptr) throw Error(ErrorKind::plugin, "create gave no executor backend");
}

ExecutorBackend::~ExecutorBackend() { destroy(); }

void ExecutorBackend::start() {
  plugin::ErrorSink error;
  const Instance& in = *instance_;
  in.check("start", in.call(error, [&] { return in.setup.api.start(in.self, error.get()); }),
           error);
}

void ExecutorBackend::executor_ready() {
  plugin::ErrorSink error;
  const Instance& in = *instance_;
  in.check("executor_ready",
           in.call(error, [&] { return in.setup.api.executor_ready(in.self, error.get()); }),
           error);
}

void ExecutorBackend::status_update(std::vector<ExecutorStatus> statuses) {
  const Instance& in = *instance_;
  constexpr size_t kOnStack = 4;
  std::array<tenon_task_status, kOnStack> few;
  std::vector<tenon_task_status> many(statuses.size() > kOnStack ? statuses.size() : 0);
  const std::span<tenon_task_status> rows =
      many.empty() ? std::span(few).first(statuses.size()) : std::span(many);
  {
    PayloadBatch data(statuses.size());
    for (size_t i = 0; i < statuses.size(); ++i) {
      rows[i] = {statuses[i].task_id, in.args.executor_id, raw_state(statuses[i].state), 0,
                 data.add(std::move(statuses[i].data))};
    }
  }
  plugin::ErrorSink error;
  const tenon_status status = in.call(error, [&] {
    return in.setup.api.status_update(in.self, plugin::array<tenon_task_statuses>(rows),
                                      error.get());
  });
  if (status != TENON_OK) in.warn(in.failure("status_update", status, error));
}

bool ExecutorBackend::stop() {
  if (std::exchange(stopping_, true)) return true;
  plugin::ErrorSink error;
  const Instance& in = *instance_;
  const tenon_status status =
      in.call(error, [&] { return in.setup.api.stop(in.self, error.get()); });
  if (status != TENON_OK) in.warn(in.failure("stop", status, error));
  return status == TENON_OK;
}

bool ExecutorBackend::exit_executor(int32_t exit_code, bool tell_driver, const std::string& reason,
                                    bool in_process) {
  const Instance& in = *instance_;
  int32_t end_process = in_process ? 0 : 1;
  plugin::ErrorSink error;
  const tenon_status status = in.call(error, [&] {
    return in.setup.api.exit_executor(in.self, exit_code, tell_driver ? 1 : 0, plugin::str(reason),
                                      &end_process, error.get());
  });
  if (status != TENON_OK && status != TENON_UNSUPPORTED) {
    in.warn(in.failure("exit_executor", status, error));
  }
  return end_process != 0 && !in_process;
}

bool ExecutorBackend::destroy() {
  if (instance_ == nullptr || instance_->self == nullptr) return true;
  const std::shared_ptr<Instance> in = std::exchange(instance_, nullptr);
  in->setup.host->drop_timers();
  const bool done = run_bounded(in->setup.stop_timeout, [in] { in->setup.api.destroy(in->self); });
  if (!done) in->warn("did not end within tenon.plugin.stopTimeout; it is left behind");
  in->gate.close();
  in->setup.host->close();
  return done;
}

}  // namespace tenon::host
