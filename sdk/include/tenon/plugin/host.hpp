// What core gives to every instance of a plugin: settings, the log, extensions.
#pragma once

#include <optional>
#include <string_view>

#include "tenon/plugin/abi.h"
#include "tenon/plugin/error.hpp"
#include "tenon/plugin/table.hpp"
#include "tenon/plugin/text.hpp"
#include "tenon/plugin/views.hpp"

namespace tenon::plugin {

// A cheap value, valid as long as the host it was made from. [any-thread]
class Host {
 public:
  explicit Host(const tenon_host* host) noexcept : host_(host) {}

  // level: TENON_LOG_...; logger: the component, "local".
  void log(int32_t level, std::string_view logger, std::string_view message) const noexcept {
    if (has<&tenon_host::log>(host_)) host_->log(host_->ctx, level, str(logger), str(message));
  }
  // The resolved value of a setting; nothing when the key is unknown to core.
  [[nodiscard]] std::optional<std::string_view> conf(std::string_view key) const noexcept {
    for (const tenon_pair pair : Pairs(host_->conf)) {
      if (view(pair.key) == key) return view(pair.value);
    }
    return std::nullopt;
  }
  // nullptr: this core does not have it.
  template <class Api>
  [[nodiscard]] const Api* extension(const char* id) const noexcept {
    if (!has<&tenon_host::get_extension>(host_)) return nullptr;
    return static_cast<const Api*>(host_->get_extension(host_->ctx, id));
  }
  // Core's Executor in this process, over the plugin's own executor backend. Its create() follows
  // on the executor's thread. Throws Error when this core cannot.
  void start_in_process(const tenon_executor_args& args,
                        const tenon_executor_backend_api& backend) const {
    const auto* const api = extension<tenon_in_process_executor_api>(TENON_IN_PROCESS_EXECUTOR);
    if (api == nullptr || !has<&tenon_in_process_executor_api::start>(api)) {
      throw Error(TENON_UNSUPPORTED, "this tenon runs no executor in its own process");
    }
    ErrorSink error;
    error.check(api->start(host_->ctx, &args, &backend, error.get()));
  }
  [[nodiscard]] const tenon_host* raw() const noexcept { return host_; }

 private:
  const tenon_host* host_;
};

}  // namespace tenon::plugin
