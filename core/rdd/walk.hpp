// Walks over a lineage with a stack of their own: no depth of lineage can exhaust the thread's.
#pragma once

#include <functional>
#include <vector>

#include "rdd/node.hpp"

namespace tenon::rdd {

// How far a walk goes.
enum class Reach : uint8_t {
  stage,    // over narrow dependencies only
  lineage,  // over all
};

// The node and its ancestors, each once, parents before children; dependencies are followed in
// their order. `enter` says for each node other than the first whether the walk takes it (and goes
// on behind it); empty: all are taken.
[[nodiscard]] std::vector<const Node*> parents_first(
    const Node& node, Reach reach, const std::function<bool(const Node&)>& enter = {});

// The parent behind a dependency of any kind.
[[nodiscard]] const NodePtr& parent_of(const Dependency& dependency);

}  // namespace tenon::rdd
