/// @file future.hpp
/// The handle of an action that runs while the caller goes on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tenon/detail/driver.hpp"

namespace tenon {

/// A job under way and, in the end, its value. Movable; the job goes on when the handle is dropped.
/// One thread at a time.
template <class R>
class Future {
 public:
  /// For core.
  Future(std::shared_ptr<detail::JobHandle> job, std::function<R()> value)
      : job_(std::move(job)), value_(std::move(value)) {}

  /// Asks for the end of the job; get() then throws Error (cancelled).
  void cancel(const std::string& reason = "cancelled by the caller") { job_->cancel(reason); }
  /// True when get() will not wait.
  [[nodiscard]] bool completed() const { return job_->completed(); }
  /// The job's number.
  [[nodiscard]] int32_t job_id() const { return job_->id(); }
  /// Waits for the end. @throws the job's error
  void wait() const { job_->wait(); }
  /// Waits, then moves the value out; call it once. @throws the job's error
  [[nodiscard]] R get() {
    job_->wait();
    return value_();
  }

 private:
  std::shared_ptr<detail::JobHandle> job_;
  std::function<R()> value_;
};

}  // namespace tenon
