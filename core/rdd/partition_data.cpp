#include <algorithm>
#include <set>
#include <stdexcept>

#include "common/msgpack_fields.hpp"
#include "rdd/stage_graph.hpp"
#include "rdd/walk.hpp"

namespace tenon::rdd {

namespace {

constexpr const char* kWhat = "the data of a task";

const Partition& partition_at(const Partitions& partitions, int32_t node_id, int32_t partition) {
  if (partition >= 0 && static_cast<size_t>(partition) < partitions.size()) {
    return partitions[static_cast<size_t>(partition)];
  }
  throw std::out_of_range("Rdd " + std::to_string(node_id) + " has no partition " +
                          std::to_string(partition) + "; it has " +
                          std::to_string(partitions.size()));
}

// An entry is three objects in a row: node, partition, bytes.
void append(std::string& out, int32_t node_id, int32_t partition, std::string_view data) {
  packed::StringStream stream{out};
  packed::Packer packer(stream);
  packer.pack_int32(node_id);
  packer.pack_int32(partition);
  packed::pack_bytes(packer, data);
}

bool has_data(const Partitions& partitions) {
  return std::any_of(partitions.begin(), partitions.end(),
                     [](const Partition& partition) { return !partition.data.empty(); });
}

}  // namespace

PartitionDataEncoder::PartitionDataEncoder(NodePtr node) : node_(std::move(node)) {
  for (const Node* each : parents_first(*node_, Reach::stage)) {
    for (const Dependency& dependency : each->dependencies()) {
      const auto* narrow = std::get_if<NarrowDependency>(&dependency);
      if (narrow != nullptr && narrow->parents_of) one_to_one_ = false;
    }
    if (has_data(each->partitions())) sources_.push_back({each->id(), &each->partitions()});
  }
}

std::shared_ptr<const std::string> PartitionDataEncoder::encode(int32_t partition) const {
  partition_at(node_->partitions(), node_->id(), partition);
  if (sources_.empty()) return nullptr;
  std::string out;
  if (one_to_one_) {
    append_chain(out, partition);
  } else {
    append_walk(out, partition);
  }
  if (out.empty()) return nullptr;
  return std::make_shared<const std::string>(std::move(out));
}

void PartitionDataEncoder::append_chain(std::string& out, int32_t partition) const {
  for (const Source& source : sources_) {
    const Partition& own = partition_at(*source.partitions, source.node_id, partition);
    if (!own.data.empty()) append(out, source.node_id, partition, own.data);
  }
}

void PartitionDataEncoder::append_walk(std::string& out, int32_t partition) const {
  using Place = std::pair<const Node*, int32_t>;
  std::vector<Place> stack{{node_.get(), partition}};
  std::set<Place> seen(stack.begin(), stack.end());
  const auto visit = [&](const Node* parent, int32_t of_parent) {
    if (seen.emplace(parent, of_parent).second) stack.emplace_back(parent, of_parent);
  };
  while (!stack.empty()) {
    const auto [node, place] = stack.back();
    stack.pop_back();
    const Partition& own = partition_at(node->partitions(), node->id(), place);
    if (!own.data.empty()) append(out, node->id(), place, own.data);
    for (const Dependency& dependency : node->dependencies()) {
      const auto* narrow = std::get_if<NarrowDependency>(&dependency);
      if (narrow == nullptr) continue;
      if (!narrow->parents_of) {
        visit(narrow->parent.get(), place);
      } else {
        for (const int32_t parent : narrow->parents_of(place)) visit(narrow->parent.get(), parent);
      }
    }
  }
}

std::shared_ptr<const std::string> partition_data(const NodePtr& node, int32_t partition) {
  return PartitionDataEncoder(node).encode(partition);
}

PartitionData::PartitionData(std::string_view bytes) {
  packed::Reader::guard(kWhat, [&] {
    packed::Reader reader(bytes, kWhat);
    while (reader.left() > 0) {
      Entry entry;
      entry.node_id = reader.next().as<int32_t>();
      entry.partition = reader.next().as<int32_t>();
      const msgpack::object& data = reader.next();
      if (data.type != msgpack::type::BIN) packed::refuse(kWhat, "no bytes where they should be");
      entry.bytes = {data.via.bin.ptr, data.via.bin.size};
      entries_.push_back(entry);
    }
  });
  const auto before = [](const Entry& a, const Entry& b) {
    return std::pair(a.node_id, a.partition) < std::pair(b.node_id, b.partition);
  };
  std::sort(entries_.begin(), entries_.end(), before);
}

std::string_view PartitionData::find(int32_t node_id, int32_t partition) const {
  const auto before = [](const Entry& entry, std::pair<int32_t, int32_t> key) {
    return std::pair(entry.node_id, entry.partition) < key;
  };
  const auto at =
      std::lower_bound(entries_.begin(), entries_.end(), std::pair(node_id, partition), before);
  if (at == entries_.end() || at->node_id != node_id || at->partition != partition) return {};
  return at->bytes;
}

}  // namespace tenon::rdd
