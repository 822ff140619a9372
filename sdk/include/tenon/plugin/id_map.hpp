// Small values by a number, without an allocation for each entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tenon::plugin {

// Open addressing with linear probing; never shrinks. One thread.
template <class Value>
class IdMap {
 public:
  IdMap() : slots_(kSmallest) {}

  [[nodiscard]] size_t size() const noexcept { return size_; }
  // nullptr: not there. Valid until the next insert or erase.
  [[nodiscard]] Value* find(uint64_t id) noexcept {
    for (size_t at = home(id); slots_[at].used; at = next(at)) {
      if (slots_[at].id == id) return &slots_[at].value;
    }
    return nullptr;
  }
  // The id must not be there.
  void insert(uint64_t id, Value value) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    place(id, value);
    ++size_;
  }
  bool erase(uint64_t id) noexcept {
    size_t hole = home(id);
    while (slots_[hole].used && slots_[hole].id != id) hole = next(hole);
    if (!slots_[hole].used) return false;
    // Move back what would no longer be found across the hole.
    for (size_t at = next(hole); slots_[at].used; at = next(at)) {
      const size_t from_home = (at - home(slots_[at].id)) & (slots_.size() - 1);
      const size_t from_hole = (at - hole) & (slots_.size() - 1);
      if (from_home < from_hole) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].used = false;
    --size_;
    return true;
  }
  template <class F>
  void for_each(F&& function) const {
    for (const Slot& slot : slots_) {
      if (slot.used) function(slot.id, slot.value);
    }
  }
  void clear() noexcept {
    for (Slot& slot : slots_) slot.used = false;
    size_ = 0;
  }

 private:
  static constexpr size_t kSmallest = 16;  // a power of two
  struct Slot {
    uint64_t id = 0;
    Value value{};
    bool used = false;
  };

  [[nodiscard]] size_t home(uint64_t id) const noexcept {
    return ((id * 0x9E3779B97F4A7C15u) >> 32) & (slots_.size() - 1);
  }
  [[nodiscard]] size_t next(size_t at) const noexcept { return (at + 1) & (slots_.size() - 1); }
  void place(uint64_t id, Value value) noexcept {
    size_t at = home(id);
    while (slots_[at].used) at = next(at);
    slots_[at] = {id, value, true};
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    std::swap(old, slots_);
    for (const Slot& slot : old) {
      if (slot.used) place(slot.id, slot.value);
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace tenon::plugin
