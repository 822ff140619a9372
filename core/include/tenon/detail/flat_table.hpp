/// @file flat_table.hpp The table of reduce_by_key and its kin: open addressing over entries in the
///   order of their first appearance. Not for programs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "tenon/detail/batch.hpp"

namespace tenon::detail {

/// Keys to values. Iterates in the order in which keys came, so that the same input gives the same
/// output. Slots hold 32 bits of the hash beside the entry's number: a probe touches an entry only
/// when those are equal.
template <class K, class V>
class FlatTable {
 public:
  using Entry = std::pair<K, V>;

  FlatTable() = default;
  FlatTable(FlatTable&&) noexcept = default;

  /// The value of a key that equals `key` (any type that compares with K and makes a K); make()
  /// gives that of a new one. The second is true for a new one. hash: of the key; the low 32 bits
  /// are used.
  template <class Key, class Make>
  std::pair<V*, bool> find_or_insert(Key&& key, uint64_t hash, Make&& make) {
    if (entries_.size() * 4 >= capacity() * 3) grow();
    const auto tag = static_cast<uint32_t>(hash);
    for (size_t at = tag & mask_;; at = (at + 1) & mask_) {
      Slot& slot = slots_[at];
      if (slot.number == 0) {
        Entry& entry = entries_.emplace(std::piecewise_construct,
                                        std::forward_as_tuple(std::forward<Key>(key)),
                                        std::forward_as_tuple(make()));
        slot = {tag, static_cast<uint32_t>(entries_.size())};
        return {&entry.second, true};
      }
      if (slot.tag == tag) {
        Entry& entry = entries_[slot.number - 1];
        if (entry.first == key) return {&entry.second, false};
      }
    }
  }

  /// The value of an equal key; nullptr when there is none.
  template <class Key>
  V* find(const Key& key, uint64_t hash) {
    if (entries_.size() == 0) return nullptr;
    const auto tag = static_cast<uint32_t>(hash);
    for (size_t at = tag & mask_; slots_[at].number != 0; at = (at + 1) & mask_) {
      if (slots_[at].tag != tag) continue;
      Entry& entry = entries_[slots_[at].number - 1];
      if (entry.first == key) return &entry.second;
    }
    return nullptr;
  }

  [[nodiscard]] size_t size() const { return entries_.size(); }
  [[nodiscard]] size_t chunk_count() const { return entries_.chunk_count(); }
  [[nodiscard]] std::span<Entry> chunk(size_t i) { return entries_.chunk(i); }
  void clear() {
    slots_.reset();
    mask_ = 0;
    entries_.clear();
  }

 private:
  struct Slot {
    uint32_t tag;
    uint32_t number;  // of the entry, from 1; 0: free
  };

  [[nodiscard]] size_t capacity() const { return slots_ ? mask_ + 1 : 0; }
  void grow() {
    const size_t before = capacity();
    const size_t after = before == 0 ? 16 : before * 2;
    auto slots = std::make_unique<Slot[]>(after);
    for (size_t i = 0; i < before; ++i) {
      if (slots_[i].number == 0) continue;
      size_t at = slots_[i].tag & (after - 1);
      while (slots[at].number != 0) at = (at + 1) & (after - 1);
      slots[at] = slots_[i];
    }
    slots_ = std::move(slots);
    mask_ = after - 1;
  }

  std::unique_ptr<Slot[]> slots_;
  size_t mask_ = 0;
  Chunks<Entry> entries_;
};

}  // namespace tenon::detail
