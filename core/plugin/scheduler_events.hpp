// A plugin's events in the driver, checked and converted on the plugin's thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "plugin/gate.hpp"
#include "plugin/host_services.hpp"
#include "task/backend.hpp"
#include "tenon/plugin/abi.h"

namespace tenon::host {

// Reads the data of a FINISHED, FAILED or KILLED status, on the thread that brought it. What it
// throws becomes an UnknownReason.
using StatusDecoder = std::function<task::EndReason(task::TaskState, std::span<const std::byte>)>;

// The table tenon_scheduler_events over a task::BackendEvents. No exception leaves a function of
// it: what goes wrong in one is logged.
class SchedulerEvents {
 public:
  // events and host outlive this, or close() is called before they go.
  SchedulerEvents(task::BackendEvents& events, StatusDecoder decoder, HostServices& host);
  SchedulerEvents(const SchedulerEvents&) = delete;
  SchedulerEvents& operator=(const SchedulerEvents&) = delete;

  [[nodiscard]] const tenon_scheduler_events* raw() const { return &raw_; }
  [[nodiscard]] uint64_t max_payload_bytes() const { return max_payload_bytes_; }
  // From now on events are dropped. Returns when none is under way.
  void close() { gate_.close(); }

 private:
  void fill_table();
  template <class Event>
  void run(const char* name, Event&& event) noexcept;
  void misbehaves(std::string_view what);

  void registered(const tenon_registration& registration);
  void executor_added(const tenon_executor_info& executor);
  void resource_offers(uint64_t offer, uint32_t flags, const tenon_worker_offers& offers);
  void status_update(tenon_task_statuses statuses);
  task::EndReason decode(task::TaskState state, std::span<const std::byte> data) const;

  task::BackendEvents& events_;
  const StatusDecoder decoder_;
  HostServices& host_;
  Gate gate_;
  std::atomic<uint64_t> max_payload_bytes_ = 0;
  tenon_scheduler_events raw_;
};

}  // namespace tenon::host
