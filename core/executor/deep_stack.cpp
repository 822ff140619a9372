#include "executor/deep_stack.hpp"

#include <pthread.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <string>

#include "tenon/error.hpp"

namespace tenon::executor {
namespace {

// An estimate, with room to spare, of what one step takes over opening, reading and closing its
// stream; the frames of a build with a sanitizer are larger.
#ifdef TENON_SANITIZED
constexpr size_t kBytesPerStep = 16384;
#else
constexpr size_t kBytesPerStep = 4096;
#endif
// For the program's function and what is below the steps.
constexpr size_t kBytesAtTheEnd = size_t{8} << 20;

[[noreturn]] void refuse(size_t depth, const std::string& why) {
  throw FatalError(ErrorKind::job_failed,
                   "The stage has " + std::to_string(depth) + " steps one inside the other, " +
                       why +
                       "; cut its lineage with Rdd::checkpoint() or local_checkpoint() every "
                       "few thousand steps");
}

struct Work {
  const std::function<void()>& run;
  std::exception_ptr error;
};

void* run_work(void* argument) {
  auto& work = *static_cast<Work*>(argument);
  pthread_setname_np(pthread_self(), "tenon-task-deep");
  try {
    work.run();
  } catch (...) {
    work.error = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run_at_depth(size_t depth, const std::function<void()>& work) {
  if (depth <= kDepthOfTaskThread) return work();
  if (depth > kMaxDepth) refuse(depth, "more than " + std::to_string(kMaxDepth));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const size_t bytes = kBytesAtTheEnd + depth * kBytesPerStep;
  int error = pthread_attr_setstacksize(&attributes, bytes);
  Work argument{work, nullptr};
  pthread_t thread{};
  if (error == 0) error = pthread_create(&thread, &attributes, &run_work, &argument);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    refuse(depth, "and no stack of " + std::to_string(bytes >> 20) +
                      " MiB can be had for it: " + std::strerror(error));
  }
  pthread_join(thread, nullptr);
  if (argument.error) std::rethrow_exception(argument.error);
}

}  // namespace tenon::executor
