// Who waits for a job: brings the results to the program's handler and its end to the program.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "context/result_pool.hpp"
#include "dag/job.hpp"
#include "tenon/detail/driver.hpp"

namespace tenon::context {

// Tells the scheduler which positions of a job a handler has done with; error: the last of them
// threw it. [any-thread]
using ReportHandled = std::function<void(int32_t job, std::vector<int32_t> positions,
                                         std::shared_ptr<const Error> error)>;

class JobWaiter;

// Waiters that got results in this turn of the loop: each hears of all of them at once, at the
// turn's end. On the loop's thread.
class ResultTurn {
 public:
  void add(JobWaiter& waiter) { waiters_.push_back(&waiter); }
  void remove(JobWaiter& waiter) { std::erase(waiters_, &waiter); }
  void end();

 private:
  std::vector<JobWaiter*> waiters_;
};

// Results of one job on their way to the handler, which runs for one at a time, never on the
// scheduler's thread.
class JobWaiter : public dag::JobListener {
 public:
  // turn outlives the job.
  JobWaiter(int32_t job, size_t positions, ReportHandled report, ResultTurn& turn)
      : job_(job), positions_(positions), report_(std::move(report)), turn_(turn) {}

  [[nodiscard]] int32_t job() const { return job_; }

  bool task_succeeded(int32_t position, std::string value) override;
  void job_succeeded() override;
  void job_failed(std::shared_ptr<const Error> error) override;
  // Hands on what has come; on the loop's thread.
  void flush();

 protected:
  using Result = std::pair<int32_t, std::string>;

  // Something new is there; called under the mutex, before who waits is woken.
  virtual void changed() {}

  // Gives the handler what has come; false when it threw.
  bool handle(std::vector<Result> results, const detail::ResultHandler& handler);

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<Result> results_;
  size_t handled_ = 0;
  bool ended_ = false;  // the scheduler said so
  std::shared_ptr<const Error> error_;

  const int32_t job_;
  const size_t positions_;

 private:
  void end(std::shared_ptr<const Error> error);

  const ReportHandled report_;
  ResultTurn& turn_;
  std::vector<Result> arrived_;  // in this turn; the loop's thread alone
};

// The caller waits and runs the handler itself.
class SyncJob final : public JobWaiter {
 public:
  using JobWaiter::JobWaiter;
  // Until all results are handled or the job has failed. Throws the job's error.
  void run(const detail::ResultHandler& handler);
};

// The caller goes on; the handler runs on the driver's pool.
class AsyncJob final : public JobWaiter,
                       public detail::JobHandle,
                       public std::enable_shared_from_this<AsyncJob> {
 public:
  AsyncJob(int32_t job, size_t positions, ReportHandled report, ResultTurn& turn,
           detail::ResultHandler handler, std::shared_ptr<ResultPool> pool,
           std::function<void(const std::string&)> cancel);

  void cancel(const std::string& reason) override;
  [[nodiscard]] bool completed() const override;
  void wait() override;
  [[nodiscard]] int32_t id() const override { return job(); }

 private:
  void changed() override;
  void pump();

  const detail::ResultHandler handler_;
  const std::shared_ptr<ResultPool> pool_;
  const std::function<void(const std::string&)> cancel_;
  bool pumping_ = false;  // guarded by mutex_: one handler at a time
};

// What a job's caller gets to see of an error that came from the scheduler: thrown as the type that
// its kind stands for.
[[noreturn]] void rethrow(const std::shared_ptr<const Error>& error);

// The exception that is being handled, as an Error: of a handler or another function of the
// program.
[[nodiscard]] std::shared_ptr<const Error> current_error(const std::string& what);

}  // namespace tenon::context
