// Where the outputs of map tasks lie, as the driver knows it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dag/job.hpp"
#include "task/end_reason.hpp"

namespace tenon::dag {

// What an executor gets of a shuffle before it reads it.
struct MapOutputs {
  int32_t shuffle_id = 0;
  uint64_t epoch = 0;  // of the tracker when this was made
  int32_t reduces = 0;
  std::vector<std::optional<task::MapStatus>> statuses;  // by map index; none: missing
};

// Throws tenon::Error (codec) on anything malformed; memory is taken only in proportion to the
// bytes.
[[nodiscard]] MapOutputs decode_map_outputs(std::string_view bytes);

// One thread: the scheduler loop's. A shuffle that is not registered has no outputs; taking away
// from it is no error.
class MapOutputTracker {
 public:
  MapOutputTracker() = default;
  MapOutputTracker(const MapOutputTracker&) = delete;
  MapOutputTracker& operator=(const MapOutputTracker&) = delete;

  // Does nothing when the shuffle is there already.
  void register_shuffle(int32_t shuffle_id, int32_t maps, int32_t reduces);
  [[nodiscard]] bool contains(int32_t shuffle_id) const { return shuffles_.contains(shuffle_id); }
  [[nodiscard]] size_t shuffles() const { return shuffles_.size(); }
  // Forgets the shuffle.
  void unregister_shuffle(int32_t shuffle_id);

  // A later output of the same map replaces the earlier. Throws tenon::Error (internal) when the
  // shuffle, the map or the number of sizes does not fit.
  void register_map_output(int32_t shuffle_id, int32_t map, const task::MapStatus& status);
  // Each of these raises the epoch, whatever it found (C16.1).
  void unregister_map_output(int32_t shuffle_id, int32_t map, const task::BlockManagerId& at);
  void unregister_all(int32_t shuffle_id);
  void remove_outputs_on_executor(std::string_view executor_id);
  void remove_outputs_on_host(std::string_view host);

  [[nodiscard]] uint64_t epoch() const { return epoch_; }
  void increment_epoch() { ++epoch_; }

  [[nodiscard]] int32_t available(int32_t shuffle_id) const;
  // Maps without an output, rising.
  [[nodiscard]] std::vector<int32_t> missing(int32_t shuffle_id) const;
  [[nodiscard]] MapOutputs outputs(int32_t shuffle_id) const;
  // The executor that holds the output of a map; null: missing. Good until the next change.
  [[nodiscard]] const std::string* executor_of(int32_t shuffle_id, int32_t map) const;
  // outputs() as bytes for an executor; made once until something changes. null: no such shuffle.
  [[nodiscard]] std::shared_ptr<const std::string> encoded(int32_t shuffle_id) const;
  [[nodiscard]] MapOutputStatistics statistics(int32_t shuffle_id) const;
  // Hosts that hold at least the fraction of a reduce partition's input, in the order of the maps
  // (C6.2). None for a shuffle of kMaxForLocality or more maps or reduces.
  [[nodiscard]] std::vector<std::string> hosts_with_big_outputs(int32_t shuffle_id, int32_t reduce,
                                                                double fraction) const;

  static constexpr int32_t kMaxForLocality = 1000;

 private:
  // An executor's address stands once for all outputs there.
  struct Output {
    int32_t location = -1;  // index into locations_; -1: missing
    uint64_t map_id = 0;
  };
  struct Shuffle {
    int32_t reduces = 0;
    int32_t available = 0;
    std::vector<Output> outputs;
    std::vector<uint64_t> sizes;  // map * reduces + reduce; empty until the first output
    mutable std::shared_ptr<const std::string> encoded;
    mutable uint64_t encoded_epoch = 0;
  };

  int32_t location_index(const task::BlockManagerId& location);
  [[nodiscard]] const Shuffle* find(int32_t shuffle_id) const;
  static void remove(Shuffle& shuffle, Output& output);
  template <class Match>
  void remove_where(Match match);
  [[nodiscard]] std::string encode(int32_t shuffle_id, const Shuffle& shuffle) const;

  uint64_t epoch_ = 0;
  std::map<int32_t, Shuffle> shuffles_;
  std::vector<task::BlockManagerId> locations_;
  std::unordered_map<std::string, std::vector<int32_t>> locations_by_executor_;
};

}  // namespace tenon::dag
