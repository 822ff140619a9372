#include "executor/task_table.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "task/end_reason_codec.hpp"

namespace tenon::executor {
namespace {

constexpr int64_t kOldStatus = 200'000;      // ns
constexpr int64_t kReportRunning = 500'000;  // ns
constexpr size_t kFullBatch = 64;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status killed_status(uint64_t task_id, const std::string& reason) {
  return {task_id, task::TaskState::killed, task::encode_end_reason(task::TaskKilled{reason, {}})};
}

}  // namespace

std::optional<std::string> TaskTable::Slot::close() {
  const std::lock_guard lock(table_.mutex_);
  closed_ = true;
  return std::exchange(kill_reason_, std::nullopt);
}

TaskTable::TaskTable(uint32_t cores, StatusSink& sink, std::function<void()> arm)
    : cores_(cores), sink_(sink), arm_(std::move(arm)), free_cores_(cores) {}

void TaskTable::add_slot(Slot& slot) {
  const std::lock_guard lock(mutex_);
  slots_.push_back(&slot);
}

void TaskTable::remove_slot(Slot& slot) {
  const std::lock_guard lock(mutex_);
  std::erase(slots_, &slot);
}

void TaskTable::launch(std::vector<LaunchedTask> tasks) {
  size_t wake = 0;
  bool refused = false;
  {
    const std::lock_guard lock(mutex_);
    refused = stopped_.has_value();
    for (LaunchedTask& task : tasks) {
      if (refused) {
        file(killed_status(task.task_id, *stopped_), now_ns());
      } else {
        queue_.push_back(std::move(task));
      }
    }
    if (!refused) wake = std::min<size_t>(tasks.size(), idle_);
  }
  for (; wake > 0; --wake) work_.notify_one();
  if (refused) flush();
}

std::optional<LaunchedTask> TaskTable::next(Slot& slot, std::optional<Status> ended) {
  std::unique_lock lock(mutex_);
  if (ended) {
    slot.busy_ = false;
    free_cores_ += slot.cores_;
    file(std::move(*ended), now_ns());
  }
  LaunchedTask task;
  while (true) {
    const bool started = start_head(slot, task);
    const bool send = !sending_ && (started ? due(slot.started_ns_) : !outbox_.empty());
    if (started) arm_if_needed();
    if (send) {
      lock.unlock();
      flush();
      if (!started) lock.lock();
    }
    if (started) return task;
    if (send) continue;
    if (stopped_) return std::nullopt;
    ++idle_;
    work_.wait(lock);
    --idle_;
  }
}

void TaskTable::kill(uint64_t task_id, bool if_queued, const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    const auto queued = std::ranges::find(queue_, task_id, &LaunchedTask::task_id);
    if (queued == queue_.end()) {
      const auto slot = std::ranges::find_if(slots_, [&](const Slot* candidate) {
        return candidate->busy_ && candidate->task_id_ == task_id;
      });
      if (slot == slots_.end() || if_queued || (*slot)->closed_) return;
      if (!(*slot)->kill_reason_) (*slot)->kill_reason_ = reason;
      (*slot)->attempt_.kill();
      return;
    }
    queue_.erase(queued);
    file(
        if_queued ? Status{task_id, task::TaskState::returned, {}} : killed_status(task_id, reason),
        now_ns());
    if (idle_ > 0) work_.notify_one();  // what stood behind it may fit
  }
  flush();
}

void TaskTable::shutdown(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    stopped_ = reason;
    for (const LaunchedTask& task : std::exchange(queue_, {})) {
      file(killed_status(task.task_id, reason), now_ns());
    }
    for (Slot* slot : slots_) {
      if (!slot->busy_ || slot->closed_) continue;
      if (!slot->kill_reason_) slot->kill_reason_ = reason;
      slot->attempt_.kill();
    }
    work_.notify_all();
  }
  flush();
}

void TaskTable::tick() {
  {
    const std::lock_guard lock(mutex_);
    armed_ = false;
    const int64_t now = now_ns();
    bool unreported = false;
    for (Slot* slot : slots_) {
      if (!slot->busy_ || slot->reported_) continue;
      if (now - slot->started_ns_ < kReportRunning) {
        unreported = true;
        continue;
      }
      slot->reported_ = true;
      file({slot->task_id_, task::TaskState::running, {}}, now);
    }
    if (unreported) arm_if_needed();
  }
  flush();
}

void TaskTable::wait_until_sent() {
  flush();
  std::unique_lock lock(mutex_);
  sent_.wait(lock, [&] { return !sending_ && outbox_.empty(); });
}

std::vector<std::pair<uint64_t, TaskMetrics>> TaskTable::running() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<uint64_t, TaskMetrics>> tasks;
  const int64_t now = now_ns();
  for (const Slot* slot : slots_) {
    if (!slot->busy_) continue;
    TaskMetrics metrics = slot->attempt_.metrics_now();
    if (metrics.run_ns == 0) metrics.run_ns = now - slot->started_ns_;
    tasks.emplace_back(slot->task_id_, metrics);
  }
  return tasks;
}

size_t TaskTable::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

// The functions below but flush(): with the mutex held.

bool TaskTable::start_head(Slot& slot, LaunchedTask& task) {
  if (queue_.empty()) return false;
  const uint32_t cores = std::min(queue_.front().cores, cores_);
  if (cores > free_cores_) return false;
  task = std::move(queue_.front());
  queue_.pop_front();
  free_cores_ -= cores;
  slot.busy_ = true;
  slot.closed_ = false;
  slot.reported_ = false;
  slot.task_id_ = task.task_id;
  slot.cores_ = cores;
  slot.started_ns_ = now_ns();
  slot.kill_reason_.reset();
  slot.attempt_.reset(task.task_id);
  if (idle_ > 0 && !queue_.empty()) work_.notify_one();
  return true;
}

void TaskTable::file(Status status, int64_t now) {
  if (outbox_.empty()) oldest_ns_ = now;
  outbox_.push_back(std::move(status));
}

bool TaskTable::due(int64_t now) const {
  return !outbox_.empty() &&
         (outbox_.size() >= std::min(queue_.size(), kFullBatch) || now - oldest_ns_ >= kOldStatus);
}

void TaskTable::arm_if_needed() {
  if (armed_) return;
  armed_ = true;
  arm_();
}

// Without the mutex while the sink is called, and by one thread at a time, which keeps the order:
// what others file meanwhile goes with the sender's next batch.
void TaskTable::flush() {
  std::unique_lock lock(mutex_);
  if (sending_) return;
  sending_ = true;
  while (!outbox_.empty()) {
    std::vector<Status> batch;
    batch.swap(outbox_);
    lock.unlock();
    sink_.status_update(std::move(batch));
    lock.lock();
  }
  sending_ = false;
  sent_.notify_all();
}

}  // namespace tenon::executor
