#include "executor/task_streams.hpp"

#include <utility>

#include "executor/task_services.hpp"
#include "tenon/detail/encoded_records.hpp"

namespace tenon::executor {
namespace {

storage::Overflow overflow_of(StorageLevel level) {
  return uses_disk(level) ? storage::Overflow::to_disk : storage::Overflow::drop;
}

}  // namespace

// What an operator sees of its Rdd within the attempt.
class TaskStreams::Node final : public detail::PartitionContext {
 public:
  Node(TaskStreams& streams, size_t index) : streams_(streams), index_(index) {}

  detail::StreamPtr parent(size_t dependency, int32_t partition) override {
    const auto* edge = std::get_if<rdd::NarrowEdge>(&edge_of(dependency));
    if (edge == nullptr) wrong(dependency, "is a shuffle");
    return streams_.open_node(edge->parent, partition);
  }

  std::unique_ptr<detail::ShuffleInput> shuffle(size_t dependency, int32_t partition) override {
    const auto* edge = std::get_if<rdd::ShuffleEdge>(&edge_of(dependency));
    if (edge == nullptr) wrong(dependency, "is no shuffle");
    Attempt& attempt = streams_.attempt_;
    TaskServices& services = attempt.services();
    return shuffle::make_shuffle_reader(
        edge->shuffle_id, partition, services.outputs.get(edge->shuffle_id, attempt),
        {.blocks = services.blocks,
         .executor_id = attempt.executor_id(),
         .transfer = services.transfer,
         .task = attempt,
         .metrics = attempt.mutable_metrics(),
         .on_failure = [&attempt](const task::FetchFailed& failure) {
           attempt.note_fetch_failure(failure);
         }});
  }

  std::string_view data(int32_t partition) override {
    return streams_.data_->find(described().id, partition);
  }

  [[nodiscard]] const TaskContext& task() const override { return streams_.attempt_; }

  void note_failure() noexcept override {
    try {
      streams_.attempt_.note_origin(streams_.plan_->origin_of(index_));
    } catch (const std::bad_alloc&) {
      // The failure goes without its place.
    }
  }

 private:
  [[nodiscard]] const rdd::StageNode& described() const {
    return streams_.plan_->graph().nodes[index_];
  }

  [[nodiscard]] const rdd::StageEdge& edge_of(size_t dependency) const {
    if (dependency >= described().dependencies.size()) wrong(dependency, "does not exist");
    return described().dependencies[dependency];
  }

  [[noreturn]] void wrong(size_t dependency, const char* what) const {
    throw Error(ErrorKind::internal, "Dependency " + std::to_string(dependency) + " of " +
                                         streams_.plan_->origin_of(index_) + " " + what);
  }

  TaskStreams& streams_;
  const size_t index_;
};

TaskStreams::TaskStreams(Attempt& attempt) : attempt_(attempt) {}
TaskStreams::~TaskStreams() = default;

void TaskStreams::begin(const rdd::PartitionData& data) {
  data_ = &data;
  if (plan_ == attempt_.plan()) return;
  nodes_.clear();
  plan_ = attempt_.plan();
  for (size_t i = 0; i < plan_->graph().nodes.size(); ++i) {
    nodes_.push_back(std::make_unique<Node>(*this, i));
  }
}

detail::StreamPtr TaskStreams::open(int32_t partition) {
  return open_node(nodes_.size() - 1, partition);
}

detail::StreamPtr TaskStreams::open_node(size_t node, int32_t partition) {
  const rdd::StageNode& described = plan_->graph().nodes[node];
  if (partition < 0 || partition >= described.partitions) {
    throw Error(ErrorKind::internal, "Partition " + std::to_string(partition) + " of " +
                                         plan_->origin_of(node) + " does not exist: it has " +
                                         std::to_string(described.partitions));
  }
  if (described.level != StorageLevel::none) return open_kept(node, partition);
  return open_operator(node, partition);
}

detail::StreamPtr TaskStreams::open_operator(size_t node, int32_t partition) {
  try {
    return plan_->operator_of(node).open(*nodes_[node], partition);
  } catch (...) {
    nodes_[node]->note_failure();
    throw;
  }
}

// Whoever computes the partition reads its stream to the end first; a failure or a kill on the way
// leaves nothing behind (C15.3).
detail::StreamPtr TaskStreams::open_kept(size_t node, int32_t partition) {
  using Claim = storage::MemoryStore::Claim;
  const detail::KeepOperator& keeper = plan_->keeper_of(node);
  storage::MemoryStore& memory = attempt_.services().blocks.memory();
  const storage::RddBlockId id{plan_->graph().nodes[node].id, partition};
  auto found = memory.get_or_claim(id, attempt_, overflow_of(plan_->graph().nodes[node].level));
  if (auto* kept = std::get_if<detail::CachedPtr>(&found)) return keeper.reopen(std::move(*kept));
  detail::CachedPtr computed;
  try {
    computed = compute_kept(node, partition, std::get<Claim>(found));
  } catch (...) {
    nodes_[node]->note_failure();
    throw;
  }
  // The disk refused what was to go there: computed once more, and not kept.
  if (!computed) return open_operator(node, partition);
  return keeper.reopen(std::move(computed));
}

// nullptr: read to the end, but not kept.
detail::CachedPtr TaskStreams::compute_kept(size_t node, int32_t partition,
                                            storage::MemoryStore::Claim& claim) {
  const StorageLevel level = plan_->graph().nodes[node].level;
  const detail::KeepOperator& keeper = plan_->keeper_of(node);
  const detail::StreamPtr stream = open_operator(node, partition);
  if (level == StorageLevel::disk) {
    return claim.store_on_disk([&](const detail::ByteSink& sink) {
      keeper.encode(*stream, attempt_, sink);
      attempt_.throw_if_killed();
    });
  }
  detail::CachedPtr computed;
  if (is_serialized(level)) {
    std::string bytes;
    keeper.encode(*stream, attempt_, [&](std::string_view piece) { bytes += piece; });
    computed = std::make_shared<const detail::EncodedInMemory>(std::move(bytes));
  } else {
    computed = keeper.keep(*stream, attempt_);
  }
  attempt_.throw_if_killed();
  return claim.store(std::move(computed), overflow_of(level));
}

}  // namespace tenon::executor
