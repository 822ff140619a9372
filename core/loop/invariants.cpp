#include "loop/invariants.hpp"

#include <exception>
#include <utility>

namespace tenon::loop {

namespace {

std::string outcome(const Invariants::Check& check) {
  try {
    return check();
  } catch (const std::exception& e) {
    return std::string("the check threw: ") + e.what();
  } catch (...) {
    return "the check threw an exception that is no std::exception";
  }
}

}  // namespace

void Invariants::add(std::string name, Check check) {
  entries_.push_back({std::move(name), std::move(check), {}});
}

void Invariants::attach(Loop& loop, uint32_t every, Duration quiet) {
  loop.at_turn_end([weak = std::weak_ptr<Invariants*>(alive_), &loop, every, quiet] {
    if (const auto self = weak.lock()) (*self)->turn_ended(loop, every, quiet);
  });
}

void Invariants::turn_ended(Loop& loop, uint32_t every, Duration quiet) {
  if (std::exchange(checked_in_turn_, false)) return;
  if (++turns_since_run_ >= every) {
    run();
    return;
  }
  if (timer_set_) return;
  timer_set_ = true;
  loop.call_after(quiet, [weak = std::weak_ptr<Invariants*>(alive_)] {
    const auto self = weak.lock();
    if (!self) return;
    (*self)->timer_set_ = false;
    if ((*self)->turns_since_run_ == 0) return;
    (*self)->run();
    (*self)->checked_in_turn_ = true;  // or the turn of this timer would ask for the next one
  });
}

size_t Invariants::run() {
  turns_since_run_ = 0;
  size_t violated = 0;
  for (Entry& entry : entries_) {
    std::string wrong = outcome(entry.check);
    if (!wrong.empty()) {
      ++violated;
      if (wrong != entry.last) {
        ++violations_;
        if (report_) report_(entry.name, wrong);
      }
    }
    entry.last = std::move(wrong);
  }
  return violated;
}

}  // namespace tenon::loop
