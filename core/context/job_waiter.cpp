#include "context/job_waiter.hpp"

#include <exception>
#include <iterator>
#include <typeinfo>
#include <utility>

#include "common/log.hpp"
#include "tenon/error.hpp"

namespace tenon::context {
namespace {

const log::Logger kLog = log::logger("driver");

}  // namespace

void ResultTurn::end() {
  for (JobWaiter* waiter : waiters_) waiter->flush();
  waiters_.clear();
}

bool JobWaiter::task_succeeded(int32_t position, std::string value) {
  if (arrived_.empty()) turn_.add(*this);
  arrived_.emplace_back(position, std::move(value));
  return false;
}

// Waiters are woken without the mutex, which they take at once.
void JobWaiter::flush() {
  {
    const std::lock_guard lock(mutex_);
    if (results_.empty()) {
      results_.swap(arrived_);
    } else {
      std::move(arrived_.begin(), arrived_.end(), std::back_inserter(results_));
      arrived_.clear();
    }
    changed();
  }
  changed_.notify_one();
}

// The scheduler drops its reference after either of these.
void JobWaiter::job_succeeded() {
  turn_.remove(*this);
  flush();
  end(nullptr);
}

void JobWaiter::job_failed(std::shared_ptr<const Error> error) {
  turn_.remove(*this);
  end(std::move(error));
}

void JobWaiter::end(std::shared_ptr<const Error> error) {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    error_ = std::move(error);
    changed();
  }
  changed_.notify_all();
}

bool JobWaiter::handle(std::vector<Result> results, const detail::ResultHandler& handler) {
  std::vector<int32_t> positions;
  positions.reserve(results.size());
  std::shared_ptr<const Error> error;
  for (const auto& [position, value] : results) {
    positions.push_back(position);
    try {
      handler(position, value);
    } catch (...) {
      error = current_error("the result handler threw");
      break;
    }
  }
  kLog.debug([&] {
    return "Delivered results of job " + std::to_string(job_) +
           ", results=" + std::to_string(positions.size());
  });
  report_(job_, std::move(positions), error);
  return error == nullptr;
}

void SyncJob::run(const detail::ResultHandler& handler) {
  std::unique_lock lock(mutex_);
  for (bool well = true;;) {
    changed_.wait(lock, [&] { return ended_ || !results_.empty(); });
    if (error_) rethrow(error_);
    if (!well || results_.empty()) {
      if (ended_) return;
      results_.clear();
      continue;
    }
    std::vector<Result> results;
    results.swap(results_);
    handled_ += results.size();
    lock.unlock();
    well = handle(std::move(results), handler);
    lock.lock();
    // The job's end in the scheduler follows what was just reported; nothing can fail any more.
    if (well && handled_ == positions_) return;
  }
}

AsyncJob::AsyncJob(int32_t job, size_t positions, ReportHandled report, ResultTurn& turn,
                   detail::ResultHandler handler, std::shared_ptr<ResultPool> pool,
                   std::function<void(const std::string&)> cancel)
    : JobWaiter(job, positions, std::move(report), turn),
      handler_(std::move(handler)),
      pool_(std::move(pool)),
      cancel_(std::move(cancel)) {}

void AsyncJob::cancel(const std::string& reason) { cancel_(reason); }

bool AsyncJob::completed() const {
  auto& self = const_cast<AsyncJob&>(*this);
  const std::lock_guard lock(self.mutex_);
  return ended_;
}

void AsyncJob::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended_; });
  if (error_) rethrow(error_);
}

void AsyncJob::changed() {
  if (pumping_ || results_.empty() || error_) return;
  pumping_ = true;
  pool_->post([self = shared_from_this()] { self->pump(); });
}

void AsyncJob::pump() {
  for (bool well = true;;) {
    std::vector<Result> results;
    {
      const std::lock_guard lock(mutex_);
      results.swap(results_);
      if (results.empty() || error_) {
        pumping_ = false;
        return;
      }
    }
    if (well) well = handle(std::move(results), handler_);
  }
}

void rethrow(const std::shared_ptr<const Error>& error) {
  throw Error(error->kind(), error->message(), error->cause());
}

std::shared_ptr<const Error> current_error(const std::string& what) {
  try {
    throw;
  } catch (const Error& error) {
    return std::make_shared<const Error>(error);
  } catch (const std::exception& error) {
    return std::make_shared<const Error>(ErrorKind::user_function, error.what());
  } catch (...) {
    return std::make_shared<const Error>(ErrorKind::user_function,
                                         what + " something that is no std::exception");
  }
}

}  // namespace tenon::context
