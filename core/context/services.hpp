// What executors ask of the driver apart from the plugin: stage binaries, broadcasts, map outputs; and what the driver knows of the
// executors in its own process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/executor_host.hpp"
#include "service/driver_client.hpp"
#include "shuffle/map_outputs.hpp"
#include "storage/block_manager.hpp"
#include "task/task_set.hpp"

namespace tenon::context {

// [any-thread]
class Services {
 public:
  struct Sources {
    // Answers later, from the loop; nullptr for a shuffle that is not there.
    std::function<void(int32_t shuffle, std::function<void(shuffle::MapOutputsPtr)> answer)> map_outputs;
    std::function<void(const std::string& executor_id, const storage::BlockUpdate&)> block_update;
    std::function<void(service::Heartbeat, std::function<void(bool reregister)> answer)> heartbeat;
  };
  Services(Sources sources, std::chrono::nanoseconds ask_timeout);
  ~Services();

  // Keeps the binary findable for as long as the task set holds it.
  void add_binary(const std::shared_ptr<const task::StageBinary>& binary);
  void add_broadcast(uint64_t id, std::string bytes);
  // Executors drop their copies; destroy: nobody can fetch it any more.
  void remove_broadcast(uint64_t id, bool destroy);
  void remove_rdd(int32_t rdd_id);

  // What an executor in this process is made of. storage_bytes: limit of its cached partitions.
  [[nodiscard]] executor::ExecutorParts make_parts(const std::string& executor_id, uint64_t storage_bytes);
  // Puts the value that an executor of this process kept, because it was large, into the result. Leaves it when it is not there.
  void fetch_value(task::TaskResult& result, uint64_t task_id);

 private:
  struct State;
  class Client;
  std::shared_ptr<State> state_;
};

}  // namespace tenon::context
