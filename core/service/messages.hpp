// Messages between core's endpoints in the driver and in the executors. Decoders throw wire::Error
// (malformed).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rdd/operator_registry.hpp"
#include "service/driver_client.hpp"
#include "shuffle/map_outputs.hpp"
#include "storage/memory_store.hpp"
#include "wire/message.hpp"

namespace tenon::service {

constexpr std::string_view kDriverEndpoint = "driver";
constexpr std::string_view kExecutorEndpoint = "executor";

enum class MessageType : uint32_t {
  // to the driver
  register_executor = 1,
  heartbeat = 2,
  map_outputs = 3,
  stage_binary = 4,
  broadcast = 5,
  block_update = 6,
  // to an executor
  shuffle_block = 32,
  take_result = 33,
  remove_rdd = 34,
  remove_shuffle = 35,
  remove_broadcast = 36,
  // answers
  accepted = 64,
  heartbeat_answer = 65,
  map_outputs_answer = 66,
  blob = 67,
  shuffle_block_answer = 68,
};

// An executor introduces itself. The modules are those that registered operators, in load order.
struct RegisterExecutor {
  std::string executor_id, host, endpoint;
  std::vector<rdd::Module> modules;
};

struct ShuffleBlockId {
  int32_t shuffle = 0;
  uint64_t map_id = 0;
  int32_t reduce = 0;
};

[[nodiscard]] wire::MessageWriter writer(MessageType type);
// Reads an answer; throws wire::Error (malformed) when it is of another type.
[[nodiscard]] wire::MessageReader reader(std::string_view message, MessageType expected);

[[nodiscard]] std::string encode(const RegisterExecutor& message);
[[nodiscard]] RegisterExecutor decode_register(wire::MessageReader& in);

[[nodiscard]] std::string encode(const Heartbeat& message);
[[nodiscard]] Heartbeat decode_heartbeat(wire::MessageReader& in);

[[nodiscard]] std::string encode(const shuffle::MapOutputs& outputs);
[[nodiscard]] shuffle::MapOutputs decode_map_outputs(wire::MessageReader& in);

[[nodiscard]] std::string encode(const std::string& executor_id,
                                 const storage::BlockUpdate& update);
[[nodiscard]] std::pair<std::string, storage::BlockUpdate> decode_block_update(
    wire::MessageReader& in);

[[nodiscard]] std::string encode(const ShuffleBlockId& id);
[[nodiscard]] ShuffleBlockId decode_shuffle_block_id(wire::MessageReader& in);

}  // namespace tenon::service
