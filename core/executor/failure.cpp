#include "executor/failure.hpp"

#include <cxxabi.h>

#include <memory>
#include <typeinfo>
#include <utility>

#include "common/demangle.hpp"
#include "tenon/error.hpp"

namespace tenon::executor {
namespace {

constexpr size_t kMaxCauses = 32;

struct Described {
  std::string type, message;
  std::exception_ptr nested;           // what std::nested_exception holds
  std::shared_ptr<const Error> cause;  // what tenon::Error::cause holds
  bool no_retry = false;
};

std::string demangled(const std::type_info* type) {
  if (type == nullptr) return "unknown";
  std::string text = demangle(type->name());
  // The class that std::throw_with_nested makes of the program's own.
  static constexpr std::string_view kNested = "std::_Nested_exception<";
  if (text.starts_with(kNested) && text.ends_with('>')) {
    text = text.substr(kNested.size(), text.size() - kNested.size() - 1);
  }
  return text;
}

// What can be said of an exception that is no std::exception: its value where it is a text or a
// number.
std::string text_of_current() {
  try {
    throw;
  } catch (const std::string& text) {
    return text;
  } catch (const char* text) {
    return text == nullptr ? "" : text;
  } catch (int value) {
    return std::to_string(value);
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

Described describe_one(const std::exception_ptr& error) {
  Described described;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    // what() comes with the causes for our own errors; they go apart here.
    const auto* ours = dynamic_cast<const Error*>(&exception);
    described.type = demangled(&typeid(exception));
    described.message = ours != nullptr ? ours->message() : exception.what();
    if (ours != nullptr) described.cause = ours->cause();
    described.no_retry = dynamic_cast<const FatalError*>(&exception) != nullptr;
    if (const auto* nested = dynamic_cast<const std::nested_exception*>(&exception)) {
      described.nested = nested->nested_ptr();
    }
  } catch (...) {
    described.type = demangled(abi::__cxa_current_exception_type());
    described.message = text_of_current();
    try {
      throw;
    } catch (const std::nested_exception& nested) {
      described.nested = nested.nested_ptr();
    } catch (...) {  // ignored: it nests nothing
    }
  }
  return described;
}

}  // namespace

task::ExceptionFailure describe_exception(const std::exception_ptr& error) {
  Described described = describe_one(error);
  task::ExceptionFailure failure;
  failure.type = std::move(described.type);
  failure.message = std::move(described.message);
  failure.no_retry = described.no_retry;
  while (failure.causes.size() < kMaxCauses) {
    if (described.nested) {
      described = describe_one(described.nested);
      failure.no_retry = failure.no_retry || described.no_retry;
      failure.causes.emplace_back(std::move(described.type), std::move(described.message));
    } else if (described.cause) {
      const std::shared_ptr<const Error> cause = described.cause;
      const Error& deeper = *cause;
      failure.causes.emplace_back(demangled(&typeid(deeper)), deeper.message());
      described.cause = cause->cause();
    } else {
      break;
    }
  }
  return failure;
}

}  // namespace tenon::executor
