/// @file error.hpp
/// The one error style of the program API: exceptions derived from tenon::Error.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "tenon/export.hpp"

namespace tenon {

/// What went wrong, as a program may want to tell apart. Stable.
enum class ErrorKind {
  invalid_argument,  ///< an argument of a call is wrong (partition, count, name); exit code 1
  usage,             ///< bad master URL, unknown scheme, bad or unknown setting; exit code 2
  plugin,            ///< a plugin cannot be loaded, or has another ABI; exit code 3
  unreachable,       ///< the cluster cannot be reached; exit code 4
  no_resources,      ///< no resources within tenon.scheduler.maxWait; exit code 5
  executors_lost,    ///< executors were lost beyond the limits; exit code 6
  input_output,      ///< input or output refused before start (missing, exists); exit code 7
  job_failed,        ///< a job failed; exit code 1
  cancelled,         ///< the job was cancelled; exit code 1
  stopped,           ///< use of a context that was stopped; exit code 1
  user_function,     ///< a function of the program threw; exit code 1
  codec,             ///< bytes that a Codec refuses; exit code 1
  internal,          ///< a fault of Tenon itself; exit code 1
};

/// The kind's name as it is printed: "job_failed".
TENON_API std::string_view to_string(ErrorKind kind) noexcept;

/// The documented exit code of a program that ends with an error of this kind (`tenon help
/// exit-codes`).
TENON_API int exit_code(ErrorKind kind) noexcept;

/// Base of all exceptions that Tenon throws. Immutable and cheap to copy; may be copied between
/// threads.
class TENON_API Error : public std::exception {
 public:
  /// @param message what, where, which value, and what to do; no period at the end
  /// @param cause   the error that led to this one, or none
  Error(ErrorKind kind, std::string message, std::shared_ptr<const Error> cause = nullptr);
  ~Error() override;
  Error(const Error&) noexcept;
  Error& operator=(const Error&) noexcept;

  /// The exit code of a program that ends with this error.
  [[nodiscard]] int code() const noexcept { return exit_code(kind()); }
  [[nodiscard]] ErrorKind kind() const noexcept;
  /// This error's own text, without its causes.
  [[nodiscard]] const std::string& message() const noexcept;
  /// The error that led to this one; nullptr when there is none.
  [[nodiscard]] std::shared_ptr<const Error> cause() const noexcept;
  /// The message and those of all causes, one a line: "message\n  caused by: ...".
  [[nodiscard]] const char* what() const noexcept override;

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

/// Thrown by a task's function to say that another attempt cannot help: the job fails at this
/// attempt. Tenon throws it itself where an output exists and where a result cannot be encoded.
class TENON_API FatalError : public Error {
 public:
  /// @param message as for Error
  explicit FatalError(std::string message);
  /// The same with a kind of its own.
  FatalError(ErrorKind kind, std::string message);
  ~FatalError() override;
};

}  // namespace tenon
