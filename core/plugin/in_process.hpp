// The host extension tenon.in-process-executor/1: core's Executor in the driver's process, over a
// plugin's executor backend.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "plugin/convert.hpp"
#include "task/backend.hpp"
#include "tenon/plugin/abi.h"

namespace tenon::host {

// What a plugin, or the command that started an executor's process, says of the executor.
struct ExecutorSpec {
  std::string executor_id{}, work_dir{};
  uint32_t incarnation = 0, cores = 1, profile = 0;
  uint64_t memory_bytes = 0;
  std::vector<task::Resource> resources{};
  TextPairs attributes{}, log_urls{};
  void* peer = nullptr;  // the plugin's, of an in-process executor
};

struct InProcessRequest {
  ExecutorSpec executor{};
  tenon_executor_backend_api backend{};  // complete
};

// Takes the request and returns; makes the Executor, and with it an ExecutorBackend, on a thread of
// the executor's own. An exception becomes the error of the plugin's call. [any-thread]
using InProcessFactory = std::function<void(InProcessRequest)>;

// Deep copy of a plugin's request. Throws Error(plugin) when the table lacks a function.
[[nodiscard]] InProcessRequest read_request(const tenon_executor_args& args,
                                            const tenon_executor_backend_api& backend);

}  // namespace tenon::host
