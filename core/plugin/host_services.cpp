#include "plugin/host_services.hpp"

#include <utility>

#include "tenon/error.hpp"
#include "tenon/plugin/error.hpp"
#include "tenon/plugin/text.hpp"
#include "tenon/plugin/views.hpp"

namespace tenon::host {

std::shared_ptr<HostServices> HostServices::make(TextPairs conf, HostCallbacks callbacks) {
  return std::shared_ptr<HostServices>(new HostServices(std::move(conf), std::move(callbacks)));
}

HostServices::HostServices(TextPairs conf, HostCallbacks callbacks)
    : conf_(std::move(conf)),
      borrowed_conf_(borrow(conf_)),
      callbacks_(std::move(callbacks)),
      raw_(plugin::make<tenon_host>()),
      in_process_(plugin::make<tenon_in_process_executor_api>()),
      clock_(plugin::make<tenon_clock_api>()) {
  raw_.abi_minor = TENON_ABI_MINOR;
  raw_.name = TENON_STR("tenon");
  raw_.version = TENON_STR(TENON_VERSION);
  raw_.conf = plugin::array<tenon_pairs>(std::span<const tenon_pair>(borrowed_conf_));
  raw_.ctx = this;
  raw_.log = [](void* ctx, int32_t level, tenon_str logger, tenon_str message) {
    plugin::guard(nullptr,
                  [&] { of(ctx).log(level, plugin::view(logger), plugin::view(message)); });
  };
  raw_.get_extension = [](void* ctx, const char* id) -> const void* {
    return of(ctx).extension(id);
  };
  in_process_.start = [](void* ctx, const tenon_executor_args* args,
                         const tenon_executor_backend_api* backend, tenon_error* error) {
    return of(ctx).start_in_process(*args, *backend, error);
  };
  clock_.now_ns = [](void* ctx) -> int64_t {
    const Gate::Pass pass(of(ctx).open_);
    return pass ? of(ctx).callbacks_.now_ns() : 0;
  };
  clock_.call_after = [](void* ctx, int64_t delay_ns, void (*function)(void*), void* arg) {
    plugin::guard(nullptr, [&] { of(ctx).call_after(delay_ns, function, arg); });
  };
}

void HostServices::log(int32_t level, std::string_view logger, std::string_view message) {
  const Gate::Pass pass(open_);
  if (pass && callbacks_.log) callbacks_.log(level, logger, message);
}

void HostServices::close() {
  timers_.close();
  open_.close();
}

const void* HostServices::extension(std::string_view id) const {
  if (id == TENON_IN_PROCESS_EXECUTOR && callbacks_.start_in_process) return &in_process_;
  if (id == TENON_CLOCK && callbacks_.now_ns && callbacks_.call_after) return &clock_;
  return nullptr;
}

tenon_status HostServices::start_in_process(const tenon_executor_args& args,
                                            const tenon_executor_backend_api& backend,
                                            tenon_error* error) {
  return plugin::guard(error, [&] {
    const Gate::Pass pass(open_);
    if (!pass) throw plugin::Error(TENON_INVALID_STATE, "the driver has ended");
    InProcessRequest request = [&] {
      try {
        return read_request(args, backend);
      } catch (const Error& e) {
        throw plugin::Error(TENON_INVALID_ARGUMENT, e.message());
      }
    }();
    callbacks_.start_in_process(std::move(request));
  });
}

void HostServices::call_after(int64_t delay_ns, void (*function)(void*), void* arg) {
  const Gate::Pass pass(open_);
  if (!pass) return;
  callbacks_.call_after(delay_ns, [self = shared_from_this(), function, arg] {
    const Gate::Pass timer(self->timers_);
    if (timer) function(arg);
  });
}

}  // namespace tenon::host
