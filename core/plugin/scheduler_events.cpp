#include "plugin/scheduler_events.hpp"

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugin/convert.hpp"
#include "tenon/plugin/buffer.hpp"
#include "tenon/plugin/text.hpp"
#include "tenon/plugin/views.hpp"

namespace tenon::host {
namespace {

SchedulerEvents& of(void* ctx) { return *static_cast<SchedulerEvents*>(ctx); }

std::optional<task::TaskState> task_state(int32_t state) {
  switch (state) {
    case TENON_TASK_RUNNING:
      return task::TaskState::running;
    case TENON_TASK_FINISHED:
      return task::TaskState::finished;
    case TENON_TASK_FAILED:
      return task::TaskState::failed;
    case TENON_TASK_KILLED:
      return task::TaskState::killed;
    case TENON_TASK_LOST:
      return task::TaskState::lost;
    case TENON_TASK_RETURNED:
      return task::TaskState::returned;
    default:
      return std::nullopt;
  }
}

bool has_data(task::TaskState state) {
  return state == task::TaskState::finished || state == task::TaskState::failed ||
         state == task::TaskState::killed;
}

}  // namespace

SchedulerEvents::SchedulerEvents(task::BackendEvents& events, StatusDecoder decoder,
                                 HostServices& host)
    : events_(events),
      decoder_(std::move(decoder)),
      host_(host),
      raw_(plugin::make<tenon_scheduler_events>()) {
  fill_table();
}

template <class Event>
void SchedulerEvents::run(const char* name, Event&& event) noexcept {
  const Gate::Pass pass(gate_);
  if (!pass) return;
  try {
    event();
  } catch (const std::exception& e) {
    host_.log(TENON_LOG_ERROR, "plugin",
              std::string("event ") + name + " was dropped: " + e.what());
  } catch (...) {
    host_.log(TENON_LOG_ERROR, "plugin", std::string("event ") + name + " was dropped");
  }
}

void SchedulerEvents::misbehaves(std::string_view what) {
  host_.log(TENON_LOG_MISBEHAVING, "plugin", what);
}

void SchedulerEvents::fill_table() {
  raw_.ctx = this;
  raw_.registered = [](void* ctx, const tenon_registration* registration) {
    of(ctx).run("registered", [&] { of(ctx).registered(*registration); });
  };
  raw_.ready = [](void* ctx) { of(ctx).run("ready", [&] { of(ctx).events_.ready(); }); };
  raw_.pending = [](void* ctx, tenon_str reason, tenon_str message, tenon_pairs numbers) {
    of(ctx).run("pending",
                [&] { of(ctx).events_.pending(text(reason), text(message), text_map(numbers)); });
  };
  raw_.executor_added = [](void* ctx, const tenon_executor_info* executor) {
    of(ctx).run("executor_added", [&] { of(ctx).executor_added(*executor); });
  };
  raw_.executor_decommissioning = [](void* ctx, tenon_str id, int64_t time_left_ms,
                                     tenon_str message) {
    of(ctx).run("executor_decommissioning", [&] {
      of(ctx).events_.executor_decommissioning(text(id), time_left_ms, text(message));
    });
  };
  raw_.executor_loss_pending = [](void* ctx, tenon_str id, tenon_str message) {
    of(ctx).run("executor_loss_pending",
                [&] { of(ctx).events_.executor_loss_pending(text(id), text(message)); });
  };
  raw_.executor_removed = [](void* ctx, tenon_str id, const tenon_loss* loss) {
    of(ctx).run("executor_removed",
                [&] { of(ctx).events_.executor_removed(text(id), loss_reason(*loss)); });
  };
  raw_.worker_removed = [](void* ctx, tenon_str id, tenon_str host, tenon_str message) {
    of(ctx).run("worker_removed",
                [&] { of(ctx).events_.worker_removed(text(id), text(host), text(message)); });
  };
  raw_.resource_offers = [](void* ctx, uint64_t offer, uint32_t flags, tenon_worker_offers offers) {
    of(ctx).run("resource_offers", [&] { of(ctx).resource_offers(offer, flags, offers); });
  };
  raw_.status_update = [](void* ctx, tenon_task_statuses statuses) {
    of(ctx).status_update(statuses);
  };
  raw_.acknowledged = [](void* ctx, uint64_t request, tenon_status status, tenon_strs ids) {
    of(ctx).run("acknowledged",
                [&] { of(ctx).events_.acknowledged(request, status == TENON_OK, texts(ids)); });
  };
  raw_.stopped = [](void* ctx) { of(ctx).run("stopped", [&] { of(ctx).events_.stopped(); }); };
  raw_.failed = [](void* ctx, tenon_status status, tenon_str message) {
    of(ctx).run("failed", [&] { of(ctx).events_.failed(error_kind(status), text(message)); });
  };
}

void SchedulerEvents::registered(const tenon_registration& registration) {
  max_payload_bytes_ = registration.max_payload_bytes;
  events_.registered({.reset = (registration.flags & TENON_REGISTRATION_RESET) != 0,
                      .app_id = text(registration.app_id),
                      .attempt_id = text(registration.attempt_id),
                      .default_parallelism = registration.default_parallelism,
                      .max_task_failures = registration.max_task_failures,
                      .max_payload_bytes = registration.max_payload_bytes});
}

void SchedulerEvents::executor_added(const tenon_executor_info& executor) {
  if (plugin::view(executor.id).empty()) return misbehaves("executor_added without an id");
  events_.executor_added({.id = text(executor.id),
                          .host = text(executor.host),
                          .address = text(executor.address),
                          .incarnation = executor.incarnation,
                          .cores = executor.cores,
                          .attributes = text_map(executor.attributes),
                          .log_urls = text_map(executor.log_urls)});
}

void SchedulerEvents::resource_offers(uint64_t offer, uint32_t flags,
                                      const tenon_worker_offers& offers) {
  auto scope = task::OfferScope::some_executors;
  if ((flags & TENON_OFFER_ALL_FREE) != 0) scope = task::OfferScope::all_free;
  if ((flags & TENON_OFFER_SINGLE_EXECUTOR) != 0) scope = task::OfferScope::single_executor;
  std::vector<task::WorkerOffer> rows;
  rows.reserve(offers.count);
  for (const tenon_worker_offer row : plugin::View<tenon_worker_offers>(offers)) {
    if (plugin::view(row.executor_id).empty()) {
      misbehaves("resource_offers with a row without an executor id");
      continue;  // the offer itself still gets its answer
    }
    rows.push_back({.executor_id = text(row.executor_id),
                    .host = text(row.host),
                    .address = text(row.address),
                    .free_cores = row.free_cores,
                    .queue_slots = row.queue_slots,
                    .resources = resources(row.resources),
                    .attributes = text_map(row.attributes)});
  }
  events_.resource_offers(offer, scope, std::move(rows));
}

void SchedulerEvents::status_update(tenon_task_statuses statuses) {
  const plugin::Statuses owned(statuses);  // releases the data also when the event is dropped
  run("status_update", [&] {
    std::vector<task::StatusUpdate> updates;
    updates.reserve(owned.size());
    for (size_t i = 0; i < owned.size(); ++i) {
      const tenon_task_status status = owned[i];
      const auto state = task_state(status.state);
      if (!state) {
        misbehaves("status " + std::to_string(status.state) + " of task " +
                   std::to_string(status.id) + " is not known");
        continue;
      }
      task::StatusUpdate& update = updates.emplace_back();
      update.task_id = status.id;
      update.executor_id = plugin::view(status.executor_id);
      update.state = *state;
      if (has_data(*state)) {
        update.reason =
            decode(*state, plugin::view(tenon_bytes{status.data.data, status.data.size}));
      }
    }
    if (!updates.empty()) events_.status_update(std::move(updates));
  });
}

task::EndReason SchedulerEvents::decode(task::TaskState state,
                                        std::span<const std::byte> data) const {
  try {
    return decoder_(state, data);
  } catch (const std::exception& e) {
    return task::UnknownReason{std::string("the status cannot be read: ") + e.what()};
  } catch (...) {
    return task::UnknownReason{"the status cannot be read"};
  }
}

}  // namespace tenon::host
