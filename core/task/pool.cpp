#include "task/pool.hpp"

#include <algorithm>

namespace tenon::task {
namespace {

constexpr std::string_view kDefaultPool = "default";
constexpr const char* kPoolProperty = "tenon.scheduler.pool";

std::string attributes_text(const Pool& pool) {
  return "schedulingMode=" + std::string(to_string(pool.mode())) +
         " minShare=" + std::to_string(pool.min_share()) +
         " weight=" + std::to_string(pool.weight());
}

}  // namespace

void Schedulable::add_running(int32_t by) {
  running_ += by;
  for (Pool* pool = parent_; pool != nullptr; pool = pool->parent()) {
    static_cast<Schedulable*>(pool)->running_ += by;
  }
}

bool fifo_before(const Schedulable& a, const Schedulable& b) {
  if (a.priority() != b.priority()) return a.priority() < b.priority();
  return a.stage_id() < b.stage_id();
}

bool fair_before(const Schedulable& a, const Schedulable& b) {
  const bool a_needy = a.running() < a.min_share();
  const bool b_needy = b.running() < b.min_share();
  if (a_needy != b_needy) return a_needy;
  const auto share = [](const Schedulable& s, bool needy) {
    const int32_t part = needy ? std::max(s.min_share(), 1) : s.weight();
    return static_cast<double>(s.running()) / part;
  };
  const double a_share = share(a, a_needy);
  const double b_share = share(b, b_needy);
  if (a_share != b_share) return a_share < b_share;
  return a.name() < b.name();
}

Pool::Pool(const PoolSpec& spec) : Schedulable(spec.name), mode_(spec.mode) {
  min_share_ = spec.min_share;
  weight_ = spec.weight;
}

Pool::~Pool() = default;

Pool& Pool::add_pool(const PoolSpec& spec) {
  Pool& pool = *pools_.emplace_back(std::make_unique<Pool>(spec));
  add(pool);
  return pool;
}

Pool* Pool::find_pool(std::string_view name) const {
  for (const auto& pool : pools_) {
    if (pool->name() == name) return pool.get();
  }
  return nullptr;
}

void Pool::add(Schedulable& set) {
  children_.push_back(&set);
  set.parent_ = this;
  add_running(set.running());
}

void Pool::remove(Schedulable& set) {
  std::erase(children_, &set);
  set.parent_ = nullptr;
  add_running(-set.running());
}

// Insertion sort: stable, and linear when few have changed their place since the last time.
void Pool::sort() {
  const auto before = [this](const Schedulable* a, const Schedulable* b) {
    return mode_ == SchedulingMode::fifo ? fifo_before(*a, *b) : fair_before(*a, *b);
  };
  for (size_t i = 1; i < children_.size(); ++i) {
    if (!before(children_[i], children_[i - 1])) continue;
    const auto at = children_.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(std::upper_bound(children_.begin(), at, *at, before), at, at + 1);
  }
}

void Pool::collect(std::vector<TaskSetManager*>& sets) {
  sort();
  for (Schedulable* child : children_) child->collect(sets);
}

PoolTree::PoolTree(SchedulingMode mode, const std::vector<PoolSpec>& pools,
                   SchedulingMode default_mode, LogCallback log)
    : mode_(mode), log_(std::move(log)), root_(PoolSpec{"", mode, 0, 1}) {
  if (mode == SchedulingMode::fifo) return;
  for (const PoolSpec& spec : pools) {
    if (root_.find_pool(spec.name) != nullptr) continue;
    Pool& pool = root_.add_pool(spec);
    log_.info("Created pool, name=" + pool.name() + " " + attributes_text(pool));
  }
  if (root_.find_pool(kDefaultPool) == nullptr) {
    root_.add_pool(PoolSpec{std::string(kDefaultPool), default_mode, 0, 1});
  }
}

void PoolTree::add(Schedulable& set, const Properties& properties) {
  if (mode_ == SchedulingMode::fifo) return root_.add(set);
  const auto property = properties.find(kPoolProperty);
  const std::string name(property == properties.end() || property->second.empty()
                             ? kDefaultPool
                             : std::string_view(property->second));
  Pool* pool = root_.find_pool(name);
  if (pool == nullptr) {
    pool = &root_.add_pool(PoolSpec{name, SchedulingMode::fifo, 0, 1});
    log_.warn("A job was submitted with scheduler pool '" + name +
              "', which the pool file (tenon.scheduler.allocation.file) does not have; created it "
              "with " +
              attributes_text(*pool));
  }
  pool->add(set);
}

void PoolTree::remove(Schedulable& set) {
  if (set.parent() != nullptr) set.parent()->remove(set);
}

void PoolTree::sorted_sets(std::vector<TaskSetManager*>& sets) {
  sets.clear();
  root_.collect(sets);
}

std::vector<TaskSetManager*> PoolTree::sorted_sets() {
  std::vector<TaskSetManager*> sets;
  root_.collect(sets);
  return sets;
}

}  // namespace tenon::task
