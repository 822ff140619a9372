#include "task/offer_round.hpp"

#include <iterator>

namespace tenon::task {
namespace {

constexpr uint64_t kWhole = 1000;  // thousandths of one address

}  // namespace

std::optional<std::vector<Resource>> take_resource(std::vector<Resource>& available,
                                                   const ResourceNeed& need) {
  const uint64_t part = need.amount < kWhole ? need.amount : kWhole;
  uint64_t left = need.amount < kWhole ? 1 : (need.amount + kWhole - 1) / kWhole;
  std::vector<Resource*> chosen;
  for (Resource& resource : available) {
    if (left == 0) break;
    if (resource.name != need.name || resource.amount < part) continue;
    chosen.push_back(&resource);
    --left;
  }
  if (left > 0) return std::nullopt;
  std::vector<Resource> taken;
  for (Resource* resource : chosen) {
    resource->amount -= part;
    taken.push_back({resource->name, resource->address, part});
  }
  return taken;
}

bool OpenOffer::has_resources(const Settings& settings) const {
  std::vector<Resource> trial = resources_;
  for (const ResourceNeed& need : settings.task_resources) {
    if (!take_resource(trial, need)) return false;
  }
  return true;
}

void OpenOffer::take(const Settings& settings, bool queued, Launch& launch) {
  if (queued) {
    --slots_;
    return;
  }
  cores_ -= settings.task_cpus;
  for (const ResourceNeed& need : settings.task_resources) {
    if (auto taken = take_resource(resources_, need)) {
      launch.resources.insert(launch.resources.end(), std::make_move_iterator(taken->begin()),
                              std::make_move_iterator(taken->end()));
    }
  }
}

}  // namespace tenon::task
