#include "executor/stage_plan.hpp"

#include <algorithm>
#include <utility>

#include "rdd/operator_registry.hpp"
#include "tenon/error.hpp"

namespace tenon::executor {
namespace {

// Makes an operator of the kind that its place needs.
template <class Kind>
std::unique_ptr<const Kind> make(const rdd::Operator& op, const std::string& what) {
  try {
    std::unique_ptr<detail::OperatorBase> made = rdd::make_operator(op.id, op.bytes);
    if (auto* kind = dynamic_cast<Kind*>(made.get())) {
      static_cast<void>(made.release());
      return std::unique_ptr<const Kind>(kind);
    }
    throw Error(ErrorKind::internal,
                "Operator " + rdd::operator_name(op.id) + " is of another kind than its place");
  } catch (const Error& error) {
    throw Error(error.kind(), "Cannot make the code of " + what,
                std::make_shared<const Error>(error));
  }
}

size_t depth_of(const std::vector<rdd::StageNode>& nodes) {
  std::vector<size_t> depths(nodes.size(), 1);  // parents stand before children
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const rdd::StageEdge& edge : nodes[i].dependencies) {
      if (const auto* narrow = std::get_if<rdd::NarrowEdge>(&edge)) {
        depths[i] = std::max(depths[i], depths[narrow->parent] + 1);
      }
    }
  }
  return depths.back();
}

}  // namespace

StagePlan::StagePlan(rdd::StageGraph graph) : graph_(std::move(graph)) {
  depth_ = depth_of(graph_.nodes);
  properties_ = std::make_shared<const Properties>(graph_.header.properties);
  nodes_.reserve(graph_.nodes.size());
  keepers_.resize(graph_.nodes.size());
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const rdd::StageNode& node = graph_.nodes[i];
    nodes_.push_back(make<detail::RddOperator>(node.op, origin_of(i)));
    if (node.level == StorageLevel::none) continue;
    keepers_[i] = make<detail::KeepOperator>(node.keeper, "what keeps " + origin_of(i));
  }
  if (const auto* step = std::get_if<rdd::ActionStep>(&graph_.last_step)) {
    action_ = make<detail::ActionOperator>(step->action, "the action");
  } else {
    const auto& write = std::get<rdd::ShuffleWriteStep>(graph_.last_step);
    writer_ = make<detail::ShuffleWriteOperator>(
        write.writer, "the writer of shuffle " + std::to_string(write.shuffle_id));
  }
}

std::string StagePlan::origin_of(size_t node) const {
  const rdd::StageNode& described = graph_.nodes[node];
  return described.call_site.empty() ? described.name : described.call_site;
}

StagePlanCache::StagePlanCache(Fetch fetch, size_t capacity)
    : fetch_(std::move(fetch)), capacity_(capacity) {}

StagePlanPtr StagePlanCache::get(std::string_view id, std::optional<std::string_view> binary) {
  const EntryPtr entry = entry_of(id);
  const std::lock_guard making(entry->making);
  if (entry->plan) return entry->plan;
  std::shared_ptr<const std::string> fetched;
  if (!binary) {
    fetched = fetch_(std::string(id));
    binary = *fetched;
  }
  entry->plan = std::make_shared<const StagePlan>(rdd::decode_stage_graph(*binary));
  made(*entry, entry->plan->graph().header);
  return entry->plan;
}

size_t StagePlanCache::size() const {
  const std::lock_guard lock(mutex_);
  return lru_.size();
}

StagePlanCache::EntryPtr StagePlanCache::entry_of(std::string_view id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = table_.find(id); found != table_.end()) {
    lru_.splice(lru_.end(), lru_, found->second);
    return found->second->second;
  }
  if (lru_.size() >= capacity_) erase(lru_.begin());
  lru_.emplace_back(std::string(id), std::make_shared<Entry>());
  const auto at = std::prev(lru_.end());
  table_.emplace(at->first, at);
  return at->second;
}

void StagePlanCache::made(Entry& entry, const rdd::StageHeader& header) {
  const std::lock_guard lock(mutex_);
  entry.stage_id = header.stage_id;
  entry.stage_attempt = header.stage_attempt;
  for (auto at = lru_.begin(); at != lru_.end();) {
    const auto here = at++;
    const Entry& other = *here->second;
    if (other.stage_id == header.stage_id && other.stage_attempt < header.stage_attempt) {
      erase(here);
    }
  }
}

void StagePlanCache::erase(Lru::iterator at) {
  table_.erase(at->first);
  lru_.erase(at);
}

}  // namespace tenon::executor
