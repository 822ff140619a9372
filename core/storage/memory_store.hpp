// Partitions of persisted Rdds that an executor keeps: in memory, of which the least recently used
// go first, and behind it on disk (contract C15.3 to C15.5, C15.7).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "storage/disk_store.hpp"
#include "storage/rdd_block.hpp"
#include "tenon/detail/runtime.hpp"

namespace tenon::storage {

// What happens to a partition that has no room in memory, at once or later.
enum class Overflow : uint8_t { drop, to_disk };

// Functions are [any-thread].
class MemoryStore {
 private:
  struct State;

 public:
  // Called in the order of the changes, under the store's lock: it may only queue the news.
  using OnUpdate = std::function<void(const BlockUpdate&)>;

  // The right to compute a partition that is not there. While it lives others that want the
  // partition wait; when it dies unused, one of them gets the right.
  class Claim {
   public:
    Claim(std::shared_ptr<State> state, RddBlockId id);
    ~Claim();
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    Claim(Claim&&) noexcept;
    Claim& operator=(Claim&&) = delete;

    // Gives the partition to the store; returns it for reading, pinned when it was stored. It is
    // not in memory, and nothing is evicted, when there is no room; it is nowhere when the Rdd was
    // removed in the meantime.
    [[nodiscard]] detail::CachedPtr store(detail::CachedPtr partition,
                                          Overflow overflow = Overflow::drop);
    // The same for a partition that goes to disk as fill writes it. nullptr: the disk refused.
    [[nodiscard]] detail::CachedPtr store_on_disk(
        const std::function<void(const detail::ByteSink&)>& fill);

   private:
    std::shared_ptr<State> state_;
    RddBlockId id_;
  };

  // disk: may be null; then nothing goes there.
  explicit MemoryStore(uint64_t limit_bytes, OnUpdate on_update = nullptr,
                       std::shared_ptr<DiskStore> disk = nullptr);
  ~MemoryStore();  // blocks in use live on until their readers drop them
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  // The partition in memory, pinned until the last copy of the pointer is gone; nullptr when it is
  // not there.
  [[nodiscard]] detail::CachedPtr get(RddBlockId id);

  // The partition as by get() or from disk, or the right to compute it. Waits while another task
  // computes it, or the store moves it to disk. overflow: to_disk holds for what is in memory too,
  // from now on. Throws what ends the waiting task when it is
  // killed.
  [[nodiscard]] std::variant<detail::CachedPtr, Claim> get_or_claim(
      RddBlockId id, const TaskContext& task, Overflow overflow = Overflow::drop);

  // Stores a partition in memory unless it is there. False: it had no room, and nothing was
  // evicted.
  bool put(RddBlockId id, detail::CachedPtr partition, Overflow later = Overflow::drop);

  // Forgets all partitions of the Rdd, also those that are being computed. What is being read stays
  // counted until its readers are done.
  void remove_rdd(int32_t rdd);

  // Reports every partition that is there as stored, once more.
  void report_all() const;

  // Of memory, as all below.
  [[nodiscard]] uint64_t used_bytes() const;
  [[nodiscard]] uint64_t limit_bytes() const;
  // Partitions that are there, least recently used first.
  [[nodiscard]] std::vector<RddBlockId> blocks() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace tenon::storage
