// A plugin that throws, by the argument of its URL: from guarded code, or right through the
// boundary.
#include <stdexcept>
#include <string>
#include <string_view>

#include "tenon/plugin/plugin.hpp"

namespace {

using namespace tenon::plugin;

class Scheduler final : public SchedulerBackend {
 public:
  Scheduler(const tenon_args& arguments, Core mailbox) : SchedulerBackend(arguments, mailbox) {
    const std::string_view what = view(args.master->args);
    if (what == "42") throw 42;
    if (what == "std") throw std::runtime_error("the disk is full");
    if (what == "argument") throw Error(TENON_INVALID_ARGUMENT, "'argument' is no number");
    if (what == "unavailable") throw Error(TENON_UNAVAILABLE, "nobody listens");
    if (what == "long") throw std::runtime_error(std::string(5000, 'x') + std::string(50, '\n'));
  }
  void start() override { throw 42; }
  void stop(int32_t) override {}
  void revive_offers() override {}
  void launch_tasks(uint64_t, Tasks) override {}
  void kill_task(uint64_t, std::string_view, uint32_t, std::string_view) override {}
};

class Executor final : public ExecutorBackend {
 public:
  using ExecutorBackend::ExecutorBackend;
  void start() override {}
  void executor_ready() override {}
  void status_update(Statuses) override {}
  void stop() override {}
};

#ifdef BAD_UNGUARDED
tenon_status create(const tenon_args* args, const tenon_scheduler_events* events,
                    tenon_scheduler_backend** out, tenon_error*) {
  *out = reinterpret_cast<tenon_scheduler_backend*>(new Scheduler(*args, Core(events)));
  return TENON_OK;
}
constexpr tenon_scheduler_backend_api unguarded() {
  auto api = SchedulerTable<Scheduler>::api;
  api.create = create;
  return api;
}
constexpr tenon_scheduler_backend_api kScheduler = unguarded();
#else
constexpr const tenon_scheduler_backend_api& kScheduler = SchedulerTable<Scheduler>::api;
#endif

constexpr tenon_str kSchemes[] = {TENON_STR(BAD_SCHEME)};
constexpr tenon_description kDescription = {sizeof(tenon_description),
                                            TENON_DEPLOY_CLIENT,
                                            0,
                                            TENON_STR("throws"),
                                            {kSchemes, 1, sizeof(tenon_str)},
                                            {nullptr, 0, sizeof(tenon_setting)},
                                            {nullptr, 0, sizeof(tenon_submit_option)}};

const void* interface(const char* id) {
  const std::string_view wanted(id);
  if (wanted == TENON_DESCRIPTION) return &kDescription;
  if (wanted == TENON_SCHEDULER_BACKEND) return &kScheduler;
  if (wanted == TENON_EXECUTOR_BACKEND) return &ExecutorTable<Executor>::api;
  return nullptr;
}

}  // namespace

extern "C" TENON_EXPORT const tenon_plugin* tenon_plugin_v0(void) {
  static constexpr tenon_plugin kPlugin = {
      sizeof(tenon_plugin),  TENON_ABI_MAJOR,    TENON_ABI_MINOR, 0,
      TENON_STR("throwing"), TENON_STR("0.1.0"), interface};
#ifdef BAD_ENTRY_THROWS
  throw std::runtime_error("the entry throws");
#endif
  return &kPlugin;
}
