// local, local[N], local[*], local[N,F], local[*,F]: N threads, F failures of a task until its job
// fails.
#pragma once

#include <cstdint>

#include "tenon/plugin/abi.h"

namespace tenon::local {

struct LocalUrl {
  uint32_t threads = 1;
  uint32_t max_task_failures = 1;
};

inline constexpr uint32_t kMaxThreads = 4096;

// cpus: what * stands for. Throws plugin::Error INVALID_ARGUMENT that quotes the URL.
LocalUrl parse_local_url(const tenon_master_url& url, uint32_t cpus);

}  // namespace tenon::local
