// The driver's side of accumulators: what to do with the partial values that task attempts bring.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "task/end_reason.hpp"

namespace tenon::dag {

// One accumulator. The callbacks are called on the scheduler's thread; what they touch is theirs to
// guard.
struct Accumulator {
  uint64_t id = 0;
  std::string name;                             // empty: not shown
  std::function<void(std::string_view)> merge;  // adds a partial value; may throw
  std::function<std::string()> text;            // the value for people; empty when there is no name
};

// One thread: the scheduler loop's. Whoever makes an accumulator posts add() before the first job
// that uses it.
class Accumulators {
 public:
  // on_error takes the text of what went wrong with one update; the others are applied all the same
  // (C14.2).
  explicit Accumulators(std::function<void(const std::string&)> on_error)
      : on_error_(std::move(on_error)) {}

  void add(Accumulator accumulator);
  void remove(uint64_t id) { accumulators_.erase(id); }

  // Adds the ids of the named ones to `named`.
  void merge(const std::vector<task::AccumulatorUpdate>& updates, std::set<uint64_t>& named);
  // Name and value of each; what is gone is left out.
  [[nodiscard]] std::map<std::string, std::string> values(const std::set<uint64_t>& ids) const;
  [[nodiscard]] size_t size() const { return accumulators_.size(); }

 private:
  std::function<void(const std::string&)> on_error_;
  std::unordered_map<uint64_t, Accumulator> accumulators_;
};

}  // namespace tenon::dag
