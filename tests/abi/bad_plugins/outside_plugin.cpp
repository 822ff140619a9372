// A sound plugin from outside the tree: it tells the log what is called, and takes an offer of two
// executors round.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "tenon/plugin/plugin.hpp"

namespace {

using namespace tenon::plugin;

class Scheduler final : public SchedulerBackend {
 public:
  Scheduler(const tenon_args& arguments, Core mailbox) : SchedulerBackend(arguments, mailbox) {
    tell("create " OUTSIDE_NAME);
  }
  ~Scheduler() override { tell("destroy"); }
  void start() override {
    tell("start");
    auto registration = make<tenon_registration>();
    registration.app_id = str("outside-1");
    core.registered(registration);
    core.ready();
  }
  void stop(int32_t exit_code) override {
    tell("stop " + std::to_string(exit_code));
    core.stopped();
  }
  void revive_offers() override {
    const std::array offers = {worker_offer("1", "host-a", 1, 0),
                               worker_offer("2", "host-b", 2, 3)};
    core.resource_offers(++offer_, TENON_OFFER_ALL_FREE, offers);
  }
  void launch_tasks(uint64_t offer, Tasks tasks) override {
    tell("launch " + std::to_string(offer) + " " + std::to_string(tasks.size()));
  }
  void kill_task(uint64_t, std::string_view, uint32_t, std::string_view) override {}

 private:
  void tell(std::string_view text) { host.log(TENON_LOG_INFO, "outside", text); }
  uint64_t offer_ = 0;
};

class Executor final : public ExecutorBackend {
 public:
  using ExecutorBackend::ExecutorBackend;
  void start() override { core.registered(); }
  void executor_ready() override {}
  void status_update(Statuses) override {}
  void stop() override { core.stopped(); }
};

constexpr tenon_str kSchemes[] = {TENON_STR("myclusterManager"), TENON_STR("my-alias")};
constexpr tenon_setting kSettings[] = {{TENON_STR("tenon.plugin.myclusterManager.queue"),
                                        TENON_STR("default"), TENON_STR("queue to ask in"),
                                        TENON_STR(""), TENON_SETTING_STRING, 0}};
constexpr tenon_submit_option kOptions[] = {{TENON_STR("--queue"), TENON_STR("NAME"),
                                             TENON_STR("tenon.plugin.myclusterManager.queue"),
                                             TENON_STR("queue to ask in")}};
constexpr tenon_description kDescription = {sizeof(tenon_description),
                                            TENON_DEPLOY_CLIENT | TENON_DEPLOY_CLUSTER,
                                            TENON_CAN_RESIZE | TENON_CAN_GIVE_LOGS,
                                            TENON_STR("comes from outside"),
                                            {kSchemes, 2, sizeof(tenon_str)},
                                            {kSettings, 1, sizeof(tenon_setting)},
                                            {kOptions, 1, sizeof(tenon_submit_option)}};

}  // namespace

TENON_PLUGIN(OUTSIDE_NAME, "1.2.3", Scheduler, Executor, kDescription)
