// RDD.toDebugString's form: one line a node, "(2)" partitions at each shuffle, indented below it.
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "rdd/node.hpp"
#include "rdd/walk.hpp"

namespace tenon::rdd {

namespace {

using Prefix = std::shared_ptr<const std::string>;  // shared by all lines of one indentation

struct Line {
  const Node* node;
  Prefix prefix;
  bool shuffle;  // behind a shuffle dependency
  bool last;     // of its siblings
};

// As Spark's StorageLevel.description has it.
const char* describe(StorageLevel level) {
  switch (level) {
    case StorageLevel::none:
      break;
    case StorageLevel::memory:
      return "Memory Deserialized 1x Replicated";
    case StorageLevel::memory_serialized:
      return "Memory Serialized 1x Replicated";
    case StorageLevel::disk:
      return "Disk Serialized 1x Replicated";
    case StorageLevel::memory_and_disk:
      return "Disk Memory Deserialized 1x Replicated";
    case StorageLevel::memory_and_disk_serialized:
      return "Disk Memory Serialized 1x Replicated";
  }
  return "";
}

std::string describe(const Node& node) {
  const std::string& operation = node.call_site().operation;
  const std::string name = node.name();
  std::string text;
  if (!operation.empty() && name != operation) text = name + " ";
  text += (operation.empty() ? name : operation) + "[" + std::to_string(node.id()) + "]";
  if (!operation.empty()) text += " at " + node.call_site().text();
  return text + " [" + describe(node.level()) + "]" + (node.checkpointed() ? " checkpointed" : "");
}

std::string count_of(const Node& node) {
  std::string text = "(";
  text += std::to_string(node.partition_count());
  text += ")";
  return text;
}

// The bar under the count's middle.
std::string bar_under(const std::string& count) {
  const size_t left = (count.size() - 1) / 2;
  return std::string(left, ' ') + "|" + std::string(count.size() - left, ' ');
}

// The prefix without a bar at its end.
std::string without_bar(const std::string& prefix) {
  const size_t bar = prefix.find_last_not_of(' ');
  if (bar == std::string::npos || prefix[bar] != '|' || bar + 1 == prefix.size()) return prefix;
  return prefix.substr(0, bar);
}

void push_parents(std::vector<Line>& stack, const Node& node, const Prefix& prefix) {
  const auto& dependencies = node.dependencies();
  for (size_t i = dependencies.size(); i-- > 0;) {
    stack.push_back({parent_of(dependencies[i]).get(), prefix,
                     std::holds_alternative<ShufflePtr>(dependencies[i]),
                     i + 1 == dependencies.size()});
  }
}

}  // namespace

std::string debug_string(const Node& node) {
  static_cast<void>(node.partitions());  // of all ancestors
  const LineageReader reader;
  const std::string count = count_of(node);
  std::string out = count + " " + describe(node);
  std::unordered_set<const Node*> shown{&node};
  std::vector<Line> stack;
  push_parents(stack, node, std::make_shared<const std::string>(bar_under(count)));
  while (!stack.empty()) {
    const Line line = std::move(stack.back());
    stack.pop_back();
    out += '\n';
    Prefix below = line.prefix;
    if (line.shuffle) {
      const std::string start = without_bar(*line.prefix);
      const std::string parents = count_of(*line.node);
      out += start + "+-" + parents + " ";
      below = std::make_shared<const std::string>(start + (line.last ? "  " : "| ") +
                                                  bar_under(parents));
    } else {
      out += *line.prefix;
    }
    out += describe(*line.node);
    if (shown.insert(line.node).second) {
      push_parents(stack, *line.node, below);
    } else if (!line.node->dependencies().empty()) {
      out += " (parents: see above)";
    }
  }
  return out;
}

}  // namespace tenon::rdd
