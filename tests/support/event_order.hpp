// What contract C24.2 says about the order of events, as a check of a recorded list. Order is by
// sequence, never by time (C29.8).
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tenon/listener.hpp"

namespace tenon::test {

// Keeps every event it sees. Any thread may read.
class RecordingListener : public Listener {
 public:
  void on_event(const Event& event) override {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
  }
  [[nodiscard]] std::vector<Event> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  [[nodiscard]] size_t size() const {
    const std::lock_guard lock(mutex_);
    return events_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

// Goes through a recorded list and notes what breaks the order:
// - one start and one end for every job; its stages are submitted and completed between them;
// - job start < stage submitted < task start < (getting result) < task end < stage completed < job
// end;
// - what was submitted of a stage's parents has completed before the stage is submitted;
// - every started attempt has exactly one end. The later loss of a map task's output
// ("Resubmitted") is no end. Attempts may end after their stage when it failed, ran more than once
// or had speculative copies: they are killed then.
class EventOrderChecker {
 public:
  // complete: nothing may be under way at the end of the list.
  static std::vector<std::string> check(const std::vector<Event>& events, bool complete = true) {
    EventOrderChecker checker;
    for (const Event& event : events) {
      std::visit([&](const auto& e) { checker.see(e); }, event);
      ++checker.position_;
    }
    if (complete) checker.finish();
    return checker.wrong_;
  }

 private:
  using StageKey = std::pair<int32_t, int32_t>;
  enum class State { submitted, completed };
  struct Stage {
    State state = State::submitted;
    bool failed = false, speculative = false;
  };
  struct Task {
    StageKey stage;
    bool ended = false, succeeded = false, getting_result = false;
  };
  struct Job {
    std::set<int32_t> stages;
    bool ended = false;
  };

  void note(const std::string& text) {
    wrong_.push_back("event " + std::to_string(position_) + ": " + text);
  }
  static std::string name(const StageKey& key) {
    return "stage " + std::to_string(key.first) + "." + std::to_string(key.second);
  }
  static std::string name(uint64_t task) { return "task " + std::to_string(task); }

  [[nodiscard]] bool has_active_job(int32_t stage) const {
    for (const auto& [id, job] : jobs_) {
      if (!job.ended && job.stages.count(stage) != 0) return true;
    }
    return false;
  }
  [[nodiscard]] size_t attempts(int32_t stage) const {
    size_t count = 0;
    for (const auto& [key, value] : stages_) count += key.first == stage ? 1 : 0;
    return count;
  }

  template <class Other>
  void see(const Other&) {}

  void see(const event::JobStart& e) {
    Job job;
    for (const auto& stage : e.stages) job.stages.insert(stage->id);
    if (!jobs_.emplace(e.job, std::move(job)).second) {
      note("second start of job " + std::to_string(e.job));
    }
  }

  void see(const event::JobEnd& e) {
    const auto found = jobs_.find(e.job);
    if (found == jobs_.end())
      return note("end of job " + std::to_string(e.job) + " without a start");
    if (found->second.ended) return note("second end of job " + std::to_string(e.job));
    found->second.ended = true;
    for (const auto& [key, stage] : stages_) {
      const bool own = found->second.stages.count(key.first) != 0 && !has_active_job(key.first);
      if (own && stage.state == State::submitted) {
        note("job " + std::to_string(e.job) + " ended before " + name(key) + " completed");
      }
    }
  }

  void see(const event::StageSubmitted& e) {
    const StageKey key{e.stage->id, e.stage->attempt};
    if (!has_active_job(key.first)) note(name(key) + " submitted outside of a job");
    if (!stages_.emplace(key, Stage()).second) note(name(key) + " submitted twice");
    for (const int32_t parent : e.stage->parents) {
      for (const auto& [other, stage] : stages_) {
        if (other.first == parent && stage.state == State::submitted) {
          note(name(key) + " submitted before its parent " + name(other) + " completed");
        }
      }
    }
  }

  void see(const event::StageCompleted& e) {
    const StageKey key{e.stage->id, e.stage->attempt};
    const auto found = stages_.find(key);
    if (found == stages_.end()) return note(name(key) + " completed without being submitted");
    if (found->second.state == State::completed) return note(name(key) + " completed twice");
    found->second.state = State::completed;
    found->second.failed = !e.stage->failure.empty();
    if (found->second.failed || found->second.speculative || attempts(key.first) > 1) return;
    for (const auto& [id, task] : tasks_) {
      if (task.stage == key && !task.ended) {
        note(name(key) + " completed before the end of " + name(id));
      }
    }
  }

  void see(const event::TaskStart& e) {
    const StageKey key{e.stage, e.stage_attempt};
    const auto stage = stages_.find(key);
    if (stage == stages_.end()) {
      note(name(e.task.id) + " started before " + name(key) + " was submitted");
    } else {
      stage->second.speculative = stage->second.speculative || e.task.speculative;
      if (stage->second.state == State::completed && !stage->second.failed) {
        note(name(e.task.id) + " started after " + name(key) + " had completed");
      }
    }
    if (!tasks_.emplace(e.task.id, Task{key}).second) note(name(e.task.id) + " started twice");
  }

  void see(const event::TaskGettingResult& e) {
    const auto found = tasks_.find(e.task.id);
    if (found == tasks_.end())
      return note("getting the result of " + name(e.task.id) + ", which did not start");
    if (found->second.ended) note("getting the result of " + name(e.task.id) + " after its end");
    if (std::exchange(found->second.getting_result, true)) {
      note("getting the result of " + name(e.task.id) + " twice");
    }
  }

  void see(const event::TaskEnd& e) {
    const auto found = tasks_.find(e.task.id);
    if (found == tasks_.end()) return note("end of " + name(e.task.id) + ", which did not start");
    Task& task = found->second;
    if (task.stage != StageKey{e.stage, e.stage_attempt}) {
      note("end of " + name(e.task.id) + " names " + name(StageKey{e.stage, e.stage_attempt}) +
           ", its start " + name(task.stage));
    }
    if (e.reason == "Resubmitted") {
      if (!task.succeeded) note(name(e.task.id) + " resubmitted without having succeeded");
      return;
    }
    if (std::exchange(task.ended, true)) return note("second end of " + name(e.task.id));
    task.succeeded = e.reason == "Success";
  }

  void finish() {
    for (const auto& [id, job] : jobs_) {
      if (!job.ended) note("job " + std::to_string(id) + " did not end");
    }
    for (const auto& [key, stage] : stages_) {
      if (stage.state == State::submitted) note(name(key) + " did not complete");
    }
    for (const auto& [id, task] : tasks_) {
      if (!task.ended) note(name(id) + " did not end");
    }
  }

  std::map<int32_t, Job> jobs_;
  std::map<StageKey, Stage> stages_;
  std::map<uint64_t, Task> tasks_;
  std::vector<std::string> wrong_;
  size_t position_ = 0;
};

// EXPECT_TRUE(events_in_order(listener.events()));
inline testing::AssertionResult events_in_order(const std::vector<Event>& events,
                                                bool complete = true) {
  const std::vector<std::string> wrong = EventOrderChecker::check(events, complete);
  if (wrong.empty()) return testing::AssertionSuccess();
  testing::AssertionResult result = testing::AssertionFailure();
  result << wrong.size() << " of " << events.size() << " events out of order:";
  for (size_t i = 0; i < wrong.size() && i < 10; ++i) result << "\n  " << wrong[i];
  return result;
}

}  // namespace tenon::test
