// Task attempts that have been launched and have not ended.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "task/names.hpp"
#include "tenon/status.hpp"

namespace tenon::task {

class TaskSetManager;
struct Attempt;

struct AttemptLink {
  Attempt* prev = nullptr;
  Attempt* next = nullptr;
};

struct Attempt {
  TaskInfo info;
  TaskSetManager* set = nullptr;
  NameId executor = kNoName;
  bool started = false;          // RUNNING was seen
  bool waits_in_queue = false;   // launched ahead (C29.12) and not seen running yet
  bool asked_back = false;       // the backend was asked to take it out of its queue
  bool other_succeeded = false;  // killed since another attempt of the task succeeded
  Attempt* next_of_task = nullptr;
  AttemptLink in_set, on_executor, in_queue;
};

// A list through one of the links of Attempt: O(1) insertion and removal, no memory of its own.
template <AttemptLink Attempt::* kLink>
class AttemptList {
 public:
  void push_back(Attempt& attempt) {
    (attempt.*kLink) = {last_, nullptr};
    (last_ != nullptr ? (last_->*kLink).next : first_) = &attempt;
    last_ = &attempt;
    ++size_;
  }
  void erase(Attempt& attempt) {
    const AttemptLink link = attempt.*kLink;
    (link.prev != nullptr ? (link.prev->*kLink).next : first_) = link.next;
    (link.next != nullptr ? (link.next->*kLink).prev : last_) = link.prev;
    (attempt.*kLink) = {};
    --size_;
  }
  [[nodiscard]] Attempt* first() const { return first_; }
  [[nodiscard]] Attempt* last() const { return last_; }
  [[nodiscard]] static Attempt* next(const Attempt& attempt) { return (attempt.*kLink).next; }
  [[nodiscard]] static Attempt* prev(const Attempt& attempt) { return (attempt.*kLink).prev; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // The members as they are now; for walks that change the list.
  [[nodiscard]] std::vector<Attempt*> snapshot() const {
    std::vector<Attempt*> all;
    all.reserve(size_);
    for (Attempt* at = first_; at != nullptr; at = next(*at)) all.push_back(at);
    return all;
  }

 private:
  Attempt* first_ = nullptr;
  Attempt* last_ = nullptr;
  size_t size_ = 0;
};

using SetAttempts = AttemptList<&Attempt::in_set>;
using ExecutorAttempts = AttemptList<&Attempt::on_executor>;
using QueuedAttempts = AttemptList<&Attempt::in_queue>;

// Attempts by task id. Open addressing: ids rise by one, so the id itself is the hash.
class AttemptTable {
 public:
  AttemptTable() : slots_(64) {}

  Attempt& add(uint64_t task_id) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    Attempt& attempt = take();
    attempt.info.id = task_id;
    insert(&attempt);
    ++size_;
    return attempt;
  }

  // nullptr: unknown or ended.
  [[nodiscard]] Attempt* find(uint64_t task_id) const {
    for (size_t at = task_id & mask(); slots_[at] != nullptr; at = (at + 1) & mask()) {
      if (slots_[at]->info.id == task_id) return slots_[at];
    }
    return nullptr;
  }

  // The attempt must be in no list any more.
  void remove(Attempt& attempt) {
    size_t hole = attempt.info.id & mask();
    while (slots_[hole] != &attempt) hole = (hole + 1) & mask();
    // Moves back what would not be found across the hole.
    for (size_t at = (hole + 1) & mask(); slots_[at] != nullptr; at = (at + 1) & mask()) {
      const size_t home = slots_[at]->info.id & mask();
      if (((at - home) & mask()) >= ((at - hole) & mask())) {
        slots_[hole] = slots_[at];
        hole = at;
      }
    }
    slots_[hole] = nullptr;
    --size_;
    attempt = Attempt{};
    free_.push_back(&attempt);
  }

  [[nodiscard]] size_t size() const { return size_; }

  template <class F>
  void for_each(F&& f) const {
    for (Attempt* attempt : slots_) {
      if (attempt != nullptr) f(*attempt);
    }
  }

 private:
  [[nodiscard]] size_t mask() const { return slots_.size() - 1; }
  void insert(Attempt* attempt) {
    size_t at = attempt->info.id & mask();
    while (slots_[at] != nullptr) at = (at + 1) & mask();
    slots_[at] = attempt;
  }
  void grow() {
    const std::vector<Attempt*> old =
        std::exchange(slots_, std::vector<Attempt*>(slots_.size() * 2));
    for (Attempt* attempt : old) {
      if (attempt != nullptr) insert(attempt);
    }
  }
  Attempt& take() {
    if (free_.empty()) return storage_.emplace_back();
    Attempt& attempt = *free_.back();
    free_.pop_back();
    return attempt;
  }

  std::deque<Attempt> storage_;  // grows to the largest number that ever ran at once
  std::vector<Attempt*> free_;
  std::vector<Attempt*> slots_;  // power of two, at most half full
  size_t size_ = 0;
};

}  // namespace tenon::task
