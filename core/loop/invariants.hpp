// Named checks of the scheduling state, run at the ends of turns: what must hold between any two
// turns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loop/loop.hpp"

namespace tenon::loop {

// All on the loop's thread.
class Invariants {
 public:
  // Empty: it holds. Otherwise what is wrong, with the ids and values.
  using Check = std::function<std::string()>;
  // check's name and what is wrong. Called once for each new text of a check, not again at every
  // turn while it lasts.
  using Report = std::function<void(std::string_view name, const std::string& violation)>;

  explicit Invariants(Report report) : report_(std::move(report)) {}

  // A check that throws is a violation, its text the exception's.
  void add(std::string name, Check check);

  // Runs the checks at the end of every `every`th turn, and at most `quiet` after a turn that was
  // not checked, so that the last state before a silence is checked too; an idle loop is not woken
  // again. Call it once. The loop may outlive this object.
  void attach(Loop& loop, uint32_t every, Duration quiet = std::chrono::seconds(1));

  // Runs all checks now; how many are violated.
  size_t run();
  // Reports ever made.
  [[nodiscard]] uint64_t violations() const { return violations_; }

 private:
  struct Entry {
    std::string name;
    Check check;
    std::string last;  // what was wrong at the last run
  };

  void turn_ended(Loop& loop, uint32_t every, Duration quiet);

  Report report_;
  std::vector<Entry> entries_;
  uint64_t violations_ = 0;
  uint32_t turns_since_run_ = 0;
  bool timer_set_ = false;
  bool checked_in_turn_ = false;  // by the timer
  std::shared_ptr<Invariants*> alive_ = std::make_shared<Invariants*>(this);
};

}  // namespace tenon::loop
