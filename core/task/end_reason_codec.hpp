// How the end of a task attempt travels from the executor to the driver, as MessagePack. Functions
// are [any-thread].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "task/backend.hpp"
#include "task/end_reason.hpp"

namespace tenon::task {

// The data of a finished status. Throws tenon::Error (codec) when a part is 4 GiB or more.
[[nodiscard]] std::string encode_task_result(const TaskResult& result);

// Throws tenon::Error (codec) on bytes that are no task result.
[[nodiscard]] TaskResult decode_task_result(std::string_view bytes);

// The data of a failed or killed status; any reason but Success. Never throws for the length of a
// text: a text over 256 KiB is cut.
[[nodiscard]] std::string encode_end_reason(const EndReason& reason);

// Throws tenon::Error (codec) on bytes that are no end reason.
[[nodiscard]] EndReason decode_end_reason(std::string_view bytes);

// The data of a finished, failed or killed status. Throws tenon::Error (codec).
[[nodiscard]] EndReason decode_end(TaskState state, std::string_view bytes);

// A status as it comes from a backend. Never throws: bytes that cannot be decoded give
// UnknownReason, which for a finished task stands for a result that cannot be read (C11.4, C11.5).
[[nodiscard]] StatusUpdate decode_status(uint64_t task_id, std::string executor_id, TaskState state,
                                         std::string_view bytes);

}  // namespace tenon::task
