#include "rdd/node.hpp"

#include <shared_mutex>
#include <utility>

#include "rdd/walk.hpp"

namespace tenon::rdd {

namespace {

// Held shared by readers of lineages, and alone by who cuts one.
std::shared_mutex lineage_mutex;

// Set while this thread releases what dead nodes left: a node that dies meanwhile only adds its
// own. Thus the depth of the stack doesn't grow with the length of the lineage.
thread_local std::vector<Node::Lineage>* releasing = nullptr;

}  // namespace

Node::Node(NodeSpec spec) : spec_(std::move(spec)), name_(std::move(spec_.name)) {}

Node::~Node() {
  Lineage mine{std::move(spec_.dependencies), std::move(spec_.partitions)};
  if (releasing != nullptr) {
    releasing->push_back(std::move(mine));
    return;
  }
  std::vector<Lineage> pending;
  pending.push_back(std::move(mine));
  releasing = &pending;
  while (!pending.empty()) {
    const Lineage next = std::move(pending.back());
    pending.pop_back();
  }
  releasing = nullptr;
}

std::string Node::name() const {
  const std::lock_guard lock(mutex_);
  return name_.empty() ? spec_.call_site.operation : name_;
}

void Node::set_name(std::string name) const {
  const std::lock_guard lock(mutex_);
  name_ = std::move(name);
}

const Partitions* Node::kept_partitions() const {
  const std::lock_guard lock(mutex_);
  return partitions_ ? &*partitions_ : nullptr;
}

const Partitions& Node::compute_own() const {
  const std::lock_guard lock(mutex_);
  if (!partitions_) partitions_ = spec_.partitions ? spec_.partitions() : Partitions{};
  return *partitions_;
}

const Partitions& Node::partitions() const {
  if (const Partitions* kept = kept_partitions()) return *kept;
  const LineageReader reader;
  // Ancestors first, so that a node that derives its partitions from its parents' finds them there.
  const auto missing = [](const Node& node) { return node.kept_partitions() == nullptr; };
  for (const Node* node : parents_first(*this, Reach::lineage, missing)) {
    if (node != this) node->compute_own();
  }
  return compute_own();
}

LineageReader::LineageReader() { lineage_mutex.lock_shared(); }
LineageReader::~LineageReader() { lineage_mutex.unlock_shared(); }

Node::Lineage cut_lineage(const Node& node, Operator read,
                          const std::function<void(const std::function<void()>&)>& on_loop) {
  Node::Lineage old;
  const std::lock_guard lock(lineage_mutex);
  on_loop([&] {
    old = {std::move(node.spec_.dependencies), std::move(node.spec_.partitions)};
    node.spec_.dependencies.clear();
    node.spec_.partitions = nullptr;
    node.spec_.op = std::move(read);
    node.checkpointed_.store(true, std::memory_order_release);
  });
  return old;
}

// partitions() leaves no node with kept partitions above one without.
void compute_partitions(const NodePtr& node) { static_cast<void>(node->partitions()); }

RddInfo info_of(const Node& node) {
  RddInfo info;
  info.id = node.id();
  info.name = node.name();
  info.partitions = node.partition_count();
  info.parents.reserve(node.dependencies().size());
  for (const Dependency& dependency : node.dependencies()) {
    info.parents.push_back(parent_of(dependency)->id());
  }
  info.cached = node.persisted();
  info.call_site = node.call_site();
  return info;
}

}  // namespace tenon::rdd
