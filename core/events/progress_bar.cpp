#include "events/progress_bar.hpp"

#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tenon::events {

namespace {

constexpr size_t kMaxStages = 3;
constexpr size_t kMinBar = 3;          // a shorter one says nothing
constexpr size_t kWorthwhileBar = 10;  // what rate and time left must leave of the bar
constexpr const char* kClear = "\r\x1b[K";

std::string printed(const char* format, auto... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

std::string duration_text(int64_t seconds) {
  const long long minutes = seconds / 60;
  const long long left = seconds % 60;
  if (minutes < 60) return printed("%lld:%02lld", minutes, left);
  return printed("%lld:%02lld:%02lld", minutes / 60, minutes % 60, left);
}

// " 1250/s, 0:12 left"; empty when nothing can be said yet.
std::string pace(const StageProgress& stage, int64_t now_ms) {
  const int64_t elapsed_ms = now_ms - stage.submitted_ms;
  if (stage.completed <= 0 || elapsed_ms <= 0) return {};
  const double rate = stage.completed * 1000.0 / static_cast<double>(elapsed_ms);
  const double left = std::max(0, stage.tasks - stage.completed) / rate;
  std::string text = rate < 10 ? printed(" %.1f/s", rate) : printed(" %.0f/s", rate);
  return text + ", " + duration_text(std::llround(left)) + " left";
}

// "=====>      " in `width` columns.
std::string bar(const StageProgress& stage, size_t width, bool color) {
  const double share =
      stage.tasks > 0 ? std::min(1.0, static_cast<double>(stage.completed) / stage.tasks) : 0.0;
  const auto done = static_cast<size_t>(share * static_cast<double>(width));
  std::string filled(done, '=');
  if (done < width) filled += '>';
  std::string rest(width - filled.size(), ' ');
  if (color) filled = std::string("\x1b[36m").append(filled).append("\x1b[0m");
  return filled + rest;
}

std::string render_stage(const StageProgress& stage, int64_t now_ms, size_t width, bool color) {
  const std::string head = std::string("[Stage ").append(std::to_string(stage.id)).append(":");
  std::string tail = "(";
  tail.append(std::to_string(stage.completed)).append(" + ").append(std::to_string(stage.active));
  tail.append(") / ").append(std::to_string(stage.tasks)).append("]");
  const size_t text = head.size() + tail.size();
  if (text + kMinBar > width) return (head + tail).substr(0, width);
  std::string speed = pace(stage, now_ms);
  if (text + kWorthwhileBar + speed.size() > width) speed.clear();
  return head + bar(stage, width - text - speed.size(), color) + tail + speed;
}

}  // namespace

bool can_draw_bar(int fd) {
  const char* term = std::getenv("TERM");
  return isatty(fd) == 1 && term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

bool may_use_color(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  return can_draw_bar(fd) && (no_color == nullptr || *no_color == '\0');
}

int terminal_columns(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string render_progress(const std::vector<StageProgress>& stages, int64_t now_ms, int columns,
                            bool color) {
  const size_t shown = std::min(stages.size(), kMaxStages);
  if (shown == 0 || columns < 2) return {};
  // The last column stays free: some terminals wrap as soon as it is written.
  const size_t width = static_cast<size_t>(columns - 1) / shown;
  std::string line;
  for (size_t i = 0; i < shown; ++i) line += render_stage(stages[i], now_ms, width, color);
  return line;
}

ProgressBar::ProgressBar(Options options) : options_(std::move(options)) {}

ProgressBar::~ProgressBar() { stop(); }

void ProgressBar::start() {
  const std::lock_guard lock(mutex_);
  if (stopping_ || thread_.joinable()) return;
  thread_ = std::thread([this] { run(); });
}

void ProgressBar::stop() {
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    clear();
    thread = std::exchange(thread_, {});
  }
  changed_.notify_all();
  if (thread.joinable()) thread.join();
}

void ProgressBar::run() {
  pthread_setname_np(pthread_self(), "tenon-progress");
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait(lock, [this] { return stopping_ || running_jobs_ > 0; });
    changed_.wait_for(lock, kPeriod, [this] { return stopping_; });
    if (stopping_) break;
    lock.unlock();
    tick();
    lock.lock();
  }
}

void ProgressBar::tick() {
  std::vector<StageProgress> stages = options_.store->active_stages();
  const std::lock_guard lock(mutex_);
  if (stopping_ || options_.clock->now() < quiet_until_) return;
  const int64_t now_ms = options_.clock->wall_ms();
  std::erase_if(stages, [now_ms](const StageProgress& stage) {
    return now_ms - stage.submitted_ms < kFirstDelay.count();
  });
  std::string line = render_progress(stages, now_ms, options_.columns(), options_.color);
  if (line.empty()) return clear();
  if (line == line_) return;
  options_.write(std::string("\r").append(line).append("\x1b[K"));
  line_ = std::move(line);
}

void ProgressBar::finish_all() {
  const std::lock_guard lock(mutex_);
  clear();
  quiet_until_ = options_.clock->now() + kFirstDelay;
}

void ProgressBar::write_above(const std::function<void()>& write) {
  const std::lock_guard lock(mutex_);
  clear();
  write();
}

void ProgressBar::on_job_start(const event::JobStart&) {
  {
    const std::lock_guard lock(mutex_);
    ++running_jobs_;
  }
  changed_.notify_all();
}

void ProgressBar::on_job_end(const event::JobEnd&) {
  const std::lock_guard lock(mutex_);
  if (running_jobs_ > 0) --running_jobs_;
  clear();
}

void ProgressBar::clear() {
  if (line_.empty()) return;
  options_.write(kClear);
  line_.clear();
}

}  // namespace tenon::events
