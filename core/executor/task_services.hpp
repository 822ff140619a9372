// What the tasks of one executor share.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "executor/stage_plan.hpp"
#include "service/driver_client.hpp"
#include "shuffle/map_output_cache.hpp"
#include "shuffle/shuffle_reader.hpp"
#include "storage/block_manager.hpp"
#include "task/end_reason.hpp"

namespace tenon::executor {

struct ExecutorOptions {
  task::BlockManagerId location;  // id and host of the executor, endpoint of its service
  uint32_t cores = 1;
  uint64_t max_result_bytes = uint64_t{1} << 30;         // tenon.driver.maxResultSize; 0: no limit
  uint64_t max_direct_result_bytes = uint64_t{1} << 20;  // tenon.task.maxDirectResultSize
  std::chrono::milliseconds heartbeat_interval{10'000};  // tenon.executor.heartbeatInterval
  uint32_t heartbeat_max_failures = 60;                  // tenon.executor.heartbeat.maxFailures
  uint64_t random_seed = 0;                              // of the first heartbeat's delay
};

// All referenced outlive the executor.
struct TaskServices {
  TaskServices(storage::BlockManager& block_manager, service::DriverClient& driver_client,
               shuffle::BlockTransfer* block_transfer = nullptr)
      : blocks(block_manager),
        driver(driver_client),
        transfer(block_transfer),
        outputs(
            [this](int32_t shuffle, uint64_t epoch) { return driver.map_outputs(shuffle, epoch); }),
        plans([this](const std::string& id) { return driver.stage_binary(id); }) {}
  TaskServices(const TaskServices&) = delete;
  TaskServices& operator=(const TaskServices&) = delete;

  storage::BlockManager& blocks;
  service::DriverClient& driver;
  shuffle::BlockTransfer* transfer;  // may be null
  shuffle::MapOutputCache outputs;
  StagePlanCache plans;
};

}  // namespace tenon::executor
