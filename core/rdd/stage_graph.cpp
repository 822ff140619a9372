#include "rdd/stage_graph.hpp"

#include <unordered_map>

#include "common/msgpack_fields.hpp"
#include "rdd/walk.hpp"

namespace tenon::rdd {

namespace {

using packed::Fields;
using packed::pack_bytes;
using packed::pack_text;
using packed::Packer;
using packed::refuse;

// Layout: a header array; an array for each node; an array for the last step.
constexpr uint32_t kVersion = 3;
constexpr const char* kWhat = "a stage";

// Smallest encoded node: what a count of nodes is checked against before memory is taken.
constexpr size_t kMinNodeBytes = 10;

enum class Step : uint8_t { action = 0, shuffle_write = 1 };

void check_known(const Operator& op, const OperatorKnown& known, const std::string& of) {
  if (op.id != 0 && (!known || known(op.id))) return;
  throw Error(
      ErrorKind::codec,
      "the operator of " + of + " (id " + std::to_string(op.id) +
          ") is not registered in this program; its code must be linked into the program or "
          "into a library that is loaded before the Context starts");
}

std::string where(const Node& node) {
  const std::string site = node.call_site().text();
  return "Rdd " + std::to_string(node.id()) + (site.empty() ? "" : " (" + site + ")");
}

void pack_header(Packer& out, const StageHeader& header, size_t nodes) {
  out.pack_array(7);
  out.pack_uint32(kVersion);
  pack_text(out, header.app_id);
  pack_text(out, header.app_attempt_id);
  out.pack_int32(header.stage_id);
  out.pack_int32(header.stage_attempt);
  out.pack_map(static_cast<uint32_t>(header.properties.size()));
  for (const auto& [key, value] : header.properties) {
    pack_text(out, key);
    pack_text(out, value);
  }
  out.pack_uint32(static_cast<uint32_t>(nodes));
}

void pack_node(Packer& out, const Node& node,
               const std::unordered_map<const Node*, size_t>& index_of) {
  out.pack_array(9);
  out.pack_int32(node.id());
  pack_text(out, node.name());
  pack_text(out, node.call_site().text());
  out.pack_uint64(node.op().id);
  pack_bytes(out, node.op().bytes);
  out.pack_int32(node.partition_count());
  out.pack_uint8(static_cast<uint8_t>(node.level()));
  out.pack_uint64(node.keeper().id);
  out.pack_array(static_cast<uint32_t>(node.dependencies().size()));
  for (const Dependency& dependency : node.dependencies()) {
    if (const auto* shuffle = std::get_if<ShufflePtr>(&dependency)) {
      out.pack_array(2);
      out.pack_int32((*shuffle)->shuffle_id);
      out.pack_int32((*shuffle)->reduces);
    } else {
      out.pack_uint64(index_of.at(parent_of(dependency).get()));
    }
  }
}

std::string encode_nodes(const StageHeader& header, const Node& last, const OperatorKnown& known) {
  std::string bytes;
  packed::StringStream stream{bytes};
  Packer out(stream);
  const std::vector<const Node*> nodes = parents_first(last, Reach::stage);
  pack_header(out, header, nodes.size());
  std::unordered_map<const Node*, size_t> index_of;
  index_of.reserve(nodes.size());
  for (const Node* node : nodes) {
    check_known(node->op(), known, where(*node));
    if (node->keeper().id != 0) check_known(node->keeper(), known, where(*node));
    pack_node(out, *node, index_of);
    index_of.emplace(node, index_of.size());
  }
  return bytes;
}

StageHeader read_header(Fields fields, size_t& nodes) {
  if (const auto version = fields.number<uint32_t>(); version != kVersion) {
    refuse(kWhat, "unknown version " + std::to_string(version));
  }
  StageHeader header;
  header.app_id = fields.text();
  header.app_attempt_id = fields.text();
  header.stage_id = fields.ordinal();
  header.stage_attempt = fields.ordinal();
  const msgpack::object& properties = fields.next();
  if (properties.type != msgpack::type::MAP) refuse(kWhat, "the properties are not a map");
  for (uint32_t i = 0; i < properties.via.map.size; ++i) {
    const msgpack::object_kv& entry = properties.via.map.ptr[i];
    header.properties.emplace(entry.key.as<std::string>(), entry.val.as<std::string>());
  }
  nodes = fields.number<uint32_t>();
  return header;
}

StageEdge read_edge(const msgpack::object& object, size_t index) {
  if (object.type == msgpack::type::ARRAY) {
    Fields fields(object, "a shuffle dependency");
    ShuffleEdge edge;
    edge.shuffle_id = fields.ordinal();
    edge.reduces = fields.ordinal();
    return edge;
  }
  const auto parent = object.as<uint64_t>();
  if (parent >= index) refuse(kWhat, "a node stands before its parent");
  return NarrowEdge{static_cast<size_t>(parent)};
}

StorageLevel read_level(uint32_t number) {
  if (number > static_cast<uint32_t>(StorageLevel::memory_and_disk_serialized)) {
    refuse(kWhat, "unknown storage level " + std::to_string(number));
  }
  return static_cast<StorageLevel>(number);
}

StageNode read_node(Fields fields, size_t index) {
  StageNode node;
  node.id = fields.ordinal();
  node.name = fields.text();
  node.call_site = fields.text();
  node.op.id = fields.number<uint64_t>();
  node.op.bytes = fields.text();
  node.partitions = fields.ordinal();
  node.level = read_level(fields.number<uint32_t>());
  node.keeper.id = fields.number<uint64_t>();
  Fields edges(fields.next(), "the dependencies of a node");
  node.dependencies.reserve(edges.left());
  while (edges.left() > 0) node.dependencies.push_back(read_edge(edges.next(), index));
  return node;
}

std::variant<ActionStep, ShuffleWriteStep> read_last_step(Fields fields) {
  const auto kind = fields.number<uint32_t>();
  if (kind == static_cast<uint32_t>(Step::action)) {
    ActionStep step;
    step.action.id = fields.number<uint64_t>();
    step.action.bytes = fields.text();
    return step;
  }
  if (kind != static_cast<uint32_t>(Step::shuffle_write)) refuse(kWhat, "unknown last step");
  ShuffleWriteStep step;
  step.shuffle_id = fields.ordinal();
  step.reduces = fields.ordinal();
  step.writer.id = fields.number<uint64_t>();
  step.writer.bytes = fields.text();
  step.call_site = fields.text();
  return step;
}

}  // namespace

std::string encode_stage(const StageHeader& header, const NodePtr& node, const Operator& action,
                         const OperatorKnown& known) {
  check_known(action, known, "the action on " + where(*node));
  std::string bytes = encode_nodes(header, *node, known);
  packed::StringStream stream{bytes};
  Packer out(stream);
  out.pack_array(3);
  out.pack_uint8(static_cast<uint8_t>(Step::action));
  out.pack_uint64(action.id);
  pack_bytes(out, action.bytes);
  return bytes;
}

std::string encode_stage(const StageHeader& header, const ShuffleDependency& shuffle,
                         const OperatorKnown& known) {
  check_known(
      shuffle.writer, known,
      "shuffle " + std::to_string(shuffle.shuffle_id) + " behind " + where(*shuffle.parent));
  std::string bytes = encode_nodes(header, *shuffle.parent, known);
  packed::StringStream stream{bytes};
  Packer out(stream);
  out.pack_array(6);
  out.pack_uint8(static_cast<uint8_t>(Step::shuffle_write));
  out.pack_int32(shuffle.shuffle_id);
  out.pack_int32(shuffle.reduces);
  out.pack_uint64(shuffle.writer.id);
  pack_bytes(out, shuffle.writer.bytes);
  pack_text(out, shuffle.call_site.text());
  return bytes;
}

StageGraph decode_stage_graph(std::string_view bytes) {
  return packed::Reader::guard(kWhat, [bytes] {
    packed::Reader reader(bytes, kWhat);
    StageGraph graph;
    size_t nodes = 0;
    graph.header = read_header(Fields(reader.next(), kWhat), nodes);
    if (nodes == 0) refuse(kWhat, "it has no nodes");
    if (nodes > reader.left() / kMinNodeBytes) refuse(kWhat, "more nodes than bytes");
    graph.nodes.reserve(nodes);
    for (size_t i = 0; i < nodes; ++i) {
      graph.nodes.push_back(read_node(Fields(reader.next(), "a node"), i));
    }
    graph.last_step = read_last_step(Fields(reader.next(), "the last step"));
    reader.expect_end();
    return graph;
  });
}

}  // namespace tenon::rdd
