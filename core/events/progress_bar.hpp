// The line on a terminal that shows how the active stages get on:
//   [Stage 3:=====>      (120 + 8) / 200] 1250/s, 0:12 left
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "events/status_store.hpp"
#include "loop/clock.hpp"
#include "tenon/listener.hpp"

namespace tenon::events {

// Is there a terminal on which a bar can be drawn? Not for a pipe, a file or TERM=dumb.
[[nodiscard]] bool can_draw_bar(int fd);
// The same, and nobody asked for NO_COLOR.
[[nodiscard]] bool may_use_color(int fd);
// Columns of the terminal now; 80 when it does not say.
[[nodiscard]] int terminal_columns(int fd);

// The line for these stages (three at most are shown), always shorter than the terminal is wide.
// Empty: nothing to show.
[[nodiscard]] std::string render_progress(const std::vector<StageProgress>& stages, int64_t now_ms,
                                          int columns, bool color);

// Add it to Group::app_status behind the store. It draws from a thread of its own, which sleeps
// while no job runs: stages that have run for 500 ms, every 200 ms. Everything that ends the line
// clears it first.
class ProgressBar final : public Listener {
 public:
  static constexpr std::chrono::milliseconds kFirstDelay{500};
  static constexpr std::chrono::milliseconds kPeriod{200};

  struct Options {
    std::shared_ptr<const StatusStore> store;
    std::function<void(std::string_view)> write;  // to the terminal, at once; called under a lock
    std::function<int()> columns;
    bool color = false;
    const loop::Clock* clock = nullptr;  // outlives the bar
  };

  explicit ProgressBar(Options options);
  ~ProgressBar() override;  // stop()

  // Starts the thread. Without it only tick() draws.
  void start();
  // Clears the line and joins. Idempotent.
  void stop();

  // Draws the state of now when it differs from what stands there. [any-thread]
  void tick();
  // Clears the line and leaves it so for a while: an action has returned, and the program may
  // print. [any-thread]
  void finish_all();
  // Clears the line and writes something in its place, a log line for instance; the bar comes back
  // below. [any-thread]
  void write_above(const std::function<void()>& write);

  void on_job_start(const event::JobStart& e) override;
  void on_job_end(const event::JobEnd& e) override;

 private:
  void run();
  void clear();

  const Options options_;
  std::mutex mutex_;  // guards all below and the calls of write
  std::condition_variable changed_;
  std::string line_;  // on the terminal now
  loop::Time quiet_until_{0};
  int64_t running_jobs_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tenon::events
