#include "task/cluster.hpp"

namespace tenon::task {
namespace {

template <class T>
T& slot(std::vector<T>& values, NameId id, const T& fill) {
  if (id >= values.size()) values.resize(id + 1, fill);
  return values[id];
}

}  // namespace

ExecutorState& Cluster::state(NameId executor) {
  if (executor >= states_.size()) states_.resize(executor + 1);
  return states_[executor];
}

bool Cluster::add(const Executor& executor) {
  const NameId id = executors_.intern(executor.id);
  const NameId host = hosts_.intern(executor.host);
  ExecutorState& known = state(id);
  const bool fresh = !known.alive;
  if (fresh) {
    known = ExecutorState{};
    known.alive = true;
    known.host = host;
    ++alive_count_;
  } else {
    count_usable(known, -1);
  }
  known.incarnation = executor.incarnation;
  if (executor.cores > 0) known.cores = executor.cores;
  if (const auto rack = executor.attributes.find("rack"); rack != executor.attributes.end()) {
    const NameId rack_id = racks_.intern(rack->second);
    NameId& of_host = slot(rack_of_host_, host, kNoName);
    if (of_host != rack_id) {
      const int32_t usable = slot(usable_on_host_, host, 0);
      if (of_host != kNoName) slot(usable_on_rack_, of_host, 0) -= usable;
      slot(usable_on_rack_, rack_id, 0) += usable;
      of_host = rack_id;
    }
  }
  count_usable(known, 1);
  return fresh;
}

bool Cluster::remove(NameId executor) {
  ExecutorState& known = state(executor);
  if (!known.alive) return false;
  count_usable(known, -1);
  known = ExecutorState{};
  --alive_count_;
  return true;
}

void Cluster::change(NameId executor, bool ExecutorState::* flag) {
  ExecutorState& known = state(executor);
  count_usable(known, -1);
  known.*flag = true;
  count_usable(known, 1);
}

void Cluster::count_usable(const ExecutorState& known, int by) {
  if (!known.usable()) return;
  slot(usable_on_host_, known.host, 0) += by;
  const NameId rack = rack_of(known.host);
  if (rack != kNoName) slot(usable_on_rack_, rack, 0) += by;
}

std::vector<NameId> Cluster::alive_executors() const {
  std::vector<NameId> all;
  for (NameId id = 0; id < states_.size(); ++id) {
    if (states_[id].alive) all.push_back(id);
  }
  return all;
}

size_t Cluster::alive_on_host(std::string_view host) const {
  const NameId wanted = hosts_.find(host);
  size_t count = 0;
  for (const ExecutorState& state : states_) count += (state.alive && state.host == wanted) ? 1 : 0;
  return count;
}

uint32_t Cluster::total_cores() const {
  uint32_t cores = 0;
  for (const ExecutorState& state : states_) cores += state.alive ? state.cores : 0;
  return cores;
}

}  // namespace tenon::task
