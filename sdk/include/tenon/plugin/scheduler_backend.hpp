// The driver's half of a plugin: derive from SchedulerBackend, and SchedulerTable makes the C table
// of it.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include "tenon/plugin/abi.h"
#include "tenon/plugin/buffer.hpp"
#include "tenon/plugin/checks.hpp"
#include "tenon/plugin/core.hpp"
#include "tenon/plugin/error.hpp"
#include "tenon/plugin/host.hpp"
#include "tenon/plugin/views.hpp"

namespace tenon::plugin {

// Functions are called as abi.h says for tenon_scheduler_backend_api: by one thread, never at the
// same time, and they must not block. An exception becomes the status and text of the call.
// Construct: check args, keep what is needed, start nothing.
class SchedulerBackend {
 public:
  SchedulerBackend(const tenon_args& arguments, Core mailbox)
      : core(mailbox), host(arguments.host), args(arguments) {}
  virtual ~SchedulerBackend() = default;
  SchedulerBackend(const SchedulerBackend&) = delete;
  SchedulerBackend& operator=(const SchedulerBackend&) = delete;

  virtual void start() = 0;
  virtual void stop(int32_t exit_code) = 0;
  virtual void revive_offers() = 0;
  virtual void launch_tasks(uint64_t offer, Tasks tasks) = 0;
  virtual void kill_task(uint64_t task, std::string_view executor_id, uint32_t flags,
                         std::string_view reason) = 0;

  // Optional: what is not overridden (in public) is not in the table.
  virtual void request_total_executors(const tenon_executor_request&) { unsupported(); }
  virtual void kill_executors(Strings, uint32_t /*flags*/, uint64_t /*request*/) { unsupported(); }
  virtual void decommission_executors(Strings, uint32_t /*flags*/, uint64_t /*request*/) {
    unsupported();
  }
  virtual void set_excluded_hosts(Strings) { unsupported(); }
  virtual const void* get_extension(std::string_view) { return nullptr; }

 protected:
  const Core core;
  const Host host;
  const tenon_args& args;  // lives until the destructor returns

 private:
  template <std::derived_from<SchedulerBackend> Backend, Checks checks>
  friend class SchedulerTable;
  [[noreturn]] static void unsupported() { throw Error(TENON_UNSUPPORTED, "not supported"); }
  CallChecker checker_;
};

// SchedulerTable<Backend>::api, for a Backend with the constructor (const tenon_args&, Core).
template <std::derived_from<SchedulerBackend> Backend, Checks checks = kDefaultChecks>
class SchedulerTable {
  using Self = tenon_scheduler_backend;
  using Call = CallChecker::Call;

  static SchedulerBackend& of(Self* self) { return *reinterpret_cast<SchedulerBackend*>(self); }

  template <class F>
  static tenon_status run(Self* self, tenon_error* error, Call call, const char* name,
                          F&& function) noexcept {
    return guard(error, [&] {
      if constexpr (checks == Checks::life_cycle) {
        const CallChecker::Scope scope(of(self).checker_, of(self).host, call, name);
        function(of(self));
      } else {
        function(of(self));
      }
    });
  }

  static tenon_status create(const tenon_args* args, const tenon_scheduler_events* events,
                             Self** out, tenon_error* error) noexcept {
    return guard(error, [&] {
      std::unique_ptr<SchedulerBackend> backend = std::make_unique<Backend>(*args, Core(events));
      *out = reinterpret_cast<Self*>(backend.release());
    });
  }
  static void destroy(Self* self) noexcept { delete &of(self); }
  static tenon_status start(Self* self, tenon_error* error) noexcept {
    return run(self, error, Call::start, "start", [](auto& backend) { backend.start(); });
  }
  static tenon_status stop(Self* self, int32_t exit_code, tenon_error* error) noexcept {
    return run(self, error, Call::stop, "stop", [=](auto& backend) { backend.stop(exit_code); });
  }
  static tenon_status revive_offers(Self* self, tenon_error* error) noexcept {
    return run(self, error, Call::other, "revive_offers",
               [](auto& backend) { backend.revive_offers(); });
  }
  static tenon_status launch_tasks(Self* self, uint64_t offer, tenon_tasks tasks,
                                   tenon_error* error) noexcept {
    Tasks owned(tasks);  // released also when the checks throw
    return run(self, error, Call::other, "launch_tasks",
               [&](auto& backend) { backend.launch_tasks(offer, std::move(owned)); });
  }
  static tenon_status kill_task(Self* self, uint64_t task, tenon_str executor_id, uint32_t flags,
                                tenon_str reason, tenon_error* error) noexcept {
    return run(self, error, Call::other, "kill_task", [=](auto& backend) {
      backend.kill_task(task, view(executor_id), flags, view(reason));
    });
  }
  static tenon_status request_total_executors(Self* self, const tenon_executor_request* request,
                                              tenon_error* error) noexcept {
    return run(self, error, Call::other, "request_total_executors",
               [=](auto& backend) { backend.request_total_executors(*request); });
  }
  static tenon_status kill_executors(Self* self, tenon_strs ids, uint32_t flags, uint64_t request,
                                     tenon_error* error) noexcept {
    return run(self, error, Call::other, "kill_executors",
               [=](auto& backend) { backend.kill_executors(Strings(ids), flags, request); });
  }
  static tenon_status decommission_executors(Self* self, tenon_strs ids, uint32_t flags,
                                             uint64_t request, tenon_error* error) noexcept {
    return run(self, error, Call::other, "decommission_executors", [=](auto& backend) {
      backend.decommission_executors(Strings(ids), flags, request);
    });
  }
  static tenon_status set_excluded_hosts(Self* self, tenon_strs hosts,
                                         tenon_error* error) noexcept {
    return run(self, error, Call::other, "set_excluded_hosts",
               [=](auto& backend) { backend.set_excluded_hosts(Strings(hosts)); });
  }
  static const void* get_extension(Self* self, const char* id) noexcept {
    const void* extension = nullptr;
    guard(nullptr, [&] { extension = of(self).get_extension(id); });
    return extension;
  }

  // A member that Backend does not override still has SchedulerBackend in its type.
  template <class Inherited, class Own>
  static constexpr bool overridden(Inherited, Own) {
    return !std::is_same_v<Inherited, Own>;
  }
  static constexpr tenon_scheduler_backend_api table() {
    tenon_scheduler_backend_api built{};
    built.struct_size = sizeof built;
    built.create = create;
    built.destroy = destroy;
    built.start = start;
    built.stop = stop;
    built.revive_offers = revive_offers;
    built.launch_tasks = launch_tasks;
    built.kill_task = kill_task;
    using Base = SchedulerBackend;
    if (overridden(&Base::request_total_executors, &Backend::request_total_executors)) {
      built.request_total_executors = request_total_executors;
    }
    if (overridden(&Base::kill_executors, &Backend::kill_executors)) {
      built.kill_executors = kill_executors;
    }
    if (overridden(&Base::decommission_executors, &Backend::decommission_executors)) {
      built.decommission_executors = decommission_executors;
    }
    if (overridden(&Base::set_excluded_hosts, &Backend::set_excluded_hosts)) {
      built.set_excluded_hosts = set_excluded_hosts;
    }
    if (overridden(&Base::get_extension, &Backend::get_extension)) {
      built.get_extension = get_extension;
    }
    return built;
  }

 public:
  static constexpr tenon_scheduler_backend_api api = table();
};

}  // namespace tenon::plugin
