// A fake task scheduler with executors that keep shuffle files and die: what a random run needs to
// know the truth.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dag/dag_scheduler.hpp"

namespace tenon::dag::testing {

class RandomCluster final : public task::TaskSubmitter {
 public:
  RandomCluster(std::mt19937_64& random, int executors);

  void attach(DagScheduler& scheduler, const MapOutputTracker& tracker) {
    scheduler_ = &scheduler;
    tracker_ = &tracker;
  }

  // ---- one random thing that may happen. False: it could not.
  bool start_task();         // a pending task of a live set, or a second copy of a running one
  bool finish_task();        // a running task, by what it finds when it reads its shuffles
  bool repeat_completion();  // a success is reported once more
  bool kill_executor();      // its files are gone; nobody knows yet
  bool notice_loss();        // the driver learns of a dead executor
  bool add_executor();       // under an old id or a new one
  [[nodiscard]] bool idle() const { return running_.empty(); }

  // ---- TaskSubmitter
  void submit_tasks(task::TaskSetPtr set) override;
  void cancel_tasks(int32_t stage_id, const std::string& reason) override;
  void kill_all_task_attempts(int32_t stage_id, const std::string& reason) override;
  bool kill_task_attempt(uint64_t, const std::string&) override { return false; }
  void partition_completed(int32_t stage_id, int32_t partition) override;
  [[nodiscard]] int32_t default_parallelism() const override { return 2; }

  std::vector<std::string> faults;  // what must never happen

 private:
  enum class State : uint8_t { pending, running, done };
  struct Set {
    task::TaskSetPtr set;
    bool live = true;
    std::vector<State> states;
    std::vector<int> places;        // executor of the success; -1: another attempt's
    std::vector<int32_t> shuffles;  // that its tasks read
  };
  using SetPtr = std::shared_ptr<Set>;
  struct Attempt {
    SetPtr set;
    size_t index;
    int executor;
    uint64_t id;
    bool killed = false;
  };
  struct Machine {
    std::string id;
    bool alive = true, known_dead = false;
  };
  using File = std::pair<int32_t, int32_t>;  // shuffle, map

  size_t pick(size_t count) { return static_cast<size_t>(random_() % count); }
  void end(const Attempt& attempt, task::EndReason reason);
  void requeue(const Attempt& attempt);
  [[nodiscard]] task::EndReason outcome(const Attempt& attempt);
  [[nodiscard]] task::BlockManagerId address(int executor) const;
  [[nodiscard]] bool holds(const task::BlockManagerId& at, const File& file) const;

  std::mt19937_64& random_;
  DagScheduler* scheduler_ = nullptr;
  const MapOutputTracker* tracker_ = nullptr;
  std::vector<Machine> machines_;
  std::map<int, std::set<File>> files_;
  std::vector<SetPtr> sets_;
  std::vector<Attempt> running_, succeeded_;
  uint64_t next_task_ = 0;
};

}  // namespace tenon::dag::testing
