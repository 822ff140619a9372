// Core's mailboxes, as a plugin posts to them. Every call posts and returns: it may be made from
// any thread, from within any call of core's and under locks of the plugin's.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "tenon/plugin/abi.h"
#include "tenon/plugin/buffer.hpp"
#include "tenon/plugin/table.hpp"
#include "tenon/plugin/text.hpp"
#include "tenon/plugin/views.hpp"

namespace tenon::plugin {

// An offer of one executor without custom resources.
[[nodiscard]] inline tenon_worker_offer worker_offer(std::string_view executor_id,
                                                     std::string_view host, uint32_t free_cores,
                                                     uint32_t queue_slots) noexcept {
  tenon_worker_offer offer{};
  offer.executor_id = str(executor_id);
  offer.host = str(host);
  offer.free_cores = free_cores;
  offer.queue_slots = queue_slots;
  return offer;
}

// In the driver. A cheap value, valid until the backend's destructor returns.
class Core {
 public:
  explicit Core(const tenon_scheduler_events* events) noexcept : events_(events) {}

  void registered(const tenon_registration& registration) const noexcept {
    post<&tenon_scheduler_events::registered>(&registration);
  }
  void ready() const noexcept { post<&tenon_scheduler_events::ready>(); }
  void pending(std::string_view reason, std::string_view message,
               std::span<const tenon_pair> numbers = {}) const noexcept {
    post<&tenon_scheduler_events::pending>(str(reason), str(message), array<tenon_pairs>(numbers));
  }
  void executor_added(const tenon_executor_info& executor) const noexcept {
    post<&tenon_scheduler_events::executor_added>(&executor);
  }
  void executor_decommissioning(std::string_view executor_id, int64_t time_left_ms,
                                std::string_view message) const noexcept {
    post<&tenon_scheduler_events::executor_decommissioning>(str(executor_id), time_left_ms,
                                                            str(message));
  }
  void executor_loss_pending(std::string_view executor_id,
                             std::string_view message) const noexcept {
    post<&tenon_scheduler_events::executor_loss_pending>(str(executor_id), str(message));
  }
  void executor_removed(std::string_view executor_id, const tenon_loss& loss) const noexcept {
    post<&tenon_scheduler_events::executor_removed>(str(executor_id), &loss);
  }
  void worker_removed(std::string_view worker_id, std::string_view host,
                      std::string_view message) const noexcept {
    post<&tenon_scheduler_events::worker_removed>(str(worker_id), str(host), str(message));
  }
  void resource_offers(uint64_t offer, uint32_t flags,
                       std::span<const tenon_worker_offer> offers) const noexcept {
    post<&tenon_scheduler_events::resource_offers>(offer, flags,
                                                   array<tenon_worker_offers>(offers));
  }
  void status_update(Statuses statuses) const noexcept {
    if (has<&tenon_scheduler_events::status_update>(events_)) {
      events_->status_update(events_->ctx, statuses.release());
    }
  }
  void acknowledged(uint64_t request, tenon_status status,
                    std::span<const tenon_str> executor_ids = {}) const noexcept {
    post<&tenon_scheduler_events::acknowledged>(request, status, array<tenon_strs>(executor_ids));
  }
  void stopped() const noexcept { post<&tenon_scheduler_events::stopped>(); }
  void failed(tenon_status status, std::string_view message) const noexcept {
    post<&tenon_scheduler_events::failed>(status, str(message));
  }

 private:
  template <auto kEvent, class... Args>
  void post(Args... args) const noexcept {
    if (has<kEvent>(events_)) (events_->*kEvent)(events_->ctx, args...);
  }
  const tenon_scheduler_events* events_;
};

// In an executor. A cheap value, valid until the backend's destructor returns.
class ExecutorCore {
 public:
  explicit ExecutorCore(const tenon_executor_events* events) noexcept : events_(events) {}

  void registered() const noexcept { post<&tenon_executor_events::registered>(); }
  void launch_tasks(Tasks tasks) const noexcept {
    if (has<&tenon_executor_events::launch_tasks>(events_)) {
      events_->launch_tasks(events_->ctx, tasks.release());
    }
  }
  void kill_task(uint64_t task, uint32_t flags, std::string_view reason) const noexcept {
    post<&tenon_executor_events::kill_task>(task, flags, str(reason));
  }
  void shutdown(int32_t exit_code, std::string_view reason) const noexcept {
    post<&tenon_executor_events::shutdown>(exit_code, str(reason));
  }
  void failed(tenon_status status, std::string_view message) const noexcept {
    post<&tenon_executor_events::failed>(status, str(message));
  }
  void stopped() const noexcept { post<&tenon_executor_events::stopped>(); }

 private:
  template <auto kEvent, class... Args>
  void post(Args... args) const noexcept {
    if (has<kEvent>(events_)) (events_->*kEvent)(events_->ctx, args...);
  }
  const tenon_executor_events* events_;
};

}  // namespace tenon::plugin
