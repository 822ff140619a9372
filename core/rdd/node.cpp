#include "rdd/node.hpp"

#include <utility>

#include "rdd/walk.hpp"

namespace tenon::rdd {

namespace {

// What a dying node leaves: whatever may be the last owner of other nodes.
struct Remains {
  std::vector<Dependency> dependencies;
  std::function<Partitions()> partitions;
};

// Set while this thread releases remains: a node that dies meanwhile only adds its own. Thus the
// depth of the stack doesn't grow with the length of the lineage.
thread_local std::vector<Remains>* releasing = nullptr;

}  // namespace

Node::Node(NodeSpec spec) : spec_(std::move(spec)), name_(std::move(spec_.name)) {}

Node::~Node() {
  Remains mine{std::move(spec_.dependencies), std::move(spec_.partitions)};
  if (releasing != nullptr) {
    releasing->push_back(std::move(mine));
    return;
  }
  std::vector<Remains> pending;
  pending.push_back(std::move(mine));
  releasing = &pending;
  while (!pending.empty()) {
    const Remains next = std::move(pending.back());
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
  // Ancestors first, so that a node that derives its partitions from its parents' finds them there.
  const auto missing = [](const Node& node) { return node.kept_partitions() == nullptr; };
  for (const Node* node : parents_first(*this, Reach::lineage, missing)) {
    if (node != this) node->compute_own();
  }
  return compute_own();
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
