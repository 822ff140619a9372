// The tree of pools and task sets that says whose turn it is (C8).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/log_callback.hpp"
#include "task/pool_file.hpp"
#include "tenon/status.hpp"

namespace tenon::task {

class Pool;
class TaskSetManager;

// A node of the tree. Scheduler's thread.
class Schedulable {
 public:
  explicit Schedulable(std::string name) : name_(std::move(name)) {}
  virtual ~Schedulable() = default;
  Schedulable(const Schedulable&) = delete;
  Schedulable& operator=(const Schedulable&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Pool* parent() const { return parent_; }
  [[nodiscard]] int32_t running() const { return running_; }
  [[nodiscard]] int32_t min_share() const { return min_share_; }
  [[nodiscard]] int32_t weight() const { return weight_; }
  [[nodiscard]] int32_t priority() const { return priority_; }
  [[nodiscard]] int32_t stage_id() const { return stage_id_; }

  // Adds to the count of running tasks here and in all pools above.
  void add_running(int32_t by);
  // Appends the sets below that have something to launch, in the order of their turns (C8.7).
  virtual void collect(std::vector<TaskSetManager*>& sets) = 0;

 protected:
  int32_t min_share_ = 0, weight_ = 1, priority_ = 0, stage_id_ = -1;

 private:
  friend class Pool;
  std::string name_;
  Pool* parent_ = nullptr;
  int32_t running_ = 0;
};

// C8.2: smaller priority first, then smaller stage id.
[[nodiscard]] bool fifo_before(const Schedulable& a, const Schedulable& b);
// C8.3: the needy first, then by share, then by name.
[[nodiscard]] bool fair_before(const Schedulable& a, const Schedulable& b);

class Pool final : public Schedulable {
 public:
  explicit Pool(const PoolSpec& spec);
  ~Pool() override;

  [[nodiscard]] SchedulingMode mode() const { return mode_; }
  [[nodiscard]] const std::vector<Schedulable*>& children() const { return children_; }

  // A pool below this one; owned.
  Pool& add_pool(const PoolSpec& spec);
  // nullptr: no child pool of that name.
  [[nodiscard]] Pool* find_pool(std::string_view name) const;
  // A task set, which must be removed before it ends.
  void add(Schedulable& set);
  void remove(Schedulable& set);

  void collect(std::vector<TaskSetManager*>& sets) override;

 private:
  void sort();

  SchedulingMode mode_;
  std::vector<std::unique_ptr<Pool>> pools_;
  std::vector<Schedulable*>
      children_;  // in the order of the last sort, which is nearly that of the next
};

// The root pool with the policy of tenon.scheduler.mode: where a set is hung.
class PoolTree {
 public:
  // pools: what the pool file says; used in FAIR mode only. default_mode: of a "default" pool that
  // pools has not.
  PoolTree(SchedulingMode mode, const std::vector<PoolSpec>& pools, SchedulingMode default_mode,
           LogCallback log);

  // FIFO: under the root. FAIR: under the pool that the property tenon.scheduler.pool names, or
  // "default"; a pool that is not known is made with default attributes and a warning.
  void add(Schedulable& set, const Properties& properties);
  void remove(Schedulable& set);
  [[nodiscard]] std::vector<TaskSetManager*> sorted_sets();
  // The same into a buffer.
  void sorted_sets(std::vector<TaskSetManager*>& sets);
  [[nodiscard]] Pool& root() { return root_; }
  [[nodiscard]] const Pool& root() const { return root_; }

 private:
  SchedulingMode mode_;
  LogCallback log_;
  Pool root_;
};

}  // namespace tenon::task
