#include "dag/errors.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <string>
#include <typeinfo>

namespace tenon::dag {

namespace {

std::string type_name(const std::exception& error) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : typeid(error).name();
}

}  // namespace

std::shared_ptr<const Error> current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return std::make_shared<const Error>(error);
  } catch (const std::exception& error) {
    return std::make_shared<const Error>(ErrorKind::internal,
                                         type_name(error) + ": " + error.what());
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
