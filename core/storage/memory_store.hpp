// Partitions of cached Rdds in an executor's memory: least recently used go first (contract C15.3
// to C15.5, C15.7).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "tenon/detail/runtime.hpp"

namespace tenon::storage {

struct RddBlockId {
  int32_t rdd = 0;
  int32_t partition = 0;
  friend bool operator==(const RddBlockId&, const RddBlockId&) = default;
};

// A partition came into the store, or left it.
struct BlockUpdate {
  RddBlockId id;
  bool stored = false;
  uint64_t bytes = 0;
};

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
    // not stored, and nothing is evicted, when there is no room or the Rdd was removed in the
    // meantime.
    [[nodiscard]] detail::CachedPtr store(detail::CachedPtr partition);

   private:
    std::shared_ptr<State> state_;
    RddBlockId id_;
  };

  explicit MemoryStore(uint64_t limit_bytes, OnUpdate on_update = nullptr);
  ~MemoryStore();  // blocks in use live on until their readers drop them
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  // The partition, pinned until the last copy of the pointer is gone; nullptr when it is not there.
  [[nodiscard]] detail::CachedPtr get(RddBlockId id);

  // The partition as by get(), or the right to compute it. Waits while another task computes it;
  // throws what ends the waiting task when it is killed.
  [[nodiscard]] std::variant<detail::CachedPtr, Claim> get_or_claim(RddBlockId id,
                                                                    const TaskContext& task);

  // Stores a partition unless it is there. False: it had no room, and nothing was evicted.
  bool put(RddBlockId id, detail::CachedPtr partition);

  // Forgets all partitions of the Rdd, also those that are being computed. What is being read stays
  // counted until its readers are done.
  void remove_rdd(int32_t rdd);

  // Reports every partition that is there as stored, once more.
  void report_all() const;

  [[nodiscard]] uint64_t used_bytes() const;
  [[nodiscard]] uint64_t limit_bytes() const;
  // Partitions that are there, least recently used first.
  [[nodiscard]] std::vector<RddBlockId> blocks() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace tenon::storage
