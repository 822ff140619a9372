#include "executor/reporter.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tenon::executor {
namespace {

constexpr long kTickNs = 1'000'000;

FileDescriptor checked(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return FileDescriptor(fd);
}

void drain(const FileDescriptor& fd) {
  uint64_t count = 0;
  [[maybe_unused]] const auto size = ::read(fd.get(), &count, sizeof count);
}

}  // namespace

Reporter::Reporter()
    : timer_(checked(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd")),
      stopped_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {}

Reporter::~Reporter() { stop(); }

void Reporter::start(Work work) {
  work_ = std::move(work);
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "tenon-report");
    run();
  });
}

void Reporter::arm() noexcept {
  itimerspec spec{};
  spec.it_value.tv_nsec = kTickNs;
  timerfd_settime(timer_.get(), 0, &spec, nullptr);
}

void Reporter::stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  [[maybe_unused]] const auto size = ::write(stopped_.get(), &one, sizeof one);
  thread_.join();
}

void Reporter::run() {
  using Clock = std::chrono::steady_clock;
  Clock::time_point next_beat = Clock::now() + work_.first_beat;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(next_beat - Clock::now()).count();
    std::array<pollfd, 2> fds{{{timer_.get(), POLLIN, 0}, {stopped_.get(), POLLIN, 0}}};
    const int64_t timeout = std::clamp<int64_t>(left, 0, 3'600'000);
    ::poll(fds.data(), fds.size(), static_cast<int>(timeout));
    if (fds[1].revents != 0) return;
    if (fds[0].revents != 0) {
      drain(timer_);
      work_.tick();
    }
    if (Clock::now() >= next_beat) {
      work_.beat();
      next_beat = Clock::now() + work_.beat_interval;
    }
  }
}

}  // namespace tenon::executor
