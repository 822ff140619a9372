// What the task scheduler takes from the settings of the application.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "task/pool_file.hpp"

namespace tenon::task {

struct ResourceNeed {
  std::string name;     // "gpu"
  uint64_t amount = 0;  // thousandths; under 1000 a part of one address, else whole addresses
};

struct Settings {
  uint32_t task_cpus = 1;                    // tenon.task.cpus
  std::vector<ResourceNeed> task_resources;  // tenon.task.resource.*.amount
  int32_t max_task_failures = 4;             // tenon.task.maxFailures
  std::string mode = "FIFO";                 // tenon.scheduler.mode
  std::optional<std::string> pool_file;      // tenon.scheduler.allocation.file
  std::vector<std::string> pool_folders;     // where pools.toml is looked for without the key
  std::chrono::nanoseconds starvation_timeout =
      std::chrono::seconds(15);  // tenon.starvation.timeout
  std::chrono::nanoseconds revive_interval =
      std::chrono::seconds(1);  // tenon.scheduler.revive.interval
  std::chrono::nanoseconds max_wait =
      std::chrono::minutes(10);  // tenon.scheduler.maxWait; 0: for ever
  std::chrono::nanoseconds launch_ahead_max_task_time =
      std::chrono::milliseconds(10);  // tenon.scheduler.launchAhead.maxTaskTime
  std::chrono::nanoseconds exception_print_interval =
      std::chrono::seconds(10);  // tenon.logging.exceptionPrintInterval
  // Longest wait for the reason of a loss that only a LOST status told of.
  std::chrono::nanoseconds loss_reason_wait = std::chrono::milliseconds(100);
  uint64_t rpc_message_max_bytes = 128ULL << 20;  // tenon.rpc.message.maxSize
  int32_t default_parallelism = 0;                // tenon.default.parallelism; 0: not set
  bool is_one_process = false;                    // the backend says so: no starvation warning
  bool shuffle_offers = true;                     // off in tests that need an order
};

}  // namespace tenon::task
