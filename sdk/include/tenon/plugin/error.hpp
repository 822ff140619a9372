// Errors of a plugin, and the one place where an exception becomes a status.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tenon/plugin/abi.h"
#include "tenon/plugin/table.hpp"
#include "tenon/plugin/text.hpp"

namespace tenon::plugin {

// Thrown by a plugin: arrives on the other side as this status and message.
class Error : public std::runtime_error {
 public:
  Error(tenon_status status, const std::string& message)
      : std::runtime_error(message), status_(status == TENON_OK ? TENON_INTERNAL : status) {}
  [[nodiscard]] tenon_status status() const noexcept { return status_; }

 private:
  tenon_status status_;
};

// Fills `error`, which may be null, and returns the status.
inline tenon_status report(tenon_error* error, tenon_status status,
                           std::string_view message) noexcept {
  if (error == nullptr) return status;
  if (TENON_HAS_FIELD(error, code)) error->code = status;
  if (has<&tenon_error::set>(error)) error->set(error->ctx, status, str(message));
  return status;
}

// Runs `call`; no exception of any type leaves it.
template <class Call>
tenon_status guard(tenon_error* error, Call&& call) noexcept {
  try {
    std::forward<Call>(call)();
    return TENON_OK;
  } catch (const Error& e) {
    return report(error, e.status(), e.what());
  } catch (const std::bad_alloc&) {
    return report(error, TENON_INTERNAL, "out of memory");
  } catch (const std::exception& e) {
    return report(error, TENON_INTERNAL, e.what());
  } catch (...) {
    return report(error, TENON_INTERNAL, "threw something that is no std::exception");
  }
}

// Collects the error of a call to the other side.
class ErrorSink {
 public:
  ErrorSink() : error_(make<tenon_error>()) {
    error_.ctx = this;
    error_.set = [](void* ctx, tenon_status, tenon_str message) {
      try {
        static_cast<ErrorSink*>(ctx)->message_ = view(message);
      } catch (...) {  // ignored: out of memory, the status alone must do
      }
    };
  }
  ErrorSink(const ErrorSink&) = delete;
  ErrorSink& operator=(const ErrorSink&) = delete;

  [[nodiscard]] tenon_error* get() noexcept { return &error_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  // Throws Error unless the status is TENON_OK.
  void check(tenon_status status) const {
    if (status != TENON_OK) throw Error(status, message_);
  }

 private:
  tenon_error error_;
  std::string message_;
};

}  // namespace tenon::plugin
