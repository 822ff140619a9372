// Free cores and queue slots of one executor, kept by the offer rule: what is in an offer is in no
// other one until it has been answered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "tenon/plugin/abi.h"
#include "tenon/plugin/buffer.hpp"
#include "tenon/plugin/error.hpp"
#include "tenon/plugin/id_map.hpp"

namespace tenon::plugin {

// One offer is out at a time. A task takes its cores at launch and gives them back at its terminal
// status; a queued one takes a slot, and its cores when they come free, oldest first. Each call
// costs O(1) a task. One thread, or under a lock.
class FreeCores {
 public:
  struct Offer {
    uint64_t number = 0;  // 0: no offer
    uint32_t cores = 0, slots = 0;
    explicit operator bool() const noexcept { return number != 0; }
  };

  // slot_batch: without free cores, offer() waits for so many free slots, so that tasks go in
  // batches.
  explicit FreeCores(uint32_t cores, uint32_t slots = 0, uint32_t slot_batch = 1)
      : slot_batch_(std::max(1u, slot_batch)), cores_(cores), slots_(slots) {}

  // After a terminal status or an answer: what is worth an offer now.
  [[nodiscard]] Offer offer() noexcept {
    return cores_ != 0 || slots_ >= slot_batch_ ? offer_all() : Offer{};
  }
  // At the wish of core: all that is free, at once or when the offer that is out has been answered.
  [[nodiscard]] Offer revive() noexcept {
    wanted_ = wanted_ || out_;
    return offer_all();
  }

  // The answer to an offer, which takes what it needs; the rest is free again. True: something came
  // free or was asked for meanwhile, so call offer_after_answer(). Throws Error when the tasks
  // don't fit; the offer counts as answered.
  void answer(uint64_t number, const Tasks& tasks) {
    if (!out_ || number != out_.number) {
      throw Error(TENON_INVALID_ARGUMENT, "no offer " + std::to_string(number) + " is out");
    }
    const Offer offered = std::exchange(out_, {});
    cores_ += offered.cores;
    slots_ += offered.slots;
    check_fit(offered, tasks);
    for (size_t i = 0; i < tasks.size(); ++i) book(tasks[i]);
    start_queued();
  }
  // What came free, or was asked for by revive(), while the offer was out.
  [[nodiscard]] Offer offer_after_answer() noexcept {
    if (std::exchange(wanted_, false)) {
      changed_ = false;
      return offer_all();
    }
    return std::exchange(changed_, false) ? offer() : Offer{};
  }

  // Terminal statuses; a task that is not known makes no cores.
  void give_back(std::span<const uint64_t> ended) {
    for (const uint64_t id : ended) {
      const Held* const held = tasks_.find(id);
      if (held == nullptr) continue;
      (held->queued ? slots_ : cores_) += held->queued ? 1 : held->cores;
      changed_ = true;
      tasks_.erase(id);
    }
    start_queued();
  }

  // Tasks that run or wait.
  [[nodiscard]] size_t in_flight() const noexcept { return tasks_.size(); }
  // Forgets all tasks and returns their ids: the executor is gone.
  [[nodiscard]] std::vector<uint64_t> forget_all() {
    std::vector<uint64_t> ids;
    tasks_.for_each([&](uint64_t id, const Held&) { ids.push_back(id); });
    std::sort(ids.begin(), ids.end());
    tasks_.clear();
    queue_.clear();
    return ids;
  }

 private:
  struct Held {
    uint32_t cores = 0;
    bool queued = false;
  };

  [[nodiscard]] Offer offer_all() noexcept {
    if (out_ || cores_ + slots_ == 0) return {};
    out_ = {++last_number_, std::exchange(cores_, 0), std::exchange(slots_, 0)};
    changed_ = false;
    return out_;
  }
  static void check_fit(const Offer& offered, const Tasks& tasks) {
    uint64_t cores = 0, queued = 0;
    for (size_t i = 0; i < tasks.size(); ++i) {
      const tenon_task task = tasks[i];
      if ((task.flags & TENON_TASK_QUEUED) != 0) {
        ++queued;
      } else {
        cores += task.cores;
      }
    }
    if (cores <= offered.cores && queued <= offered.slots) return;
    throw Error(TENON_INVALID_ARGUMENT, "tasks take " + std::to_string(cores) + " cores and " +
                                            std::to_string(queued) + " slots of an offer of " +
                                            std::to_string(offered.cores) + " and " +
                                            std::to_string(offered.slots));
  }
  void book(const tenon_task& task) {
    const bool queued = (task.flags & TENON_TASK_QUEUED) != 0;
    tasks_.insert(task.id, {task.cores, queued});
    if (queued) {
      --slots_;
      queue_.push_back(task.id);
    } else {
      cores_ -= task.cores;
    }
  }
  void start_queued() {
    while (!queue_.empty()) {
      Held* const held = tasks_.find(queue_.front());
      if (held != nullptr) {  // else it ended in the queue
        if (held->cores > cores_) return;
        cores_ -= held->cores;
        held->queued = false;
        ++slots_;
        changed_ = true;
      }
      queue_.pop_front();
    }
  }

  const uint32_t slot_batch_;
  uint32_t cores_, slots_;  // free, and in no offer
  Offer out_;
  uint64_t last_number_ = 0;
  bool changed_ = false, wanted_ = false;  // since the offer that is out was made
  IdMap<Held> tasks_;
  std::deque<uint64_t> queue_;
};

}  // namespace tenon::plugin
