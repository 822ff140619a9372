// Exceptions as values of the one error style.
#pragma once

#include <memory>

#include "tenon/error.hpp"

namespace tenon::dag {

// The exception that is being handled: a tenon::Error as it is, another one by its type and text.
// Call it in a catch block.
[[nodiscard]] std::shared_ptr<const Error> current_error();

}  // namespace tenon::dag
