// Core's own endpoint in an executor: asks the driver, gets blocks of other executors, and gives
// its own (contract C29.20).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rdd/operator_registry.hpp"
#include "service/driver_client.hpp"
#include "shuffle/map_output_cache.hpp"
#include "shuffle/shuffle_reader.hpp"
#include "storage/block_manager.hpp"

namespace tenon::service {

struct ExecutorServiceOptions {
  std::string driver_address;  // from the bootstrap blob
  std::string executor_id, host;
  std::string address;                                  // to listen on: as for the driver's service
  uint64_t max_message_bytes = uint64_t{128} << 20;     // tenon.rpc.message.maxSize
  std::chrono::milliseconds ask_timeout{120'000};       // tenon.rpc.askTimeout
  std::chrono::milliseconds heartbeat_timeout{10'000};  // tenon.executor.heartbeatInterval
};

// Functions are [any-thread]. Those that block throw tenon::Error: unreachable when no answer came
// in time, else internal with the driver's own text.
class ExecutorService final : public DriverClient, public shuffle::BlockTransfer {
 public:
  // Throws tenon::Error when it cannot listen.
  explicit ExecutorService(ExecutorServiceOptions options);
  ~ExecutorService() override;  // stop()

  // Of this service; goes into the executor's BlockManagerId.
  [[nodiscard]] const std::string& address() const;

  // From now on gives blocks away and takes the driver's orders. Both outlive the service's stop().
  void serve(storage::BlockManager& blocks, shuffle::MapOutputCache& outputs);
  // Introduces the executor to the driver; throws when the driver refuses it, as when its modules
  // are others.
  void register_with_driver(const std::vector<rdd::Module>& modules);

  std::shared_ptr<const std::string> stage_binary(const std::string& id) override;
  std::shared_ptr<const std::string> broadcast(uint64_t id) override;
  shuffle::MapOutputsPtr map_outputs(int32_t shuffle, uint64_t epoch) override;
  void heartbeat(const Heartbeat& heartbeat, HeartbeatAnswered answered) override;
  void block_update(const storage::BlockUpdate& update) override;

  std::optional<shuffle::FetchedBlock> fetch(const task::BlockManagerId& from, int32_t shuffle,
                                             uint64_t map_id, int32_t reduce) override;

  // Ends the thread and the socket; calls that wait throw. Idempotent.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenon::service
