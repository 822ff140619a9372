// Watches whether an application that has tasks also gets resources: the starvation warning (C7.9)
// and the longest wait (C29.0, C29.1).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/log_callback.hpp"
#include "loop/loop.hpp"
#include "task/settings.hpp"

namespace tenon::task {

// Loop's thread.
class ResourceWatch {
 public:
  // why() says for people what is missing. starved() is called when tasks have waited for max_wait
  // with none running.
  ResourceWatch(loop::Loop& loop, const Settings& settings, LogCallback log,
                std::function<std::string()> why, std::function<void()> starved);
  ~ResourceWatch();
  ResourceWatch(const ResourceWatch&) = delete;
  ResourceWatch& operator=(const ResourceWatch&) = delete;

  // A task set came.
  void submitted();
  // A task was launched.
  void launched();
  // Whether tasks wait and none runs, now. Cheap when nothing has changed.
  void waiting(bool now_waiting) {
    if (now_waiting != since_.has_value()) set_waiting(now_waiting);
  }
  void stop();

 private:
  void set_waiting(bool now_waiting);
  void warn_later();
  void look_later(loop::Duration delay);
  void look();

  loop::Loop& loop_;
  const Settings& settings_;
  LogCallback log_;
  std::function<std::string()> why_;
  std::function<void()> starved_;
  bool has_received_ = false, has_launched_ = false;
  std::optional<loop::Time> since_;  // tasks wait and none runs since then
  loop::TimerId warn_timer_ = 0, wait_timer_ = 0;
};

}  // namespace tenon::task
