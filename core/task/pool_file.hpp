// Pools of FAIR mode as the user writes them down: a TOML file (C8.5, C29.9).
//
//   [pools.production]
//   schedulingMode = "FAIR"   # of the sets inside; FIFO when it is left out
//   minShare = 2              # 0
//   weight = 3                # 1
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/log_callback.hpp"

namespace tenon::task {

enum class SchedulingMode : uint8_t { fifo, fair };
[[nodiscard]] std::string_view to_string(SchedulingMode mode);  // "FIFO"
// In any case, blanks at the ends ignored; nothing for another name.
[[nodiscard]] std::optional<SchedulingMode> parse_scheduling_mode(std::string_view text);

// The value of tenon.scheduler.mode. Throws tenon::Error (usage) "Unsupported tenon.scheduler.mode:
// X".
[[nodiscard]] SchedulingMode scheduler_mode(std::string_view setting);

struct PoolSpec {
  std::string name;
  SchedulingMode mode = SchedulingMode::fifo;
  int32_t min_share = 0;
  int32_t weight = 1;
};

// In the order of their names. A bad or blank value gives the attribute's default and a warning.
// Throws tenon::Error (usage) that names the file when it cannot be read or is no TOML; for a Spark
// XML file the error shows the TOML form.
[[nodiscard]] std::vector<PoolSpec> read_pool_file(const std::string& path, const LogCallback& log);

}  // namespace tenon::task
