#include "rdd/walk.hpp"

#include <unordered_set>

namespace tenon::rdd {

const NodePtr& parent_of(const Dependency& dependency) {
  if (const auto* narrow = std::get_if<NarrowDependency>(&dependency)) return narrow->parent;
  return std::get<ShufflePtr>(dependency)->parent;
}

std::vector<const Node*> parents_first(const Node& node, Reach reach,
                                       const std::function<bool(const Node&)>& enter) {
  struct Frame {
    const Node* node;
    size_t next;  // dependency to follow
  };
  std::vector<const Node*> order;
  std::vector<Frame> stack{{&node, 0}};
  std::unordered_set<const Node*> seen{&node};
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next == top.node->dependencies().size()) {
      order.push_back(top.node);
      stack.pop_back();
      continue;
    }
    const Dependency& dependency = top.node->dependencies()[top.next++];
    if (reach == Reach::stage && !std::holds_alternative<NarrowDependency>(dependency)) continue;
    const Node* parent = parent_of(dependency).get();
    if (enter && !enter(*parent)) continue;
    if (seen.insert(parent).second) stack.push_back({parent, 0});
  }
  return order;
}

std::vector<ShufflePtr> direct_shuffles(const NodePtr& node) {
  std::vector<ShufflePtr> found;
  std::unordered_set<int32_t> found_ids;
  std::vector<const Node*> stack{node.get()};
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> parents;
  while (!stack.empty()) {
    const Node* top = stack.back();
    stack.pop_back();
    if (!seen.insert(top).second) continue;
    parents.clear();
    for (const Dependency& dependency : top->dependencies()) {
      if (const auto* shuffle = std::get_if<ShufflePtr>(&dependency)) {
        if (found_ids.insert((*shuffle)->shuffle_id).second) found.push_back(*shuffle);
      } else {
        parents.push_back(std::get<NarrowDependency>(dependency).parent.get());
      }
    }
    stack.insert(stack.end(), parents.rbegin(), parents.rend());
  }
  return found;
}

}  // namespace tenon::rdd
