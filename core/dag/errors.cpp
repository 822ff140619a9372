#include "dag/errors.hpp"

#include <exception>
#include <string>
#include <typeinfo>

#include "common/demangle.hpp"

namespace tenon::dag {

std::shared_ptr<const Error> current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return std::make_shared<const Error>(error);
  } catch (const std::exception& error) {
    return std::make_shared<const Error>(ErrorKind::internal,
                                         demangle(typeid(error).name()) + ": " + error.what());
  } catch (...) {
    return std::make_shared<const Error>(ErrorKind::internal,
                                         "an exception that is no std::exception");
  }
}

ErrorKind job_error_kind(const Error* cause) {
  ErrorKind kind = ErrorKind::job_failed;
  for (std::shared_ptr<const Error> keep; cause != nullptr; cause = keep.get()) {
    if (cause->kind() == ErrorKind::no_resources || cause->kind() == ErrorKind::executors_lost) {
      kind = cause->kind();
    }
    keep = cause->cause();
  }
  return kind;
}

}  // namespace tenon::dag
