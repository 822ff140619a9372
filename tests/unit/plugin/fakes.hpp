// What the tests of the host's half share: a recorder of events, and folders of their own.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "plugin/host_services.hpp"
#include "task/backend.hpp"
#include "tenon/error.hpp"

namespace tenon::host::testing {

namespace fs = std::filesystem;

// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "tenon-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

inline size_t lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

// The error that `call` throws; it must throw.
template <class Call>
Error error_of(Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    return e;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorKind::internal, "");
}

// Log lines; [any-thread].
class Log {
 public:
  void add(int32_t level, std::string_view logger, std::string_view message) {
    const std::lock_guard lock(mutex_);
    lines_.push_back({level, std::string(logger) + ": " + std::string(message)});
  }
  [[nodiscard]] std::vector<std::string> texts(int32_t level) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> out;
    for (const auto& [line_level, text] : lines_) {
      if (line_level == level) out.push_back(text);
    }
    return out;
  }
  [[nodiscard]] HostCallbacks callbacks() {
    HostCallbacks callbacks;
    callbacks.log = [this](int32_t level, std::string_view logger, std::string_view message) {
      add(level, logger, message);
    };
    return callbacks;
  }

 private:
  mutable std::mutex mutex_;  // guards lines_
  std::vector<std::pair<int32_t, std::string>> lines_;
};

// Records what a backend brings. [any-thread]
class RecordedEvents final : public task::BackendEvents {
 public:
  void registered(task::Registration registration) override {
    add("registered", [&] { registrations.push_back(std::move(registration)); });
  }
  void ready() override { add("ready"); }
  void pending(std::string reason, std::string message,
               std::map<std::string, std::string> numbers) override {
    std::string text = "pending " + reason + " " + message;
    for (const auto& [key, value] : numbers) text += " " + key + "=" + value;
    add(text);
  }
  void executor_added(task::Executor executor) override {
    add("executor_added " + executor.id, [&] { executors.push_back(std::move(executor)); });
  }
  void executor_decommissioning(std::string id, int64_t time_left_ms,
                                std::string message) override {
    add("executor_decommissioning " + id + " " + std::to_string(time_left_ms) + " " + message);
  }
  void executor_loss_pending(std::string id, std::string message) override {
    add("executor_loss_pending " + id + " " + message);
  }
  void executor_removed(std::string id, task::LossReason reason) override {
    add("executor_removed " + id, [&] { losses.push_back(std::move(reason)); });
  }
  void worker_removed(std::string id, std::string host, std::string message) override {
    add("worker_removed " + id + " " + host + " " + message);
  }
  void resource_offers(uint64_t offer, task::OfferScope scope,
                       std::vector<task::WorkerOffer> rows) override {
    add("resource_offers " + std::to_string(offer), [&] {
      scopes.push_back(scope);
      offers.push_back(std::move(rows));
    });
  }
  void status_update(std::vector<task::StatusUpdate> updates) override {
    add("status_update", [&] {
      for (auto& update : updates) statuses.push_back(std::move(update));
    });
  }
  void acknowledged(uint64_t request, bool ok, std::vector<std::string> ids) override {
    std::string text = "acknowledged " + std::to_string(request) + (ok ? " ok" : " no");
    for (const auto& id : ids) text += " " + id;
    add(text);
  }
  void stopped() override { add("stopped"); }
  void failed(ErrorKind kind, std::string message) override {
    add("failed " + std::string(to_string(kind)) + " " + message);
  }

  // Waits until the condition holds on what was recorded; false when the time is over.
  bool wait(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), condition);
  }
  bool wait_for(const std::string& event) {
    return wait([&] { return std::count(names.begin(), names.end(), event) != 0; });
  }

  // Read after the threads are done, or within wait().
  std::vector<std::string> names;
  std::vector<task::Registration> registrations;
  std::vector<task::Executor> executors;
  std::vector<task::LossReason> losses;
  std::vector<task::OfferScope> scopes;
  std::vector<std::vector<task::WorkerOffer>> offers;
  std::vector<task::StatusUpdate> statuses;

 private:
  void add(const std::string& name, const std::function<void()>& more = [] {}) {
    {
      const std::lock_guard lock(mutex_);
      names.push_back(name);
      more();
    }
    changed_.notify_all();
  }
  std::mutex mutex_;  // guards all that is recorded
  std::condition_variable changed_;
};

}  // namespace tenon::host::testing
