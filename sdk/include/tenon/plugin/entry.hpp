// The one symbol that a plugin exports.
#pragma once

#include <string_view>

#include "tenon/plugin/abi.h"
#include "tenon/plugin/executor_backend.hpp"
#include "tenon/plugin/scheduler_backend.hpp"

namespace tenon::plugin {

// get_interface of a plugin with both backends.
template <class Scheduler, class Executor, const tenon_description* kDescription>
const void* get_interface(const char* id) noexcept {
  const std::string_view wanted(id);
  if (wanted == TENON_DESCRIPTION) return kDescription;
  if (wanted == TENON_SCHEDULER_BACKEND) return &SchedulerTable<Scheduler>::api;
  if (wanted == TENON_EXECUTOR_BACKEND) return &ExecutorTable<Executor>::api;
  return nullptr;
}

}  // namespace tenon::plugin

// Writes the entry function: TENON_PLUGIN("org.example.slurm", "0.1.0", SlurmScheduler,
// SlurmExecutor, kDescription), at file scope, once. description: a constexpr tenon_description of
// static storage.
#define TENON_PLUGIN(plugin_name, plugin_version, Scheduler, Executor, description) \
  extern "C" TENON_EXPORT const tenon_plugin* tenon_plugin_v0(void) {               \
    static constexpr tenon_plugin kPlugin = {                                       \
        sizeof(tenon_plugin),                                                       \
        TENON_ABI_MAJOR,                                                            \
        TENON_ABI_MINOR,                                                            \
        0,                                                                          \
        TENON_STR(plugin_name),                                                     \
        TENON_STR(plugin_version),                                                  \
        &::tenon::plugin::get_interface<Scheduler, Executor, &description>};        \
    return &kPlugin;                                                                \
  }
