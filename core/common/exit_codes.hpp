// The exit codes that people and scripts rely on; stable. `tenon help exit-codes` prints this
// table.
#pragma once

#include <span>
#include <string_view>

namespace tenon::exit_codes {

inline constexpr int kSuccess = 0;
inline constexpr int kFailed = 1;         // a job failed, or an error left main
inline constexpr int kUsage = 2;          // option, master URL, setting
inline constexpr int kPlugin = 3;         // a plugin cannot be loaded
inline constexpr int kUnreachable = 4;    // the cluster cannot be reached
inline constexpr int kNoResources = 5;    // nothing to run on within tenon.scheduler.maxWait
inline constexpr int kExecutorsLost = 6;  // beyond the limits
inline constexpr int kInputOutput = 7;    // refused before start
inline constexpr int kInterrupted = 130;  // Ctrl-C, after clean-up
inline constexpr int kTerminated = 143;   // SIGTERM, after clean-up
inline constexpr int kSignalBase = 128;   // + n: ended by signal n

// Of an executor's own process, as in Spark.
inline constexpr int kExecutorUncaught = 50;
inline constexpr int kExecutorUncaughtTwice = 51;
inline constexpr int kExecutorOutOfMemory = 52;
inline constexpr int kExecutorDiskStore = 53;
inline constexpr int kExecutorHeartbeat = 56;

struct Row {
  std::string_view code, meaning;
};
std::span<const Row> table();

}  // namespace tenon::exit_codes
