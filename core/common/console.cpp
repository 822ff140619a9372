#include "common/console.hpp"

#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <string>
#include <utility>

namespace tenon::console {
namespace {

struct State {
  std::mutex mutex;  // guards frame, and keeps lines whole
  Frame frame;
};

State& state() {
  static State& instance = *new State;  // lives for ever: destructors of statics log too
  return instance;
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

void write_line(std::string_view text) {
  const std::string line = std::string(text) + "\n";
  State& shared = state();
  const std::lock_guard lock(shared.mutex);
  if (shared.frame) {
    shared.frame([&line] { write_all(line); });
  } else {
    write_all(line);
  }
}

void set_frame(Frame frame) {
  State& shared = state();
  const std::lock_guard lock(shared.mutex);
  shared.frame = std::move(frame);
}

}  // namespace tenon::console
