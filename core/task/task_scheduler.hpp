// Which task runs on which offer, and what becomes of it (C7, C9).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/log_callback.hpp"
#include "loop/loop.hpp"
#include "task/backend.hpp"
#include "task/offer_round.hpp"
#include "task/pool.hpp"
#include "task/resource_watch.hpp"
#include "task/scheduler_state.hpp"
#include "task/settings.hpp"
#include "task/task_set_manager.hpp"
#include "task/task_submitter.hpp"

namespace tenon::task {

// How much is being kept; all but executors are 0 when nothing runs (C1.5).
struct Sizes {
  size_t stages = 0;     // stages with task sets
  size_t task_sets = 0;  // of all their attempts
  size_t attempts = 0;   // task id -> set, task id -> executor
  size_t queued = 0;     // attempts that wait in executors' queues
  size_t pooled = 0;     // task sets in the pools
  size_t running = 0;    // running count of the root pool
  size_t executors = 0;  // alive
};

// Everything on the loop's thread. No exception leaves resource_offers(), status_update() and the
// other events of the backend; what goes wrong is logged. Backend and DagEvents outlive it, and
// neither may call back on the same stack.
class TaskScheduler final : public TaskSubmitter {
 public:
  // Throws tenon::Error (usage) on a bad mode or pool file.
  TaskScheduler(loop::Loop& loop, Backend& backend, DagEvents& dag, Settings settings,
                PayloadEncoder encode, LogCallback log = {});
  ~TaskScheduler() override;

  // TaskSubmitter.
  void submit_tasks(TaskSetPtr set) override;
  void cancel_tasks(int32_t stage_id, const std::string& reason) override;
  void kill_all_task_attempts(int32_t stage_id, const std::string& reason) override;
  bool kill_task_attempt(uint64_t task_id, const std::string& reason) override;
  void partition_completed(int32_t stage_id, int32_t partition) override;
  [[nodiscard]] int32_t default_parallelism() const override;

  // What the backend brings (BackendEvents), once it has reached the loop.
  void registered(const Registration& registration);
  void pending(std::string reason, std::string message, std::map<std::string, std::string> numbers);
  void executor_added(const Executor& executor);
  void executor_decommissioning(const std::string& executor_id);
  // Nothing of it fails or runs again until executor_removed() brings the reason (C9.10).
  void executor_loss_pending(const std::string& executor_id, const std::string& message);
  // The one place where an executor goes, whoever noticed first.
  void executor_removed(const std::string& executor_id, const LossReason& reason);
  void worker_removed(const std::string& worker_id, const std::string& host,
                      const std::string& message);
  // Answers the offer by one Backend::launch_tasks().
  void resource_offers(uint64_t offer, OfferScope scope, std::vector<WorkerOffer> offers);
  void status_update(std::vector<StatusUpdate> statuses);
  // The attempt has ended well, and its result is being fetched: its last status follows (C11.3).
  // False: no such attempt runs, or its result is being fetched already.
  bool getting_result(uint64_t task_id, const std::string& executor_id);

  // The decision behind resource_offers(): for each offer the tasks to launch there (S000-053). The
  // tasks count as launched.
  [[nodiscard]] std::vector<std::vector<Launch>> assign(OfferScope scope,
                                                        const std::vector<WorkerOffer>& offers);

  // Asks the backend for offers soon: once, however often it is called before that.
  void revive_soon();
  // Every attempt ends as killed, and no timer fires any more; what the backend still brings
  // changes nothing.
  void stop();

  // C18.10: tasks that fit on all usable executors at once, free or busy.
  [[nodiscard]] uint32_t max_concurrent_tasks() const;
  [[nodiscard]] bool is_executor_alive(const std::string& executor_id) const;
  [[nodiscard]] size_t executors_on_host(const std::string& host) const {
    return state_.cluster.alive_on_host(host);
  }
  [[nodiscard]] size_t running_on(const std::string& executor_id) const;
  [[nodiscard]] const Pool& root_pool() const { return pools_.root(); }
  // The set of that attempt of the stage; nullptr: unknown or done.
  [[nodiscard]] TaskSetManager* find_set(int32_t stage_id, int32_t stage_attempt) const;
  // Statuses that no running attempt belonged to: late, repeated or of the wrong executor.
  [[nodiscard]] uint64_t ignored_statuses() const { return ignored_statuses_; }
  [[nodiscard]] Sizes sizes() const;
  // Each violated invariant as a line; empty: all well.
  [[nodiscard]] std::vector<std::string> check_invariants() const;

 private:
  using Managers = std::vector<std::unique_ptr<TaskSetManager>>;
  using Launches = std::vector<std::vector<Launch>>;  // by offer

  // Runs the handling of one event and logs what it throws.
  template <class F>
  void guarded(const char* what, F&& handle);

  // Offers.
  std::vector<OpenOffer> admit(const std::vector<WorkerOffer>& offers);
  void fill_all(std::vector<OpenOffer>& open, bool queued, Launches& launches);
  void fill(TaskSetManager& set, std::vector<OpenOffer>& open, bool queued, Launches& launches);
  void take_back_queued(const std::vector<OpenOffer>& open);
  void take_back(Attempt& attempt);
  void give_back(uint64_t first_task, const std::string& why);

  // Statuses.
  void handle(StatusUpdate& status);
  void handle_end(Attempt& attempt, StatusUpdate& status);
  void handle_lost(Attempt& attempt);
  void ignore(const StatusUpdate& status, const char* why);

  // Executors.
  void add_executor(const Executor& executor);
  void remove_executor(NameId executor, const LossReason& reason);
  void drop_all_executors();
  void executors_changed();

  // Sets.
  void stop_timers();
  void kill_attempts(int32_t stage_id, const std::string& reason);
  void remove_if_done(TaskSetManager& set);
  void remove_done(int32_t stage_id);
  [[nodiscard]] bool has_pending() const;
  template <class F>
  void for_each_set(F&& f) const {
    for (const auto& [stage, managers] : sets_) {
      for (const auto& set : managers) f(*set);
    }
  }
  void update_watch();
  void starved();
  void fail_if_never();
  void fail_waiting(const std::string& what);
  [[nodiscard]] std::string why_starved() const;
  [[nodiscard]] std::string why_unfit(size_t executors) const;
  void revive_later();
  void revive_now();
  void check_attempts(std::vector<std::string>& violations) const;

  loop::Loop& loop_;
  SchedulerState state_;
  PoolTree pools_;
  ResourceWatch watch_;
  std::unordered_map<int32_t, Managers> sets_;  // by stage id, then attempts in their order
  std::vector<TaskSetManager*> order_;          // of the round; kept for its memory
  std::unordered_map<NameId, loop::TimerId> loss_timers_;  // executors lost without a reason so far
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // posted work looks at it
  bool revive_posted_ = false;
  loop::TimerId revive_timer_ = 0;
  uint64_t ignored_statuses_ = 0;
  uint32_t backend_parallelism_ = 0;
  uint32_t largest_offer_ = 0;    // cores
  std::set<std::string> unseen_;  // resources that tasks need and no offer has named
  bool stopped_ = false;
  std::string pending_reason_;  // what the backend last said about its wait
};

}  // namespace tenon::task
