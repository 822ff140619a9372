// Which executors there are, and on which hosts and racks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "task/attempt.hpp"
#include "task/backend.hpp"
#include "task/names.hpp"

namespace tenon::task {

struct ExecutorState {
  NameId host = kNoName;
  uint32_t incarnation = 0;
  uint32_t cores = 0;  // 0: unknown
  bool alive = false;
  bool removed = false;  // by its backend: an offer that still names it is a late one
  bool loss_pending = false;
  bool decommissioning = false;
  ExecutorAttempts attempts;
  uint32_t waiting = 0;  // of them, how many wait in its queue

  // May get tasks.
  [[nodiscard]] bool usable() const { return alive && !loss_pending && !decommissioning; }
};

// Executors are named by NameId, whether they are there or only preferred by a task.
class Cluster {
 public:
  // Registers it, or takes what is new about one that is there. True when it was not there.
  bool add(const Executor& executor);
  // Forgets it. False when it was not there. Its attempts must have ended.
  bool remove(NameId executor);
  void set_loss_pending(NameId executor) { change(executor, &ExecutorState::loss_pending); }
  void set_decommissioning(NameId executor) { change(executor, &ExecutorState::decommissioning); }
  // Offers that still name it do not bring it back.
  void mark_removed(NameId executor) { state(executor).removed = true; }

  NameId executor_id(std::string_view name) { return executors_.intern(name); }
  NameId host_id(std::string_view name) { return hosts_.intern(name); }
  [[nodiscard]] NameId find_executor(std::string_view name) const { return executors_.find(name); }
  [[nodiscard]] const std::string& executor_name(NameId id) const { return executors_[id]; }
  [[nodiscard]] const std::string& host_name(NameId id) const { return hosts_[id]; }

  ExecutorState& state(NameId executor);
  [[nodiscard]] const ExecutorState* find(NameId executor) const {
    return executor < states_.size() ? &states_[executor] : nullptr;
  }
  [[nodiscard]] bool alive(NameId executor) const {
    return executor < states_.size() && states_[executor].alive;
  }
  [[nodiscard]] bool usable(NameId executor) const {
    return executor < states_.size() && states_[executor].usable();
  }
  [[nodiscard]] bool host_usable(NameId host) const {
    return host < usable_on_host_.size() && usable_on_host_[host] > 0;
  }
  [[nodiscard]] bool rack_usable(NameId rack) const {
    return rack < usable_on_rack_.size() && usable_on_rack_[rack] > 0;
  }
  // kNoName: not known.
  [[nodiscard]] NameId rack_of(NameId host) const {
    return host < rack_of_host_.size() ? rack_of_host_[host] : kNoName;
  }

  [[nodiscard]] size_t alive_count() const { return alive_count_; }
  [[nodiscard]] std::vector<NameId> alive_executors() const;
  [[nodiscard]] size_t alive_on_host(std::string_view host) const;
  [[nodiscard]] uint32_t total_cores() const;

 private:
  void change(NameId executor, bool ExecutorState::* flag);
  void count_usable(const ExecutorState& state, int by);

  Names executors_, hosts_, racks_;
  std::vector<ExecutorState> states_;    // by executor
  std::vector<NameId> rack_of_host_;     // by host
  std::vector<int32_t> usable_on_host_;  // by host
  std::vector<int32_t> usable_on_rack_;  // by rack
  size_t alive_count_ = 0;
};

}  // namespace tenon::task
