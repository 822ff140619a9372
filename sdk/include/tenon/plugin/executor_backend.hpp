// The executor's half of a plugin: derive from ExecutorBackend, and ExecutorTable makes the C table
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

namespace tenon::plugin {

// Functions are called as abi.h says for tenon_executor_backend_api: by one thread, never at the
// same time, but for status_update, which any thread calls. None may block.
class ExecutorBackend {
 public:
  ExecutorBackend(const tenon_executor_args& arguments, ExecutorCore mailbox)
      : core(mailbox), host(arguments.host), args(arguments) {}
  virtual ~ExecutorBackend() = default;
  ExecutorBackend(const ExecutorBackend&) = delete;
  ExecutorBackend& operator=(const ExecutorBackend&) = delete;

  virtual void start() = 0;
  virtual void executor_ready() = 0;
  virtual void status_update(Statuses statuses) = 0;  // [any-thread]
  virtual void stop() = 0;

  // Optional: what is not overridden (in public) is not in the table. Returns whether the process
  // ends; end_process is what core would do.
  virtual bool exit_executor(int32_t /*exit_code*/, bool /*tell_driver*/,
                             std::string_view /*reason*/, bool end_process) {
    return end_process;
  }
  virtual const void* get_extension(std::string_view) { return nullptr; }

 protected:
  const ExecutorCore core;
  const Host host;
  const tenon_executor_args& args;  // lives until the destructor returns

 private:
  template <std::derived_from<ExecutorBackend> Backend, Checks checks>
  friend class ExecutorTable;
  CallChecker checker_;
};

// ExecutorTable<Backend>::api, for a Backend with the constructor (const tenon_executor_args&,
// ExecutorCore).
template <std::derived_from<ExecutorBackend> Backend, Checks checks = kDefaultChecks>
class ExecutorTable {
  using Self = tenon_executor_backend;
  using Call = CallChecker::Call;

  static ExecutorBackend& of(Self* self) { return *reinterpret_cast<ExecutorBackend*>(self); }

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

  static tenon_status create(const tenon_executor_args* args, const tenon_executor_events* events,
                             Self** out, tenon_error* error) noexcept {
    return guard(error, [&] {
      std::unique_ptr<ExecutorBackend> backend =
          std::make_unique<Backend>(*args, ExecutorCore(events));
      *out = reinterpret_cast<Self*>(backend.release());
    });
  }
  static void destroy(Self* self) noexcept { delete &of(self); }
  static tenon_status start(Self* self, tenon_error* error) noexcept {
    return run(self, error, Call::start, "start", [](auto& backend) { backend.start(); });
  }
  static tenon_status executor_ready(Self* self, tenon_error* error) noexcept {
    return run(self, error, Call::other, "executor_ready",
               [](auto& backend) { backend.executor_ready(); });
  }
  static tenon_status status_update(Self* self, tenon_task_statuses statuses,
                                    tenon_error* error) noexcept {
    Statuses owned(statuses);
    return guard(error, [&] { of(self).status_update(std::move(owned)); });
  }
  static tenon_status stop(Self* self, tenon_error* error) noexcept {
    return run(self, error, Call::stop, "stop", [](auto& backend) { backend.stop(); });
  }
  static tenon_status exit_executor(Self* self, int32_t exit_code, int32_t tell_driver,
                                    tenon_str reason, int32_t* end_process,
                                    tenon_error* error) noexcept {
    return run(self, error, Call::other, "exit_executor", [=](auto& backend) {
      const bool ends =
          backend.exit_executor(exit_code, tell_driver != 0, view(reason), *end_process != 0);
      if (!ends) *end_process = 0;
    });
  }
  static const void* get_extension(Self* self, const char* id) noexcept {
    const void* extension = nullptr;
    guard(nullptr, [&] { extension = of(self).get_extension(id); });
    return extension;
  }

  template <class Inherited, class Own>
  static constexpr bool overridden(Inherited, Own) {
    return !std::is_same_v<Inherited, Own>;
  }
  static constexpr tenon_executor_backend_api table() {
    tenon_executor_backend_api built{};
    built.struct_size = sizeof built;
    built.create = create;
    built.destroy = destroy;
    built.start = start;
    built.executor_ready = executor_ready;
    built.status_update = status_update;
    built.stop = stop;
    if (overridden(&ExecutorBackend::exit_executor, &Backend::exit_executor)) {
      built.exit_executor = exit_executor;
    }
    if (overridden(&ExecutorBackend::get_extension, &Backend::get_extension)) {
      built.get_extension = get_extension;
    }
    return built;
  }

 public:
  static constexpr tenon_executor_backend_api api = table();
};

}  // namespace tenon::plugin
