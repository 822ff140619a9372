// What an executor asks of its driver and tells it, apart from what goes through the plugin
// (contract C29.20).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shuffle/map_outputs.hpp"
#include "storage/memory_store.hpp"
#include "tenon/status.hpp"

namespace tenon::service {

struct Heartbeat {
  std::string executor_id;
  std::vector<std::pair<uint64_t, TaskMetrics>> running;  // by task id
};

// All [any-thread]. The functions that return something block, and throw tenon::Error when there is
// no answer in time.
class DriverClient {
 public:
  DriverClient() = default;
  virtual ~DriverClient() = default;
  DriverClient(const DriverClient&) = delete;
  DriverClient& operator=(const DriverClient&) = delete;

  // Throws when the driver does not have it (any more).
  [[nodiscard]] virtual std::shared_ptr<const std::string> stage_binary(const std::string& id) = 0;
  [[nodiscard]] virtual std::shared_ptr<const std::string> broadcast(uint64_t id) = 0;
  [[nodiscard]] virtual shuffle::MapOutputsPtr map_outputs(int32_t shuffle, uint64_t epoch) = 0;

  // Returns at once; answered() is called once, on another thread: did the driver answer, and does
  // it want the executor's blocks to be reported anew?
  using HeartbeatAnswered = std::function<void(bool ok, bool reregister)>;
  virtual void heartbeat(const Heartbeat& heartbeat, HeartbeatAnswered answered) = 0;
  // Only queues.
  virtual void block_update(const storage::BlockUpdate& update) = 0;
};

}  // namespace tenon::service
