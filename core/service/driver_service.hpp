// Core's own endpoint in the driver: what executors ask and tell, and what the driver asks of their
// blocks (contract C29.20).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rdd/operator_registry.hpp"
#include "service/blob_store.hpp"
#include "service/driver_client.hpp"
#include "shuffle/map_outputs.hpp"
#include "storage/memory_store.hpp"
#include "task/end_reason.hpp"

namespace tenon::service {

// Where the service gets its answers. Called on the service's thread: each posts to the scheduler
// loop and returns; the answer is given once, on any thread.
struct DriverSources {
  // The executor's news; the answer: is it to report its blocks anew (C18.11)?
  std::function<void(Heartbeat, std::function<void(bool reregister)>)> heartbeat;
  // The statuses of a shuffle, of the tracker's epoch; nothing: no such shuffle.
  std::function<void(int32_t shuffle, uint64_t epoch,
                     std::function<void(std::optional<shuffle::MapOutputs>)>)>
      map_outputs;
  // Needs no answer.
  std::function<void(std::string executor_id, storage::BlockUpdate)> block_update;
};

struct DriverServiceOptions {
  // inproc:// of a name of its own when the backend is of one process, else "tcp://127.0.0.1:*".
  std::string address;
  uint64_t max_message_bytes = uint64_t{128} << 20;  // tenon.rpc.message.maxSize
  std::chrono::milliseconds ask_timeout{120'000};    // tenon.rpc.askTimeout
  std::vector<rdd::Module> modules;                  // of the driver: executors must have the same
};

// Functions are [any-thread].
class DriverService {
 public:
  // The stores outlive the service. Throws tenon::Error when it cannot listen.
  DriverService(DriverServiceOptions options, const BlobStore& stage_binaries,
                const BlobStore& broadcasts, DriverSources sources);
  ~DriverService();  // stop()
  DriverService(const DriverService&) = delete;
  DriverService& operator=(const DriverService&) = delete;

  // What executors connect to; part of the bootstrap blob.
  [[nodiscard]] const std::string& address() const;

  // Takes a result that was too large for a status out of the executor (C11.3); answered once, on
  // the service's thread: nothing when it is gone or the executor does not answer.
  void take_result(const task::BlockManagerId& from, uint64_t task_id,
                   std::function<void(std::optional<std::string>)> answered);

  // Orders to all executors that have introduced themselves and were not forgotten.
  void remove_rdd(int32_t rdd);
  void remove_shuffle(int32_t shuffle);
  void remove_broadcast(uint64_t id);
  // The executor is gone: no more orders to it.
  void forget_executor(const std::string& executor_id);

  // Executors go from now on, with orders still on their way to them. [any-thread]
  void begin_stop();
  // Ends the thread and the socket; asks that wait are answered with nothing. Idempotent.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "inproc://tenon-driver-7": a name that no other service of the process has.
[[nodiscard]] std::string unique_inproc_address(const std::string& role);

// What distinguishes two lists of modules, for people; empty when an executor with the second may
// run the driver's program.
[[nodiscard]] std::string compare_modules(const std::vector<rdd::Module>& driver,
                                          const std::vector<rdd::Module>& executor);

}  // namespace tenon::service
