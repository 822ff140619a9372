// Tells executors that went silent from those that are well (C18.11, C18.12).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <unordered_map>

#include "loop/loop.hpp"
#include "task/backend.hpp"
#include "task/end_reason.hpp"

namespace tenon::task {

// Loop's thread.
class HeartbeatReceiver {
 public:
  struct Settings {
    loop::Duration timeout = std::chrono::seconds(120);        // tenon.network.timeout
    loop::Duration check_interval = std::chrono::seconds(60);  // tenon.network.timeoutInterval
    loop::Duration executor_interval =
        std::chrono::seconds(10);  // tenon.executor.heartbeatInterval
  };
  using Lost = std::function<void(const std::string& executor_id, const LossReason& reason)>;
  using BlocksKnown = std::function<bool(const std::string& executor_id)>;

  // lost: the executor was silent for too long. The backend was asked to kill it, and it is not
  // tracked any more; to be handled as any other loss. blocks_known: does the driver know the
  // executor's blocks? Empty: always. Throws tenon::Error (usage) when one of the intervals is
  // longer than the timeout.
  HeartbeatReceiver(loop::Loop& loop, Backend& backend, Settings settings, Lost lost,
                    BlocksKnown blocks_known = {});
  ~HeartbeatReceiver();
  HeartbeatReceiver(const HeartbeatReceiver&) = delete;
  HeartbeatReceiver& operator=(const HeartbeatReceiver&) = delete;

  void add_executor(const std::string& executor_id);
  void remove_executor(const std::string& executor_id);
  // True: the executor shall register its blocks anew, since it or its blocks are not known. What
  // came with the heartbeat of an executor that is not known is of no use.
  [[nodiscard]] bool heartbeat(const std::string& executor_id);
  [[nodiscard]] bool knows(const std::string& executor_id) const {
    return last_seen_.contains(executor_id);
  }
  [[nodiscard]] size_t tracked() const { return last_seen_.size(); }
  // Every heartbeat is answered by false from now on.
  void stop();

 private:
  void check_later();
  void check();
  void expire(const std::string& executor_id, loop::Duration silent);

  loop::Loop& loop_;
  Backend& backend_;
  Settings settings_;
  Lost lost_;
  BlocksKnown blocks_known_;
  std::unordered_map<std::string, loop::Time> last_seen_;
  loop::TimerId timer_ = 0;
  bool stopped_ = false;
};

}  // namespace tenon::task
