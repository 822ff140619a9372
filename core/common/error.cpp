#include "tenon/error.hpp"

#include <utility>

#include "common/exit_codes.hpp"

namespace tenon {

struct Error::Data {
  ErrorKind kind;
  std::string message;
  std::shared_ptr<const Error> cause;
  std::string what;
};

std::string_view to_string(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return "invalid_argument";
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::plugin:
      return "plugin";
    case ErrorKind::unreachable:
      return "unreachable";
    case ErrorKind::no_resources:
      return "no_resources";
    case ErrorKind::executors_lost:
      return "executors_lost";
    case ErrorKind::input_output:
      return "input_output";
    case ErrorKind::job_failed:
      return "job_failed";
    case ErrorKind::cancelled:
      return "cancelled";
    case ErrorKind::stopped:
      return "stopped";
    case ErrorKind::user_function:
      return "user_function";
    case ErrorKind::codec:
      return "codec";
    case ErrorKind::internal:
      return "internal";
  }
  return "unknown";
}

int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::usage:
      return exit_codes::kUsage;
    case ErrorKind::plugin:
      return exit_codes::kPlugin;
    case ErrorKind::unreachable:
      return exit_codes::kUnreachable;
    case ErrorKind::no_resources:
      return exit_codes::kNoResources;
    case ErrorKind::executors_lost:
      return exit_codes::kExecutorsLost;
    case ErrorKind::input_output:
      return exit_codes::kInputOutput;
    default:
      return exit_codes::kFailed;
  }
}

Error::Error(ErrorKind kind, std::string message, std::shared_ptr<const Error> cause) {
  std::string what = message;
  if (cause) what.append("\n  caused by: ").append(cause->what());
  data_ = std::make_shared<const Data>(
      Data{kind, std::move(message), std::move(cause), std::move(what)});
}
Error::~Error() = default;
Error::Error(const Error&) noexcept = default;
Error& Error::operator=(const Error&) noexcept = default;

ErrorKind Error::kind() const noexcept { return data_->kind; }
const std::string& Error::message() const noexcept { return data_->message; }
std::shared_ptr<const Error> Error::cause() const noexcept { return data_->cause; }
const char* Error::what() const noexcept { return data_->what.c_str(); }

FatalError::FatalError(std::string message) : Error(ErrorKind::user_function, std::move(message)) {}
FatalError::FatalError(ErrorKind kind, std::string message) : Error(kind, std::move(message)) {}
FatalError::~FatalError() = default;

}  // namespace tenon
