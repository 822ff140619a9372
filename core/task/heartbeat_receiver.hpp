// Tells executors that went silent from those that are well (C18.11, C18.12).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <unordered_map>

#include "loop/loop.hpp"

namespace tenon::task {

struct HeartbeatSettings {
  loop::Duration timeout = std::chrono::seconds(120);           // tenon.network.timeout
  loop::Duration check_interval = std::chrono::seconds(60);     // tenon.network.timeoutInterval
  loop::Duration executor_interval = std::chrono::seconds(10);  // tenon.executor.heartbeatInterval
};

struct HeartbeatHooks {
  // Does the driver know the executor's blocks? No: it is asked to register them anew.
  std::function<bool(const std::string& executor_id)> blocks_known;
  // Silent for too long: to be killed, replaced and removed. It is not tracked any more.
  std::function<void(const std::string& executor_id, const std::string& reason)> expired;
};

struct HeartbeatReply {
  bool known = false;  // its figures may be used
  bool register_blocks = false;
};

// Loop's thread. stop() before the loop goes.
class HeartbeatReceiver {
 public:
  // Throws tenon::Error (usage) when one of the intervals is longer than the timeout.
  HeartbeatReceiver(loop::Loop& loop, HeartbeatSettings settings, HeartbeatHooks hooks);
  ~HeartbeatReceiver();
  HeartbeatReceiver(const HeartbeatReceiver&) = delete;
  HeartbeatReceiver& operator=(const HeartbeatReceiver&) = delete;

  // The scheduler is there; a heartbeat before is answered as one of an unknown executor.
  void start();
  // Heartbeats are answered by nothing to do.
  void stop();
  void executor_added(const std::string& executor_id);
  void executor_removed(const std::string& executor_id);
  [[nodiscard]] HeartbeatReply heartbeat(const std::string& executor_id);
  [[nodiscard]] size_t tracked() const { return last_seen_.size(); }

 private:
  void check_later();
  void check();

  loop::Loop& loop_;
  HeartbeatSettings settings_;
  HeartbeatHooks hooks_;
  std::unordered_map<std::string, loop::Time> last_seen_;
  loop::TimerId timer_ = 0;
  bool started_ = false, stopped_ = false;
};

}  // namespace tenon::task
