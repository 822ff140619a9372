#include "dag/map_output_tracker.hpp"

#include <algorithm>

#include "tenon/error.hpp"

namespace tenon::dag {

void MapOutputTracker::register_shuffle(int32_t shuffle_id, int32_t maps, int32_t reduces) {
  const auto [entry, added] = shuffles_.try_emplace(shuffle_id);
  if (!added) return;
  entry->second.reduces = reduces;
  entry->second.outputs.resize(static_cast<size_t>(maps));
}

void MapOutputTracker::unregister_shuffle(int32_t shuffle_id) {
  if (shuffles_.erase(shuffle_id) > 0) ++epoch_;
}

int32_t MapOutputTracker::location_index(const task::BlockManagerId& location) {
  std::vector<int32_t>& known = locations_by_executor_[location.executor_id];
  for (const int32_t index : known) {
    if (locations_[static_cast<size_t>(index)] == location) return index;
  }
  known.push_back(static_cast<int32_t>(locations_.size()));
  locations_.push_back(location);
  return known.back();
}

const MapOutputTracker::Shuffle* MapOutputTracker::find(int32_t shuffle_id) const {
  const auto found = shuffles_.find(shuffle_id);
  return found == shuffles_.end() ? nullptr : &found->second;
}

void MapOutputTracker::register_map_output(int32_t shuffle_id, int32_t map,
                                           const task::MapStatus& status) {
  const auto found = shuffles_.find(shuffle_id);
  const auto place = static_cast<size_t>(map);
  if (found == shuffles_.end() || map < 0 || place >= found->second.outputs.size() ||
      status.sizes.size() != static_cast<size_t>(found->second.reduces)) {
    throw Error(ErrorKind::internal, "the output of map " + std::to_string(map) + " of shuffle " +
                                         std::to_string(shuffle_id) + " with " +
                                         std::to_string(status.sizes.size()) +
                                         " sizes does not fit the shuffle");
  }
  Shuffle& shuffle = found->second;
  const auto reduces = static_cast<size_t>(shuffle.reduces);
  if (shuffle.sizes.empty()) shuffle.sizes.resize(shuffle.outputs.size() * reduces);
  Output& output = shuffle.outputs[place];
  if (output.location < 0) ++shuffle.available;
  output.location = location_index(status.location);
  output.map_id = status.map_id;
  std::copy(status.sizes.begin(), status.sizes.end(),
            shuffle.sizes.begin() + static_cast<std::ptrdiff_t>(place * reduces));
  shuffle.encoded.reset();
}

void MapOutputTracker::remove(Shuffle& shuffle, Output& output) {
  output = Output{};
  --shuffle.available;
  shuffle.encoded.reset();
}

void MapOutputTracker::unregister_map_output(int32_t shuffle_id, int32_t map,
                                             const task::BlockManagerId& at) {
  ++epoch_;
  const auto found = shuffles_.find(shuffle_id);
  if (found == shuffles_.end() || map < 0) return;
  Shuffle& shuffle = found->second;
  if (static_cast<size_t>(map) >= shuffle.outputs.size()) return;
  Output& output = shuffle.outputs[static_cast<size_t>(map)];
  if (output.location < 0 || locations_[static_cast<size_t>(output.location)] != at) return;
  remove(shuffle, output);
}

void MapOutputTracker::unregister_all(int32_t shuffle_id) {
  ++epoch_;
  const auto found = shuffles_.find(shuffle_id);
  if (found == shuffles_.end()) return;
  for (Output& output : found->second.outputs) {
    if (output.location >= 0) remove(found->second, output);
  }
}

template <class Match>
void MapOutputTracker::remove_where(Match match) {
  ++epoch_;
  std::vector<bool> gone(locations_.size());
  for (size_t i = 0; i < locations_.size(); ++i) gone[i] = match(locations_[i]);
  for (auto& [id, shuffle] : shuffles_) {
    for (Output& output : shuffle.outputs) {
      if (output.location >= 0 && gone[static_cast<size_t>(output.location)]) {
        remove(shuffle, output);
      }
    }
  }
}

void MapOutputTracker::remove_outputs_on_executor(std::string_view executor_id) {
  remove_where([=](const task::BlockManagerId& at) { return at.executor_id == executor_id; });
}

void MapOutputTracker::remove_outputs_on_host(std::string_view host) {
  remove_where([=](const task::BlockManagerId& at) { return at.host == host; });
}

int32_t MapOutputTracker::available(int32_t shuffle_id) const {
  const Shuffle* shuffle = find(shuffle_id);
  return shuffle == nullptr ? 0 : shuffle->available;
}

std::vector<int32_t> MapOutputTracker::missing(int32_t shuffle_id) const {
  std::vector<int32_t> missing;
  const Shuffle* shuffle = find(shuffle_id);
  if (shuffle == nullptr) return missing;
  missing.reserve(shuffle->outputs.size() - static_cast<size_t>(shuffle->available));
  for (size_t map = 0; map < shuffle->outputs.size(); ++map) {
    if (shuffle->outputs[map].location < 0) missing.push_back(static_cast<int32_t>(map));
  }
  return missing;
}

MapOutputs MapOutputTracker::outputs(int32_t shuffle_id) const {
  MapOutputs result;
  result.shuffle_id = shuffle_id;
  result.epoch = epoch_;
  const Shuffle* shuffle = find(shuffle_id);
  if (shuffle == nullptr) return result;
  result.reduces = shuffle->reduces;
  result.statuses.resize(shuffle->outputs.size());
  for (size_t map = 0; map < shuffle->outputs.size(); ++map) {
    const Output& output = shuffle->outputs[map];
    if (output.location < 0) continue;
    const auto begin = shuffle->sizes.begin() +
                       static_cast<std::ptrdiff_t>(map * static_cast<size_t>(shuffle->reduces));
    result.statuses[map] =
        task::MapStatus{locations_[static_cast<size_t>(output.location)],
                        std::vector<uint64_t>(begin, begin + shuffle->reduces), output.map_id};
  }
  return result;
}

const std::string* MapOutputTracker::executor_of(int32_t shuffle_id, int32_t map) const {
  const Shuffle* shuffle = find(shuffle_id);
  if (shuffle == nullptr) return nullptr;
  const Output& output = shuffle->outputs.at(static_cast<size_t>(map));
  if (output.location < 0) return nullptr;
  return &locations_[static_cast<size_t>(output.location)].executor_id;
}

std::shared_ptr<const std::string> MapOutputTracker::encoded(int32_t shuffle_id) const {
  const Shuffle* shuffle = find(shuffle_id);
  if (shuffle == nullptr) return nullptr;
  if (!shuffle->encoded || shuffle->encoded_epoch != epoch_) {
    shuffle->encoded = std::make_shared<const std::string>(encode(shuffle_id, *shuffle));
    shuffle->encoded_epoch = epoch_;
  }
  return shuffle->encoded;
}

MapOutputStatistics MapOutputTracker::statistics(int32_t shuffle_id) const {
  MapOutputStatistics statistics;
  statistics.shuffle_id = shuffle_id;
  const Shuffle* shuffle = find(shuffle_id);
  if (shuffle == nullptr) return statistics;
  const auto reduces = static_cast<size_t>(shuffle->reduces);
  statistics.bytes_by_partition.resize(reduces);
  for (size_t map = 0; map < shuffle->outputs.size(); ++map) {
    if (shuffle->outputs[map].location < 0) continue;
    for (size_t reduce = 0; reduce < reduces; ++reduce) {
      statistics.bytes_by_partition[reduce] += shuffle->sizes[map * reduces + reduce];
    }
  }
  return statistics;
}

std::vector<std::string> MapOutputTracker::hosts_with_big_outputs(int32_t shuffle_id,
                                                                  int32_t reduce,
                                                                  double fraction) const {
  const Shuffle* shuffle = find(shuffle_id);
  if (shuffle == nullptr || shuffle->available == 0 || reduce < 0 || reduce >= shuffle->reduces)
    return {};
  if (shuffle->outputs.size() >= kMaxForLocality || shuffle->reduces >= kMaxForLocality) return {};
  std::vector<std::pair<std::string_view, uint64_t>>
      by_host;  // few hosts, in the order of the maps
  uint64_t total = 0;
  for (size_t map = 0; map < shuffle->outputs.size(); ++map) {
    const Output& output = shuffle->outputs[map];
    if (output.location < 0) continue;
    const uint64_t size =
        shuffle->sizes[map * static_cast<size_t>(shuffle->reduces) + static_cast<size_t>(reduce)];
    const std::string_view host = locations_[static_cast<size_t>(output.location)].host;
    total += size;
    const auto entry = std::find_if(by_host.begin(), by_host.end(),
                                    [host](const auto& each) { return each.first == host; });
    if (entry == by_host.end()) {
      by_host.emplace_back(host, size);
    } else {
      entry->second += size;
    }
  }
  std::vector<std::string> hosts;
  for (const auto& [host, size] : by_host) {
    if (size > 0 && static_cast<double>(size) >= fraction * static_cast<double>(total)) {
      hosts.emplace_back(host);
    }
  }
  return hosts;
}

}  // namespace tenon::dag
