#include "storage/memory_store.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "common/log.hpp"

namespace tenon::storage {
namespace {

const log::Logger kLog = log::logger("storage");

// How soon a waiting task notices that it was killed.
constexpr std::chrono::milliseconds kKillCheck{20};

}  // namespace

struct MemoryStore::State : std::enable_shared_from_this<State> {
  struct Block {
    RddBlockId id;
    detail::CachedPtr partition;
    uint64_t bytes = 0;
    Overflow overflow = Overflow::drop;
    uint32_t pins = 0;
    bool removed = false;  // no longer in the table; counted until unpinned
  };
  using BlockPtr = std::shared_ptr<Block>;
  using Lru = std::list<BlockPtr>;  // front: least recently used

  struct Pin {
    std::shared_ptr<State> state;
    BlockPtr block;
    Pin(std::shared_ptr<State> s, BlockPtr b) : state(std::move(s)), block(std::move(b)) {}
    ~Pin() { state->unpin(*block); }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
  };

  State(uint64_t limit_bytes, OnUpdate update, std::shared_ptr<DiskStore> disk_store)
      : limit(limit_bytes), on_update(std::move(update)), disk(std::move(disk_store)) {}

  const uint64_t limit;
  const OnUpdate on_update;
  const std::shared_ptr<DiskStore> disk;  // may be null
  mutable std::mutex mutex;               // guards all below
  std::condition_variable computed;
  uint64_t used = 0;
  Lru lru;
  std::unordered_map<RddBlockId, Lru::iterator, HashRddBlockId> table;
  // Partitions that a task computes, or that are on their way to disk; false: the Rdd was removed
  // meanwhile, the result must not be kept.
  std::unordered_map<RddBlockId, bool, HashRddBlockId> claims;

  void unpin(Block& block) {
    const std::lock_guard lock(mutex);
    if (--block.pins == 0 && block.removed) used -= block.bytes;
  }

  // Writes a partition that has a claim to disk. False: the disk refused, or the Rdd was removed.
  bool write(RddBlockId id, const std::function<void(const detail::ByteSink&)>& fill) {
    if (!disk || !disk->write(id, fill)) return false;
    const std::lock_guard lock(mutex);
    if (!claims.at(id)) {
      disk->remove(id);
      return false;
    }
    report(id, true, 0);
    return true;
  }

  // The partition, to whom has the claim on it.
  detail::CachedPtr from_disk(RddBlockId id) {
    if (!disk || !disk->contains(id)) return nullptr;
    detail::CachedPtr found = disk->read(id);
    if (!found) {
      const std::lock_guard lock(mutex);
      report(id, false, 0);
    }
    return found;
  }

  // Without the lock: what make_room() drove out goes to disk where it should.
  void move_to_disk(const std::vector<BlockPtr>& evicted) {
    for (const BlockPtr& block : evicted) {
      if (block->overflow != Overflow::to_disk) continue;
      bool written = false;
      try {
        written = write(block->id, [&](const auto& sink) { block->partition->encode(sink); });
      } catch (const std::exception& error) {  // of the program's Codec: it is computed again
        kLog.warn(std::string("a partition cannot be moved to disk and is dropped: ") +
                  error.what());
      }
      const std::lock_guard lock(mutex);
      if (!written) report(block->id, false, block->bytes);
      claims.erase(block->id);
      computed.notify_all();
    }
  }

  // The functions below: with the lock held.

  void report(RddBlockId id, bool stored, uint64_t bytes) const {
    if (on_update) on_update({id, stored, bytes});
  }

  detail::CachedPtr pin(const BlockPtr& block) {
    ++block->pins;
    try {
      auto guard = std::make_shared<Pin>(shared_from_this(), block);
      const detail::CachedPartition* partition = block->partition.get();
      return detail::CachedPtr(std::move(guard), partition);
    } catch (...) {
      --block->pins;
      throw;
    }
  }

  detail::CachedPtr find_and_pin(RddBlockId id) {
    const auto found = table.find(id);
    if (found == table.end()) return nullptr;
    lru.splice(lru.end(), lru, found->second);
    return pin(*found->second);
  }

  // Takes it out of the table; what was taken is destroyed by the caller without the lock.
  BlockPtr take_out(Lru::iterator at) {
    BlockPtr block = *at;
    table.erase(block->id);
    lru.erase(at);
    block->removed = true;
    if (block->pins == 0) used -= block->bytes;
    return block;
  }

  // Makes room for `bytes` of the Rdd, or does nothing and says false.
  bool make_room(int32_t rdd, uint64_t bytes, std::vector<BlockPtr>& evicted) {
    if (bytes > limit) return false;
    std::vector<Lru::iterator> victims;
    uint64_t after = used;
    for (auto at = lru.begin(); at != lru.end() && after + bytes > limit; ++at) {
      if ((*at)->pins > 0 || (*at)->id.rdd == rdd) continue;
      victims.push_back(at);
      after -= (*at)->bytes;
    }
    if (after + bytes > limit) return false;
    evicted.reserve(victims.size());
    for (const auto at : victims) {
      const BlockPtr& block = evicted.emplace_back(take_out(at));
      if (block->overflow == Overflow::to_disk && disk) {
        claims.emplace(block->id, true);
      } else {
        report(block->id, false, block->bytes);
      }
    }
    return true;
  }

  // nullptr: there was no room.
  BlockPtr insert(RddBlockId id, const detail::CachedPtr& partition, uint64_t bytes,
                  Overflow overflow, std::vector<BlockPtr>& evicted) {
    if (const auto found = table.find(id); found != table.end()) return *found->second;
    if (!make_room(id.rdd, bytes, evicted)) return nullptr;
    auto block = std::make_shared<Block>(Block{id, partition, bytes, overflow});
    table.emplace(id, lru.insert(lru.end(), block));
    used += bytes;
    report(id, true, bytes);
    return block;
  }
};

MemoryStore::Claim::Claim(std::shared_ptr<State> state, RddBlockId id)
    : state_(std::move(state)), id_(id) {}

MemoryStore::Claim::Claim(Claim&&) noexcept = default;

MemoryStore::Claim::~Claim() {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  state_->claims.erase(id_);
  state_->computed.notify_all();
}

detail::CachedPtr MemoryStore::Claim::store(detail::CachedPtr partition, Overflow overflow) {
  const uint64_t bytes = partition->bytes();
  std::vector<State::BlockPtr> evicted;  // destroyed without the lock
  detail::CachedPtr stored;
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->claims.at(id_)) return partition;
    const State::BlockPtr block = state_->insert(id_, partition, bytes, overflow, evicted);
    if (block) stored = state_->pin(block);
  }
  state_->move_to_disk(evicted);
  if (stored) return stored;
  if (overflow == Overflow::to_disk) {
    state_->write(id_, [&](const detail::ByteSink& sink) { partition->encode(sink); });
  }
  return partition;
}

detail::CachedPtr MemoryStore::Claim::store_on_disk(
    const std::function<void(const detail::ByteSink&)>& fill) {
  if (!state_->write(id_, fill)) return nullptr;
  return state_->disk->read(id_);
}

MemoryStore::MemoryStore(uint64_t limit_bytes, OnUpdate on_update, std::shared_ptr<DiskStore> disk)
    : state_(std::make_shared<State>(limit_bytes, std::move(on_update), std::move(disk))) {}

MemoryStore::~MemoryStore() = default;

detail::CachedPtr MemoryStore::get(RddBlockId id) {
  const std::lock_guard lock(state_->mutex);
  return state_->find_and_pin(id);
}

std::variant<detail::CachedPtr, MemoryStore::Claim> MemoryStore::get_or_claim(
    RddBlockId id, const TaskContext& task, Overflow overflow) {
  std::unique_lock lock(state_->mutex);
  while (true) {
    if (const auto at = state_->table.find(id);
        at != state_->table.end() && overflow == Overflow::to_disk) {
      (*at->second)->overflow = overflow;
    }
    if (detail::CachedPtr found = state_->find_and_pin(id)) return found;
    if (state_->claims.try_emplace(id, true).second) {
      lock.unlock();
      Claim claim(state_, id);
      if (detail::CachedPtr found = state_->from_disk(id)) return found;
      return std::variant<detail::CachedPtr, Claim>(std::move(claim));
    }
    state_->computed.wait_for(lock, kKillCheck);
    task.throw_if_killed();
  }
}

bool MemoryStore::put(RddBlockId id, detail::CachedPtr partition, Overflow later) {
  const uint64_t bytes = partition->bytes();
  std::vector<State::BlockPtr> evicted;
  State::BlockPtr block;
  {
    const std::lock_guard lock(state_->mutex);
    block = state_->insert(id, partition, bytes, later, evicted);
  }
  state_->move_to_disk(evicted);
  return block != nullptr;
}

void MemoryStore::remove_rdd(int32_t rdd) {
  std::vector<State::BlockPtr> removed;
  const std::lock_guard lock(state_->mutex);
  for (auto& [id, wanted] : state_->claims) {
    if (id.rdd == rdd) wanted = false;
  }
  for (auto at = state_->lru.begin(); at != state_->lru.end();) {
    const auto here = at++;
    if ((*here)->id.rdd != rdd) continue;
    removed.push_back(state_->take_out(here));
    state_->report(removed.back()->id, false, removed.back()->bytes);
  }
  if (!state_->disk) return;
  for (const RddBlockId& id : state_->disk->remove_rdd(rdd)) state_->report(id, false, 0);
}

void MemoryStore::report_all() const {
  const std::lock_guard lock(state_->mutex);
  for (const auto& block : state_->lru) state_->report(block->id, true, block->bytes);
  if (!state_->disk) return;
  for (const auto& [id, bytes] : state_->disk->blocks()) state_->report(id, true, 0);
}

uint64_t MemoryStore::used_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->used;
}

uint64_t MemoryStore::limit_bytes() const { return state_->limit; }

std::vector<RddBlockId> MemoryStore::blocks() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<RddBlockId> ids;
  for (const auto& block : state_->lru) ids.push_back(block->id);
  return ids;
}

}  // namespace tenon::storage
