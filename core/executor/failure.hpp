// What an exception says about a failed task.
#pragma once

#include <exception>
#include <string>

#include "task/end_reason.hpp"

namespace tenon::executor {

// Any exception, also one that is no std::exception: type, text, and what it is nested in
// (std::nested_exception, tenon::Error::cause). Never throws but for want of memory.
[[nodiscard]] task::ExceptionFailure describe_exception(const std::exception_ptr& error);

}  // namespace tenon::executor
