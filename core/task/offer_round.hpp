// What is left of the offers while tasks are put on them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "task/backend.hpp"
#include "task/cluster.hpp"
#include "task/settings.hpp"

namespace tenon::task {

// One executor's offer in the course of a round.
class OpenOffer {
 public:
  OpenOffer(NameId executor, size_t position, const WorkerOffer& offer, const Settings& settings)
      : executor_(executor),
        position_(position),
        cores_(offer.free_cores),
        slots_(offer.queue_slots),
        resources_(settings.task_resources.empty() ? std::vector<Resource>{} : offer.resources) {}

  [[nodiscard]] NameId executor() const { return executor_; }
  [[nodiscard]] size_t position() const { return position_; }  // in the message
  [[nodiscard]] uint32_t cores() const { return cores_; }
  [[nodiscard]] uint32_t slots() const { return slots_; }

  // Is there room for another task, at once or in the executor's queue (C7.4)?
  [[nodiscard]] bool fits(const Settings& settings, bool queued) const {
    if (queued) return slots_ > 0;
    return cores_ >= settings.task_cpus &&
           (settings.task_resources.empty() || has_resources(settings));
  }
  // Takes that room and writes what the task got into launch.
  void take(const Settings& settings, bool queued, Launch& launch);

 private:
  [[nodiscard]] bool has_resources(const Settings& settings) const;

  NameId executor_;
  size_t position_;
  uint32_t cores_, slots_;
  std::vector<Resource> resources_;
};

// Takes the needed amount from the addresses: a part of one address, or whole addresses. Nothing is
// taken when there is not enough.
[[nodiscard]] std::optional<std::vector<Resource>> take_resource(std::vector<Resource>& available,
                                                                 const ResourceNeed& need);

}  // namespace tenon::task
