// Exceptions as values of the one error style.
#pragma once

#include <memory>

#include "tenon/error.hpp"

namespace tenon::dag {

// The exception that is being handled: a tenon::Error as it is, another one by its type and text.
// Call it in a catch block.
[[nodiscard]] std::shared_ptr<const Error> current_error();

// Of a job that fails for this cause (may be null): what its exit code tells apart is taken from
// the root cause.
[[nodiscard]] ErrorKind job_error_kind(const Error* cause);

}  // namespace tenon::dag
