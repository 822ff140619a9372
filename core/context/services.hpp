// What executors ask of the driver apart from the plugin (contract C29.20): core's service in the
// driver with what it gives out, and the other end of it for executors in the driver's process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "conf/settings.hpp"
#include "executor/executor_host.hpp"
#include "service/driver_service.hpp"
#include "task/task_set.hpp"

namespace tenon::context {

// [any-thread] unless a function says otherwise.
class Services {
 public:
  // one_process: no executor is outside of this process. Throws Error when the service cannot
  // listen.
  Services(const conf::Settings& settings, bool one_process, service::DriverSources sources);

  // Findable for as long as somebody else holds the binary. On the loop's thread.
  void add_binary(const std::shared_ptr<const task::StageBinary>& binary);
  void add_broadcast(uint64_t id, std::string bytes);
  // Executors drop their copies; destroyed: nobody can fetch it any more, for that reason.
  void remove_broadcast(uint64_t id, std::optional<std::string> destroyed);
  void remove_rdd(int32_t rdd_id) { driver_->remove_rdd(rdd_id); }
  void remove_shuffle(int32_t shuffle_id) { driver_->remove_shuffle(shuffle_id); }
  void forget_executor(const std::string& executor_id) { driver_->forget_executor(executor_id); }
  // A result that its executor kept because it was large; answered once, on the service's thread.
  void take_result(const task::BlockManagerId& from, uint64_t task_id,
                   std::function<void(std::optional<std::string>)> answered) {
    driver_->take_result(from, task_id, std::move(answered));
  }

  // What an executor in this process is made of; waits for the driver's service to accept it.
  // Throws Error when it does not.
  [[nodiscard]] executor::ExecutorParts make_parts(const std::string& executor_id);
  // What the executors in this process keep, in bytes; cached and on_disk: partitions of Rdds.
  struct Usage {
    uint64_t cached = 0, on_disk = 0, map_outputs = 0;
  };
  [[nodiscard]] Usage usage() const;

  // Executors go from now on.
  void begin_stop() { driver_->begin_stop(); }
  // Idempotent.
  void stop() { driver_->stop(); }

 private:
  void drop_unused_binaries();

  const conf::Settings& settings_;
  service::BlobStore binaries_, broadcasts_;
  std::vector<std::shared_ptr<const task::StageBinary>> known_binaries_;  // the loop's thread alone
  size_t next_drop_ = 64;
  std::unique_ptr<service::DriverService> driver_;
  mutable std::mutex mutex_;                                      // guards executors_
  std::vector<std::weak_ptr<executor::TaskServices>> executors_;  // in this process
};

// Limit of an executor's cached partitions, in bytes.
[[nodiscard]] uint64_t storage_bytes(const conf::Settings& settings);

}  // namespace tenon::context
