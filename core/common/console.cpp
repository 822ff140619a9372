#include "common/console.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>

namespace tenon::console {
namespace {

constexpr std::string_view kClearLine = "\r\033[K";

struct State {
  std::mutex mutex;  // guards status, and keeps lines whole
  std::string status;
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

bool can_redraw() {
  static const bool can = [] {
    const char* term = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
  }();
  return can;
}

void write_line(std::string_view text) {
  State& shared = state();
  const std::lock_guard lock(shared.mutex);
  std::string out;
  if (!shared.status.empty()) out += kClearLine;
  out.append(text).append("\n").append(shared.status);
  write_all(out);
}

void set_status(std::string text) {
  if (!can_redraw()) return;
  State& shared = state();
  const std::lock_guard lock(shared.mutex);
  if (text == shared.status) return;
  write_all(std::string(kClearLine) + text);
  shared.status = std::move(text);
}

}  // namespace tenon::console
