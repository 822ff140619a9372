#include "plugin/scheduler_backend.hpp"

#include <atomic>
#include <string_view>
#include <utility>

#include "plugin/convert.hpp"
#include "plugin/gate.hpp"
#include "plugin/instance.hpp"
#include "plugin/payloads.hpp"
#include "plugin/quote.hpp"
#include "plugin/scheduler_events.hpp"
#include "tenon/error.hpp"
#include "tenon/plugin/error.hpp"
#include "tenon/plugin/text.hpp"
#include "tenon/plugin/views.hpp"

namespace tenon::host {
namespace {

// A plugin without the wrapper may let an exception through; better an error than the end of the
// process.
template <class Call>
tenon_status call(plugin::ErrorSink& error, Call&& function) {
  tenon_status status = TENON_OK;
  const tenon_status thrown = plugin::guard(error.get(), [&] { status = function(); });
  return thrown == TENON_OK ? status : thrown;
}

}  // namespace

// What a plugin may touch as long as its destroy() has not returned.
struct SchedulerBackend::Instance {
  Instance(SchedulerBackendSetup s, task::BackendEvents& events)
      : plugin(std::move(s.plugin)),
        api(plugin.scheduler_backend()),
        host(std::move(s.host)),
        master(std::move(s.master)),
        app(std::move(s.app)),
        bootstrap(std::move(s.bootstrap)),
        stop_timeout(s.stop_timeout),
        mailbox(events, std::move(s.decoder), *host),
        args(plugin::make<tenon_args>()) {
    args.host = host->raw();
    args.master = master.raw();
    args.app = app.raw();
    args.bootstrap = {bootstrap.data(), bootstrap.size()};
  }

  [[nodiscard]] std::string who() const { return "plugin " + plugin.text(); }
  [[nodiscard]] Error failure(ErrorKind kind, const char* what, tenon_status status,
                              const plugin::ErrorSink& error) const {
    std::string text = who() + ": " + what + " failed: " + first_lines(error.message(), 4, 1000);
    return Error(kind, text + " (" + std::string(status_name(status)) + ")");
  }

  const LoadedPlugin plugin;
  const tenon_scheduler_backend_api& api;
  const std::shared_ptr<HostServices> host;
  const PluginMasterUrl master;
  const PluginApp app;
  const std::string bootstrap;
  const std::chrono::nanoseconds stop_timeout;
  SchedulerEvents mailbox;
  tenon_args args;
  tenon_scheduler_backend* self = nullptr;
};

SchedulerBackend::SchedulerBackend(SchedulerBackendSetup setup, task::BackendEvents& events)
    : instance_(std::make_shared<Instance>(std::move(setup), events)) {
  Instance& in = *instance_;
  plugin::ErrorSink error;
  const tenon_status status =
      call(error, [&] { return in.api.create(&in.args, in.mailbox.raw(), &in.self, error.get()); });
  if (status == TENON_INVALID_ARGUMENT) {
    std::string text = first_lines(error.message(), 4, 1000);
    const std::string quoted = quote(in.master.url().raw);
    if (text.find(quoted) == std::string::npos) text = "master URL " + quoted + ": " + text;
    throw Error(ErrorKind::usage, text);
  }
  if (status != TENON_OK) throw in.failure(ErrorKind::plugin, "create", status, error);
  if (in.self == nullptr) {
    throw Error(ErrorKind::plugin, in.who() + ": create gave no backend");
  }
}

SchedulerBackend::~SchedulerBackend() { destroy(); }

void SchedulerBackend::start() {
  plugin::ErrorSink error;
  const tenon_status status =
      call(error, [&] { return instance_->api.start(instance_->self, error.get()); });
  if (status == TENON_OK) return;
  const bool usage = status == TENON_INVALID_ARGUMENT;
  throw instance_->failure(usage ? ErrorKind::usage : error_kind(status), "start", status, error);
}

void SchedulerBackend::stop(int exit_code) {
  if (std::exchange(stopping_, true)) return;
  plugin::ErrorSink error;
  const tenon_status status =
      call(error, [&] { return instance_->api.stop(instance_->self, exit_code, error.get()); });
  if (status != TENON_OK) {
    const Error failure = instance_->failure(ErrorKind::plugin, "stop", status, error);
    instance_->host->log(TENON_LOG_WARN, "plugin", failure.message());
  }
}

bool SchedulerBackend::destroy(std::optional<std::chrono::nanoseconds> timeout) {
  if (instance_ == nullptr || instance_->self == nullptr) return true;
  const std::shared_ptr<Instance> in = std::exchange(instance_, nullptr);
  in->host->drop_timers();
  const bool done =
      run_bounded(timeout.value_or(in->stop_timeout), [in] { in->api.destroy(in->self); });
  if (!done) {
    in->host->log(TENON_LOG_WARN, "plugin",
                  in->who() + " did not end within tenon.plugin.stopTimeout; it is left behind");
  }
  in->mailbox.close();
  in->host->close();
  return done;
}

// The plugin hears nothing after stop(), though offers that came before it are still answered.
void SchedulerBackend::revive_offers() {
  if (stopping_) return;
  plugin::ErrorSink error;
  const tenon_status status =
      call(error, [&] { return instance_->api.revive_offers(instance_->self, error.get()); });
  if (status != TENON_OK) {
    throw instance_->failure(ErrorKind::internal, "revive_offers", status, error);
  }
}

void SchedulerBackend::launch_tasks(uint64_t offer, std::vector<task::Launch> tasks) {
  if (stopping_) {
    if (tasks.empty()) return;
    throw Error(ErrorKind::stopped, instance_->who() + ": tasks were launched after the stop");
  }
  launch_.clear();
  std::vector<std::vector<tenon_resource>> resources;
  {
    PayloadBatch payloads(tasks.size());
    launch_.reserve(tasks.size());
    for (task::Launch& task : tasks) {
      tenon_task row{};
      row.id = task.task_id;
      row.executor_id = plugin::str(task.executor_id);
      row.name = plugin::str(task.name);
      row.cores = task.cores;
      row.attempt = task.attempt;
      row.flags = task.queued ? TENON_TASK_QUEUED : 0;
      if (!task.resources.empty()) {
        resources.push_back(borrow(task.resources));
        row.resources =
            plugin::array<tenon_resources>(std::span<const tenon_resource>(resources.back()));
      }
      row.payload = payloads.add(std::move(task.payload));
      launch_.push_back(row);
    }
  }
  plugin::ErrorSink error;
  const auto rows = plugin::array<tenon_tasks>(std::span<tenon_task>(launch_));
  const tenon_status status = call(error, [&] {
    return instance_->api.launch_tasks(instance_->self, offer, rows, error.get());
  });
  if (status != TENON_OK) {
    throw instance_->failure(error_kind(status), "launch_tasks", status, error);
  }
}

void SchedulerBackend::kill_task(uint64_t task_id, const std::string& executor_id, bool interrupt,
                                 bool if_queued, const std::string& reason) {
  if (stopping_) return;
  const uint32_t flags = (interrupt ? uint32_t{TENON_KILL_INTERRUPT} : 0u) |
                         (if_queued ? uint32_t{TENON_KILL_IF_QUEUED} : 0u);
  plugin::ErrorSink error;
  const tenon_status status = call(error, [&] {
    return instance_->api.kill_task(instance_->self, task_id, plugin::str(executor_id), flags,
                                    plugin::str(reason), error.get());
  });
  if (status != TENON_OK) throw instance_->failure(error_kind(status), "kill_task", status, error);
}

bool SchedulerBackend::kill_executor(const std::string& executor_id, const std::string& reason) {
  if (stopping_) return false;
  const tenon_str id = plugin::str(executor_id);
  plugin::ErrorSink error;
  const tenon_status status = call(error, [&] {
    return instance_->api.kill_executors(instance_->self,
                                         plugin::array<tenon_strs>(std::span(&id, 1)),
                                         TENON_EXECUTORS_FORCE, ++last_request_, error.get());
  });
  if (status == TENON_OK || status == TENON_UNSUPPORTED) return status == TENON_OK;
  const Error failure = instance_->failure(error_kind(status), "kill_executors", status, error);
  instance_->host->log(TENON_LOG_WARN, "plugin",
                       failure.message() + "; executor=" + executor_id + " was to end: " + reason);
  return false;
}

uint64_t SchedulerBackend::max_payload_bytes() const {
  return instance_->mailbox.max_payload_bytes();
}

}  // namespace tenon::host
