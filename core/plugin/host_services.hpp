// What core gives to one instance of a plugin: settings, the log, the clock, executors in this
// process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "plugin/convert.hpp"
#include "plugin/gate.hpp"
#include "plugin/in_process.hpp"
#include "tenon/plugin/abi.h"

namespace tenon::host {

// Where the services come from. What is empty is not offered to the plugin, but for the log, which
// is then dropped.
struct HostCallbacks {
  // level: TENON_LOG_... [any-thread]
  std::function<void(int32_t level, std::string_view logger, std::string_view message)> log;
  // Both or none: tenon.clock/1. [any-thread]; the work runs on the loop's thread.
  std::function<int64_t()> now_ns;
  std::function<void(int64_t delay_ns, std::function<void()> work)> call_after;
  InProcessFactory start_in_process;
};

// One for each instance, which keeps it until its destroy() returns.
class HostServices : public std::enable_shared_from_this<HostServices> {
 public:
  // conf: every setting, resolved and checked.
  [[nodiscard]] static std::shared_ptr<HostServices> make(TextPairs conf, HostCallbacks callbacks);
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  [[nodiscard]] const tenon_host* raw() const { return &raw_; }
  void log(int32_t level, std::string_view logger, std::string_view message);

  // destroy() of the instance begins: timers that are due from now on are dropped. Waits for the
  // one that runs.
  void drop_timers() { timers_.close(); }
  // Core goes on without the instance: no callback is called any more. Waits for those inside.
  void close();

 private:
  HostServices(TextPairs conf, HostCallbacks callbacks);
  const void* extension(std::string_view id) const;
  tenon_status start_in_process(const tenon_executor_args& args,
                                const tenon_executor_backend_api& backend, tenon_error* error);
  void call_after(int64_t delay_ns, void (*function)(void*), void* arg);

  static HostServices& of(void* ctx) { return *static_cast<HostServices*>(ctx); }

  TextPairs conf_;
  std::vector<tenon_pair> borrowed_conf_;
  HostCallbacks callbacks_;
  Gate open_, timers_;
  tenon_host raw_;
  tenon_in_process_executor_api in_process_;
  tenon_clock_api clock_;
};

}  // namespace tenon::host
