// One task on its way to an executor: what the payload of a launch holds. Functions are
// [any-thread].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::executor {

// The texts are views: of the caller's data when encoding, of the payload after decoding.
struct TaskDescription {
  uint64_t task_id = 0;
  uint64_t epoch = 0;  // of the map-output tracker when the task set was made
  int32_t stage_id = 0;
  int32_t stage_attempt = 0;
  int32_t partition = 0;  // of the stage's last Rdd
  int32_t output = 0;     // result stage: position in the job's partition list
  int32_t attempt = 0;    // earlier attempts of this task
  std::string_view binary_id;
  std::optional<std::string_view> binary;  // the stage's binary itself; none: fetched by its id
  std::string_view data;                   // what the sources of the partition read
};

// Throws tenon::Error (codec) when a part is 4 GiB or more.
[[nodiscard]] std::string encode(const TaskDescription& task);

// Throws tenon::Error (codec) on bytes that are no task.
[[nodiscard]] TaskDescription decode_task_description(std::string_view payload);

}  // namespace tenon::executor
