// The tasks of one executor: queued, running, and ended but not yet reported.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/task_runner.hpp"
#include "tenon/plugin/buffer.hpp"

namespace tenon::executor {

// A task as the backend hands it over.
struct LaunchedTask {
  uint64_t task_id = 0;
  uint32_t cores = 1;
  plugin::Buffer payload;  // executor/task_description.hpp
};

// Takes an executor's statuses towards the driver. [any-thread], one call at a time. Throws nothing
// and does not block.
class StatusSink {
 public:
  StatusSink() = default;
  virtual ~StatusSink() = default;
  StatusSink(const StatusSink&) = delete;
  StatusSink& operator=(const StatusSink&) = delete;
  virtual void status_update(std::vector<Status> statuses) = 0;
};

// Tasks start in the order of their launch, each when its cores are free. Each launched task gets
// one terminal status. Statuses go out in batches: at once when fewer tasks are queued than
// statuses wait, so that short tasks in a row share a batch and the driver hears in time to launch
// more; else when they are 200 us old and some task ends, or at the next tick. RUNNING is sent at a
// tick, for tasks that have run for half a millisecond; the status that ends a shorter one stands
// for it. Functions are [any-thread].
class TaskTable {
 public:
  // One task runner's place.
  class Slot final : public KillGate {
   public:
    Slot(TaskTable& table, Attempt& attempt) : table_(table), attempt_(attempt) {}
    std::optional<std::string> close() override;

   private:
    friend class TaskTable;
    TaskTable& table_;
    Attempt& attempt_;
    // The rest is guarded by the table's mutex.
    bool busy_ = false;
    bool closed_ = false;    // its end is decided: a kill comes too late
    bool reported_ = false;  // RUNNING was sent
    uint64_t task_id_ = 0;
    uint32_t cores_ = 0;
    int64_t started_ns_ = 0;
    std::optional<std::string> kill_reason_;
  };

  // The sink outlives the table. arm: asks for one tick() in about a millisecond; called under the
  // table's mutex.
  TaskTable(uint32_t cores, StatusSink& sink, std::function<void()> arm);
  TaskTable(const TaskTable&) = delete;
  TaskTable& operator=(const TaskTable&) = delete;

  // Around the runner's use of next().
  void add_slot(Slot& slot);
  void remove_slot(Slot& slot);

  // After shutdown() the tasks end as killed.
  void launch(std::vector<LaunchedTask> tasks);

  // For a runner: files the end of the task before, then waits for a task to run. Nothing: shut
  // down.
  [[nodiscard]] std::optional<LaunchedTask> next(Slot& slot, std::optional<Status> ended);

  // A queued task ends as killed, or with if_queued as returned. A running one is asked to end, but
  // not with if_queued. Unknown: nothing.
  void kill(uint64_t task_id, bool if_queued, const std::string& reason);

  // Queued tasks end as killed, running ones are asked to end.
  void shutdown(const std::string& reason);

  // Sends what waits, and RUNNING where it is due.
  void tick();

  // Until the sink has taken every status there is.
  void wait_until_sent();

  // Tasks that run, with their figures so far.
  [[nodiscard]] std::vector<std::pair<uint64_t, TaskMetrics>> running() const;
  [[nodiscard]] size_t queued() const;

 private:
  bool start_head(Slot& slot, LaunchedTask& task);
  void file(Status status, int64_t now);
  [[nodiscard]] bool due(int64_t now) const;
  void arm_if_needed();
  void flush();

  const uint32_t cores_;
  StatusSink& sink_;
  const std::function<void()> arm_;
  mutable std::mutex mutex_;  // guards all below, and the slots
  std::condition_variable work_, sent_;
  bool sending_ = false;  // some thread hands the outbox to the sink
  std::deque<LaunchedTask> queue_;
  std::vector<Slot*> slots_;
  std::vector<Status> outbox_;
  int64_t oldest_ns_ = 0;  // when the first status came into the outbox
  uint32_t free_cores_;
  uint32_t idle_ = 0;
  bool armed_ = false;
  std::optional<std::string> stopped_;  // the reason
};

}  // namespace tenon::executor
