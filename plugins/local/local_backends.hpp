// Local mode: one executor, "driver", in the driver's own process.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "local_url.hpp"
#include "tenon/plugin/plugin.hpp"

namespace tenon::local {

inline constexpr std::string_view kExecutorId = "driver";
inline constexpr std::string_view kHost = "localhost";

class LocalScheduler final : public plugin::SchedulerBackend {
 public:
  LocalScheduler(const tenon_args& args, plugin::Core core);

  void start() override;
  void stop(int32_t exit_code) override;
  void revive_offers() override;
  void launch_tasks(uint64_t offer, plugin::Tasks tasks) override;
  void kill_task(uint64_t task, std::string_view executor_id, uint32_t flags,
                 std::string_view reason) override;

  // Called by the executor's backend. [any-thread]
  void executor_ready(plugin::ExecutorCore executor);
  void status_update(plugin::Statuses statuses);
  void executor_exits(int32_t exit_code, bool tell, std::string_view reason);
  void executor_stopped();

 private:
  void end_offers();
  void post(plugin::FreeCores::Offer offer) const;

  const LocalUrl url_;

  // Held while the executor is called, so that none comes after it has been told to end. Taken
  // before mutex_. A status does not wait for it: the executor may report from within a call.
  std::mutex executor_mutex_;
  std::optional<plugin::ExecutorCore> executor_;  // set once
  std::optional<int32_t> stop_code_;
  bool gone_ = false;  // the executor has ended itself or was told to
  bool executor_stopped_ = false;

  std::mutex mutex_;  // guards what follows: task runners and the scheduler's thread both come here
  plugin::FreeCores free_;
  bool offering_ = false;  // there is an executor, and it is not gone
};

class LocalExecutor final : public plugin::ExecutorBackend {
 public:
  using ExecutorBackend::ExecutorBackend;

  void start() override;
  void executor_ready() override;
  void status_update(plugin::Statuses statuses) override;
  void stop() override;
  bool exit_executor(int32_t exit_code, bool tell_driver, std::string_view reason,
                     bool end_process) override;

 private:
  [[nodiscard]] LocalScheduler& driver() const { return *static_cast<LocalScheduler*>(args.peer); }
};

}  // namespace tenon::local
