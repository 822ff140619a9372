#include "storage/memory_store.hpp"

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tenon::storage {
namespace {

// How soon a waiting task notices that it was killed.
constexpr std::chrono::milliseconds kKillCheck{20};

struct HashId {
  size_t operator()(const RddBlockId& id) const {
    const uint64_t both = (uint64_t{static_cast<uint32_t>(id.rdd)} << 32) |
                          uint64_t{static_cast<uint32_t>(id.partition)};
    return std::hash<uint64_t>()(both * 0x9e3779b97f4a7c15ULL);
  }
};

}  // namespace

struct MemoryStore::State : std::enable_shared_from_this<State> {
  struct Block {
    RddBlockId id;
    detail::CachedPtr partition;
    uint64_t bytes = 0;
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

  State(uint64_t limit_bytes, OnUpdate update) : limit(limit_bytes), on_update(std::move(update)) {}

  const uint64_t limit;
  const OnUpdate on_update;
  mutable std::mutex mutex;  // guards all below
  std::condition_variable computed;
  uint64_t used = 0;
  Lru lru;
  std::unordered_map<RddBlockId, Lru::iterator, HashId> table;
  // Partitions that a task computes; false: the Rdd was removed meanwhile, the result must not be
  // kept.
  std::unordered_map<RddBlockId, bool, HashId> claims;

  void unpin(Block& block) {
    const std::lock_guard lock(mutex);
    if (--block.pins == 0 && block.removed) used -= block.bytes;
  }

  // The functions below: with the lock held.

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
    if (on_update) on_update({block->id, false, block->bytes});
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
    for (const auto at : victims) evicted.push_back(take_out(at));
    return true;
  }

  // nullptr: there was no room.
  BlockPtr insert(RddBlockId id, const detail::CachedPtr& partition, uint64_t bytes,
                  std::vector<BlockPtr>& evicted) {
    if (const auto found = table.find(id); found != table.end()) return *found->second;
    if (!make_room(id.rdd, bytes, evicted)) return nullptr;
    auto block = std::make_shared<Block>(Block{id, partition, bytes});
    table.emplace(id, lru.insert(lru.end(), block));
    used += bytes;
    if (on_update) on_update({id, true, bytes});
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

detail::CachedPtr MemoryStore::Claim::store(detail::CachedPtr partition) {
  const uint64_t bytes = partition->bytes();
  std::vector<State::BlockPtr> evicted;  // destroyed after the lock is released
  const std::lock_guard lock(state_->mutex);
  if (!state_->claims.at(id_)) return partition;
  const State::BlockPtr block = state_->insert(id_, partition, bytes, evicted);
  return block ? state_->pin(block) : partition;
}

MemoryStore::MemoryStore(uint64_t limit_bytes, OnUpdate on_update)
    : state_(std::make_shared<State>(limit_bytes, std::move(on_update))) {}

MemoryStore::~MemoryStore() = default;

detail::CachedPtr MemoryStore::get(RddBlockId id) {
  const std::lock_guard lock(state_->mutex);
  return state_->find_and_pin(id);
}

std::variant<detail::CachedPtr, MemoryStore::Claim> MemoryStore::get_or_claim(
    RddBlockId id, const TaskContext& task) {
  std::unique_lock lock(state_->mutex);
  while (true) {
    if (detail::CachedPtr found = state_->find_and_pin(id)) return found;
    if (state_->claims.try_emplace(id, true).second) {
      return std::variant<detail::CachedPtr, Claim>(std::in_place_type<Claim>, state_, id);
    }
    state_->computed.wait_for(lock, kKillCheck);
    task.throw_if_killed();
  }
}

bool MemoryStore::put(RddBlockId id, detail::CachedPtr partition) {
  const uint64_t bytes = partition->bytes();
  std::vector<State::BlockPtr> evicted;
  const std::lock_guard lock(state_->mutex);
  return state_->insert(id, partition, bytes, evicted) != nullptr;
}

void MemoryStore::remove_rdd(int32_t rdd) {
  std::vector<State::BlockPtr> removed;
  const std::lock_guard lock(state_->mutex);
  for (auto& [id, wanted] : state_->claims) {
    if (id.rdd == rdd) wanted = false;
  }
  for (auto at = state_->lru.begin(); at != state_->lru.end();) {
    const auto here = at++;
    if ((*here)->id.rdd == rdd) removed.push_back(state_->take_out(here));
  }
}

void MemoryStore::report_all() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->on_update) return;
  for (const auto& block : state_->lru) state_->on_update({block->id, true, block->bytes});
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
