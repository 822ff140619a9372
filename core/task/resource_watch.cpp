#include "task/resource_watch.hpp"

#include <utility>

namespace tenon::task {

ResourceWatch::ResourceWatch(loop::Loop& loop, const Settings& settings, LogCallback log,
                             std::function<std::string()> why, std::function<void()> starved)
    : loop_(loop),
      settings_(settings),
      log_(std::move(log)),
      why_(std::move(why)),
      starved_(std::move(starved)) {}

ResourceWatch::~ResourceWatch() { stop(); }

void ResourceWatch::stop() {
  if (warn_timer_ != 0) loop_.cancel(std::exchange(warn_timer_, 0));
  if (wait_timer_ != 0) loop_.cancel(std::exchange(wait_timer_, 0));
}

void ResourceWatch::submitted() {
  if (std::exchange(has_received_, true) || has_launched_ || settings_.is_one_process) return;
  warn_later();
}

void ResourceWatch::launched() {
  if (!std::exchange(has_launched_, true) && warn_timer_ != 0) {
    loop_.cancel(std::exchange(warn_timer_, 0));
  }
}

void ResourceWatch::warn_later() {
  warn_timer_ = loop_.call_after(settings_.starvation_timeout, [this] {
    log_.warn(
        "Initial job has not accepted any resources; check your cluster UI to ensure that "
        "workers are registered and have sufficient resources: " +
        why_());
    warn_later();
  });
}

// One timer at most: it looks at the time since when tasks wait, so that a launch need not cancel
// it.
void ResourceWatch::set_waiting(bool now_waiting) {
  if (settings_.max_wait.count() == 0) return;
  if (!now_waiting) {
    since_.reset();
    return;
  }
  since_ = loop_.clock().now();
  if (wait_timer_ == 0) look_later(settings_.max_wait);
}

void ResourceWatch::look_later(loop::Duration delay) {
  wait_timer_ = loop_.call_after(delay, [this] { look(); });
}

void ResourceWatch::look() {
  wait_timer_ = 0;
  if (!since_) return;
  const loop::Duration waited = loop_.clock().now() - *since_;
  if (waited < settings_.max_wait) return look_later(settings_.max_wait - waited);
  since_.reset();
  starved_();
}

}  // namespace tenon::task
