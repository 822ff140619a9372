#include "context/process_guard.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "common/exit_codes.hpp"
#include "context/driver.hpp"
#include "tenon/error.hpp"
#include "tenon/task_context.hpp"

namespace tenon::context {
namespace {

using namespace std::chrono_literals;

std::mutex active_mutex;  // guards the three below
bool active = false;
CallSite active_made_at;
std::weak_ptr<detail::Driver> active_driver;

std::atomic<int> signal_received{0};
int signal_event = -1;
std::terminate_handler previous_terminate = nullptr;
pid_t guarded_process = 0;

detail::DriverPtr current_driver() {
  const std::lock_guard lock(active_mutex);
  return active_driver.lock();
}

void flush_output() {
  std::fflush(stdout);
  std::fflush(stderr);
}

// By a thread of its own, for a bounded time: the thread that ends the process may be one for which
// stop() would wait, or hold a lock that nothing releases.
void stop_context(int code) {
  if (auto driver = current_driver()) {
    const auto done = std::make_shared<std::promise<void>>();
    auto future = done->get_future();
    const auto longest = driver->settings().get_duration("tenon.plugin.stopTimeout") + 1s;
    std::thread([driver = std::move(driver), done, code] {
      try {
        driver->stop(code);
      } catch (const std::exception&) {
        // the process ends all the same
      }
      done->set_value();
    }).detach();
    future.wait_for(longest);
  }
}

// Ends the process without running destructors of static objects that other threads may still use.
[[noreturn]] void end_process(int code) {
  stop_context(code);
  flush_output();
  std::_Exit(code);
}

// exit() while a context is active. Not in a task, which stop() would wait for, nor in a child of
// fork(), which has the context's memory but none of its threads.
void stop_at_exit(int code, void* /*unused*/) {
  if (::getpid() == guarded_process && TaskContext::current() == nullptr) stop_context(code);
}

void print_error(std::string_view kind, const char* what) {
  std::fprintf(stderr, "error: %s\n", what);
  if (!kind.empty())
    std::fprintf(stderr, "  kind: %.*s\n", static_cast<int>(kind.size()), kind.data());
}

[[noreturn]] void on_terminate() {
  if (const int signal = signal_received.load()) end_process(exit_codes::kSignalBase + signal);
  const std::exception_ptr error = std::current_exception();
  if (!error) {
    if (previous_terminate != nullptr) previous_terminate();
    std::abort();
  }
  int code = exit_codes::kFailed;
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    code = e.code();
    print_error(to_string(e.kind()), e.what());
  } catch (const std::exception& e) {
    print_error({}, e.what());
  } catch (...) {
    print_error({}, "the program threw something that is no std::exception");
  }
  end_process(code);
}

extern "C" void tenon_on_signal(int signal) {
  if (signal_received.exchange(signal) != 0) ::_exit(exit_codes::kSignalBase + signal);
  const uint64_t one = 1;
  if (::write(signal_event, &one, sizeof one) < 0) ::_exit(exit_codes::kSignalBase + signal);
}

// Cancels all jobs, gives the program a moment to end by itself, which it does when the error
// leaves main, then ends it.
void watch_signals() {
  uint64_t count = 0;
  while (::read(signal_event, &count, sizeof count) < 0) {
  }
  const int signal = signal_received.load();
  const std::string reason = signal == SIGINT ? "interrupted" : "terminated by a signal";
  if (const auto driver = current_driver()) {
    driver->cancel_all(reason);
    const auto deadline = std::chrono::steady_clock::now() + 2s;
    while (driver->waiting_jobs() != 0 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(5ms);
    }
  }
  std::this_thread::sleep_for(100ms);
  std::fprintf(stderr, "%s\n", reason.c_str());
  end_process(exit_codes::kSignalBase + signal);
}

bool take_signal(int signal) {
  struct sigaction current{};
  if (sigaction(signal, nullptr, &current) != 0) return false;
  if ((current.sa_flags & SA_SIGINFO) != 0 || current.sa_handler != SIG_DFL) return false;
  struct sigaction ours{};
  ours.sa_handler = &tenon_on_signal;
  sigemptyset(&ours.sa_mask);
  ours.sa_flags = SA_RESTART;
  return sigaction(signal, &ours, nullptr) == 0;
}

}  // namespace

ActiveContext::ActiveContext(const CallSite& made_at) {
  std::optional<CallSite> before;
  {
    const std::lock_guard lock(active_mutex);
    if (active) before = active_made_at;
    if (!active) active_made_at = made_at;
    active = true;
  }
  // Not under the lock: an error that leaves main is not unwound before the terminate handler needs
  // it.
  if (!before) return;
  const std::string by = before->file.empty() ? "" : ", made by " + before->text();
  throw Error(ErrorKind::invalid_argument,
              "a Context is active already" + by + "; stop() it before you make another");
}

ActiveContext::~ActiveContext() {
  const std::lock_guard lock(active_mutex);
  active = false;
  active_driver.reset();
}

void ActiveContext::set(const detail::DriverPtr& driver) {
  // Only now: static objects that the start has made outlive what is registered after them.
  static std::once_flag once;
  std::call_once(once, [] {
    guarded_process = ::getpid();
    ::on_exit(&stop_at_exit, nullptr);
  });
  const std::lock_guard lock(active_mutex);
  active_driver = driver;
}

void install_process_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    previous_terminate = std::set_terminate(&on_terminate);
    signal_event = ::eventfd(0, EFD_CLOEXEC);
    if (signal_event < 0) return;
    const bool interrupt = take_signal(SIGINT);
    const bool terminate = take_signal(SIGTERM);
    if (interrupt || terminate) std::thread(watch_signals).detach();
  });
}

int received_signal() { return signal_received.load(); }

}  // namespace tenon::context
