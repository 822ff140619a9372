#include "task/heartbeat_receiver.hpp"

#include <utility>
#include <vector>

#include "tenon/error.hpp"

namespace tenon::task {
namespace {

std::string ms_text(loop::Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) +
         " ms";
}

void check_interval(const char* key, loop::Duration interval, loop::Duration timeout) {
  if (interval > loop::Duration::zero() && interval <= timeout) return;
  throw Error(ErrorKind::usage, std::string(key) + " (" + ms_text(interval) +
                                    ") must be more than 0 and no more than "
                                    "tenon.network.timeout (" +
                                    ms_text(timeout) + ")");
}

}  // namespace

HeartbeatReceiver::HeartbeatReceiver(loop::Loop& loop, Backend& backend, Settings settings,
                                     Lost lost, BlocksKnown blocks_known)
    : loop_(loop),
      backend_(backend),
      settings_(settings),
      lost_(std::move(lost)),
      blocks_known_(std::move(blocks_known)) {
  check_interval("tenon.network.timeoutInterval", settings.check_interval, settings.timeout);
  check_interval("tenon.executor.heartbeatInterval", settings.executor_interval, settings.timeout);
}

HeartbeatReceiver::~HeartbeatReceiver() { stop(); }

void HeartbeatReceiver::stop() {
  stopped_ = true;
  last_seen_.clear();
  if (timer_ != 0) loop_.cancel(std::exchange(timer_, 0));
}

void HeartbeatReceiver::add_executor(const std::string& executor_id) {
  if (stopped_) return;
  last_seen_[executor_id] = loop_.clock().now();
  if (timer_ == 0) check_later();
}

void HeartbeatReceiver::remove_executor(const std::string& executor_id) {
  last_seen_.erase(executor_id);
}

bool HeartbeatReceiver::heartbeat(const std::string& executor_id) {
  if (stopped_) return false;
  const auto it = last_seen_.find(executor_id);
  if (it == last_seen_.end()) return true;
  it->second = loop_.clock().now();
  return blocks_known_ && !blocks_known_(executor_id);
}

void HeartbeatReceiver::check_later() {
  timer_ = loop_.call_after(settings_.check_interval, [this] {
    timer_ = 0;
    check();
    if (!last_seen_.empty() && timer_ == 0) check_later();
  });
}

void HeartbeatReceiver::check() {
  const loop::Time now = loop_.clock().now();
  std::vector<std::pair<std::string, loop::Duration>> silent;
  for (const auto& [executor, seen] : last_seen_) {
    if (now - seen > settings_.timeout) silent.emplace_back(executor, now - seen);
  }
  for (const auto& [executor, time] : silent) expire(executor, time);
}

void HeartbeatReceiver::expire(const std::string& executor_id, loop::Duration silent) {
  last_seen_.erase(executor_id);
  LossReason reason;
  reason.kind = LossReason::Kind::unreachable;
  reason.message = "Executor heartbeat timed out after " + ms_text(silent);
  try {
    (void)backend_.kill_executor(executor_id, reason.message);
  } catch (const Error&) {
    // It counts as lost all the same.
  }
  lost_(executor_id, reason);
}

}  // namespace tenon::task
