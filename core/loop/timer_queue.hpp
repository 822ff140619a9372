// Timers in the order in which they fall due; equal times in the order of the calls. One thread.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "loop/loop.hpp"

namespace tenon::loop {

class TimerQueue {
 public:
  TimerId add(Time due, Work work) {
    const TimerId id = next_id_++;
    due_by_id_.emplace(id, due);
    timers_.emplace(std::pair{due, id}, std::move(work));
    return id;
  }

  void cancel(TimerId id) {
    const auto known = due_by_id_.find(id);
    if (known == due_by_id_.end()) return;
    // The work goes last: its destructor may come back here.
    auto node = timers_.extract(std::pair{known->second, id});
    due_by_id_.erase(known);
  }

  // The next timer that is due at `now` and has an id under `before`; an empty function when there
  // is none.
  Work take_due(Time now, TimerId before) {
    if (timers_.empty()) return {};
    const auto first = timers_.begin();
    if (first->first.first > now || first->first.second >= before) return {};
    due_by_id_.erase(first->first.second);
    return std::move(timers_.extract(first).mapped());
  }

  [[nodiscard]] std::optional<Time> next_due() const {
    if (timers_.empty()) return std::nullopt;
    return timers_.begin()->first.first;
  }
  // Every timer that exists now has a smaller id.
  [[nodiscard]] TimerId next_id() const { return next_id_; }
  [[nodiscard]] size_t size() const { return timers_.size(); }
  [[nodiscard]] bool empty() const { return timers_.empty(); }

  void clear() {
    due_by_id_.clear();
    const auto dropped = std::exchange(timers_, {});
  }

 private:
  std::map<std::pair<Time, TimerId>, Work> timers_;
  std::unordered_map<TimerId, Time> due_by_id_;
  TimerId next_id_ = 1;
};

// When a timer with this delay falls due; a delay that is negative or beyond the clock's range is
// clamped.
[[nodiscard]] inline Time due_time(Time now, Duration delay) {
  if (delay <= Duration::zero()) return now;
  return delay > Time::max() - now ? Time::max() : now + delay;
}

}  // namespace tenon::loop
