// Thrown to a task that cannot get a block of a shuffle.
#pragma once

#include <memory>
#include <utility>

#include "task/end_reason.hpp"
#include "tenon/error.hpp"

namespace tenon::shuffle {

// The executor reports the failure whatever the program makes of this exception (contract C4.1).
class FetchFailedError final : public Error {
 public:
  explicit FetchFailedError(task::FetchFailed failure)
      : Error(ErrorKind::internal, failure.message),
        failure_(std::make_shared<const task::FetchFailed>(std::move(failure))) {}

  [[nodiscard]] const task::FetchFailed& failure() const noexcept { return *failure_; }

 private:
  std::shared_ptr<const task::FetchFailed> failure_;
};

}  // namespace tenon::shuffle
