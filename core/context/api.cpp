// The functions behind the templates of the program API.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "context/driver.hpp"
#include "rdd/input_files.hpp"
#include "rdd/node.hpp"
#include "rdd/text_source.hpp"
#include "tenon/accumulator.hpp"
#include "tenon/broadcast.hpp"
#include "tenon/detail/driver.hpp"
#include "tenon/detail/rdd_actions.hpp"
#include "tenon/error.hpp"
#include "tenon/task_context.hpp"

namespace tenon::detail {

JobHandle::~JobHandle() = default;

// A place in the standard library (std::make_unique made the object) tells nobody anything.
CallSite call_site(const char* operation, const Location& location) {
  const std::string_view file = location.file_name();
  if (file.find("/include/c++/") != file.npos) return call_site(operation);
  return {operation, std::string(file), location.line()};
}
CallSite call_site(const char* operation) { return {operation, {}, 0}; }

namespace {

// The level that keeps what the given one would drop.
StorageLevel with_disk(StorageLevel level) {
  if (level == StorageLevel::none || level == StorageLevel::memory) {
    return StorageLevel::memory_and_disk;
  }
  return level == StorageLevel::memory_serialized ? StorageLevel::memory_and_disk_serialized
                                                  : level;
}

}  // namespace

rdd::NodePtr add_node(Driver& driver, rdd::NodeSpec spec) {
  driver.check_usable();
  spec.id = driver.next_rdd_id();
  return {new rdd::Node(std::move(spec)), [cleaner = driver.cleaner()](const rdd::Node* node) {
            const std::optional<int32_t> persisted =
                node->persisted() ? std::optional(node->id()) : std::nullopt;
            delete node;
            if (persisted) cleaner->rdd_ended(*persisted);
          }};
}

rdd::ShufflePtr add_shuffle(Driver& driver, rdd::ShuffleDependency shuffle) {
  driver.check_usable();
  const int32_t id = shuffle.shuffle_id = driver.next_shuffle_id();
  return {new rdd::ShuffleDependency(std::move(shuffle)),
          [id, cleaner = driver.cleaner()](const rdd::ShuffleDependency* ended) {
            delete ended;
            cleaner->shuffle_ended(id);
          }};
}

int32_t partition_count(const rdd::NodePtr& node) { return node->partition_count(); }
int32_t node_id(const rdd::NodePtr& node) { return node->id(); }
std::optional<rdd::Partitioner> partitioner_of(const rdd::NodePtr& node) {
  return node->partitioner();
}
std::string node_name(const rdd::NodePtr& node) { return node->name(); }
void set_node_name(const rdd::NodePtr& node, std::string name) { node->set_name(std::move(name)); }
void persist_node(Driver& driver, const rdd::NodePtr& node, StorageLevel level,
                  const Operator& keeper) {
  driver.check_usable();
  if (level == StorageLevel::none) {
    throw_bad_argument("persist", "the level none keeps nothing; use unpersist()");
  }
  node->set_keeper(keeper);
  const StorageLevel before = node->set_level_once(level);
  if (before == StorageLevel::none || before == level) return;
  throw_bad_argument("persist", "the storage level of Rdd " + std::to_string(node->id()) + " is " +
                                    std::string(to_string(before)) + " and cannot be changed to " +
                                    std::string(to_string(level)) + "; unpersist() it first");
}
void unpersist_node(Driver& driver, const rdd::NodePtr& node) {
  driver.check_usable();
  driver.unpersist(node);
}
StorageLevel storage_level(const rdd::NodePtr& node) { return node->level(); }

void set_checkpoint_dir(Driver& driver, const std::string& directory) {
  driver.check_usable();
  driver.checkpoints().set_directory(directory);
}
std::string checkpoint_folder(Driver& driver, const rdd::NodePtr& node) {
  driver.check_usable();
  return driver.checkpoints().folder_of(*node);
}
void mark_checkpoint(Driver& driver, const rdd::NodePtr& node, std::string folder,
                     CheckpointCode code) {
  driver.check_usable();
  if (folder.empty()) {
    node->set_keeper(code.keeper);
    node->set_level(with_disk(node->level()));
  }
  driver.checkpoints().mark(node, std::move(folder), std::move(code));
}
bool is_checkpointed(const rdd::NodePtr& node) { return node->checkpointed(); }

std::string debug_string(const rdd::NodePtr& node) { return rdd::debug_string(*node); }

int32_t default_parallelism(Driver& driver) { return driver.default_parallelism(); }

rdd::Partitioner default_partitioner(Driver& driver, std::initializer_list<rdd::NodePtr> parents) {
  driver.check_usable();
  const rdd::Partitioner* largest = nullptr;
  int32_t most = 1;
  for (const rdd::NodePtr& parent : parents) {
    most = std::max(most, parent->partition_count());
    const auto& own = parent->partitioner();
    if (own && (largest == nullptr || own->partitions > largest->partitions)) largest = &*own;
  }
  if (largest != nullptr) return *largest;
  if (driver.settings().has("tenon.default.parallelism")) {
    most = static_cast<int32_t>(driver.settings().get_int("tenon.default.parallelism"));
  }
  return {most, {}};
}

void run_job(Driver& driver, JobSpec spec, const ResultHandler& handler) {
  driver.run_job(std::move(spec), handler);
}
std::shared_ptr<JobHandle> submit_job(Driver& driver, JobSpec spec, ResultHandler handler) {
  return driver.submit_job(std::move(spec), std::move(handler));
}

std::shared_ptr<JobHandle> submit_map_stage(Driver& driver, const rdd::NodePtr& node, CallSite site,
                                            std::function<void(std::vector<uint64_t>)> on_bytes) {
  driver.check_usable();
  auto shuffles = rdd::direct_shuffles(node);
  if (shuffles.size() != 1) {
    throw_bad_argument(site.operation.c_str(),
                       "the Rdd must read one shuffle, but it reads " +
                           std::to_string(shuffles.size()) +
                           "; call it on the result of partition_by, reduce_by_key and the like");
  }
  return driver.submit_map_stage(std::move(shuffles.front()), std::move(site), std::move(on_bytes));
}

std::vector<int32_t> all_partitions(const rdd::NodePtr& node) {
  std::vector<int32_t> all(static_cast<size_t>(node->partition_count()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
  return all;
}

Operator file_operator(FileRecords records) {
  switch (records) {
    case FileRecords::line_views:
      return rdd::text_operator(true);
    case FileRecords::lines_with_offsets:
      return rdd::lines_with_offsets_operator();
    case FileRecords::whole_files:
      return rdd::whole_files_operator();
    case FileRecords::lines:
      break;
  }
  return rdd::text_operator(false);
}

rdd::NodePtr add_files(Driver& driver, FileSource source, CallSite site) {
  if (source.min_partitions < 0) throw_bad_partitions(source.operation, source.min_partitions);
  driver.check_usable();
  rdd::SplitRule rule;
  rule.min_splits =
      static_cast<uint64_t>(source.min_partitions > 0 ? source.min_partitions
                                                      : std::min(driver.default_parallelism(), 2));
  rule.max_bytes = rdd::kMaxSplitBytes;
  rule.unit = source.record_bytes;
  rule.keep_empty = source.keep_empty;
  rdd::NodeSpec spec;
  spec.name = source.paths.empty() ? "" : source.paths.front();
  if (source.paths.size() > 1) {
    spec.name += " and " + std::to_string(source.paths.size() - 1) + " more";
  }
  spec.call_site = std::move(site);
  spec.op = std::move(source.op);
  spec.partitions = [paths = std::move(source.paths), commas = source.comma_lists, rule] {
    rdd::Partitions partitions;
    const auto files = commas && paths.size() == 1 ? rdd::list_input_files(paths.front())
                                                   : rdd::list_input_files(paths);
    if (rule.unit > 1) rdd::check_record_files(files, rule.unit);
    for (const auto& split : rdd::make_splits(files, rule)) {
      partitions.push_back({rdd::encode_split(split), {}});
    }
    return partitions;
  };
  return add_node(driver, std::move(spec));
}

void in_waves(Driver& driver, const rdd::NodePtr& node,
              const std::function<bool(std::vector<int32_t>)>& run) {
  const auto total = static_cast<uint64_t>(node->partition_count());
  const auto factor =
      static_cast<uint64_t>(driver.settings().get_int("tenon.rdd.limit.scaleUpFactor"));
  uint64_t tried = 0, wave = 1;
  for (bool more = true; more && tried < total; wave = std::min(total, tried * factor)) {
    std::vector<int32_t> partitions;
    for (; partitions.size() < wave && tried < total; ++tried) {
      partitions.push_back(static_cast<int32_t>(tried));
    }
    more = run(std::move(partitions));
  }
}

uint64_t add_broadcast(Driver& driver, std::string bytes) {
  driver.check_usable();
  return driver.add_broadcast(std::move(bytes));
}

namespace {

std::string destroyed_text(uint64_t id, const CallSite& site) {
  return "Broadcast " + std::to_string(id) + " cannot be used: it was destroyed by " + site.text();
}

}  // namespace

void BroadcastOwner::unpersist() const {
  check_usable();
  driver_->remove_broadcast(id_, {});
}

void BroadcastOwner::destroy(CallSite site) {
  if (TaskContext::current() != nullptr) throw_not_in_driver("Broadcast::destroy()");
  if (destroying_.exchange(true)) return;
  destroyed_at_ = std::move(site);
  destroyed_.store(true, std::memory_order_release);
  driver_->remove_broadcast(id_, destroyed_text(id_, destroyed_at_));
}

void BroadcastOwner::throw_destroyed() const {
  throw Error(ErrorKind::invalid_argument, destroyed_text(id_, destroyed_at_));
}

void throw_not_in_driver(const char* operation) {
  throw Error(ErrorKind::invalid_argument,
              std::string(operation) +
                  " works in the driver only, on what Context::broadcast() gave, not in a task");
}

uint64_t add_accumulator(Driver& driver, std::string name,
                         std::function<void(std::string_view)> merge,
                         std::function<std::string()> text) {
  driver.check_usable();
  const uint64_t id = driver.next_object_id();
  driver.on_loop([&] { driver.scheduling().add_accumulator({id, name, merge, text}); });
  return id;
}

void settle(Driver& driver) {
  driver.on_loop([] {});
}

void with_accumulator_lock(const std::function<void()>& work) {
  static std::mutex mutex;  // guards the drivers' values of all accumulators
  const std::lock_guard lock(mutex);
  work();
}

}  // namespace tenon::detail
