#include "service/messages.hpp"

#include <utility>

namespace tenon::service {
namespace {

constexpr uint32_t kVersion = 1;

[[noreturn]] void malformed(const char* what) {
  throw wire::Error(wire::Error::Kind::malformed, std::string("Malformed message: ") + what);
}

// Sizes are many and mostly small: 7 bits a byte, low ones first.
std::string pack_sizes(const std::vector<uint64_t>& sizes) {
  std::string out;
  out.reserve(sizes.size() * 2 + 8);
  for (uint64_t size : sizes) {
    for (; size >= 0x80; size >>= 7) out += static_cast<char>((size & 0x7f) | 0x80);
    out += static_cast<char>(size);
  }
  return out;
}

std::vector<uint64_t> unpack_sizes(std::string_view bytes) {
  std::vector<uint64_t> sizes;
  uint64_t value = 0;
  unsigned shift = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (shift > 63) malformed("a size is out of range");
    value |= uint64_t{byte & 0x7fU} << shift;
    shift += 7;
    if ((byte & 0x80) != 0) continue;
    sizes.push_back(value);
    value = 0;
    shift = 0;
  }
  if (shift != 0) malformed("a size is cut short");
  return sizes;
}

void write_metrics(wire::MessageWriter& out, const TaskMetrics& metrics) {
  out.array(11)
      .number(metrics.run_ns)
      .number(metrics.deserialize_ns)
      .number(metrics.serialize_ns)
      .number(metrics.result_bytes)
      .number(metrics.shuffle_read_bytes)
      .number(metrics.shuffle_read_records)
      .number(metrics.shuffle_write_bytes)
      .number(metrics.shuffle_write_records)
      .number(metrics.fetch_wait_ns)
      .number(metrics.spill_bytes)
      .number(metrics.peak_memory_bytes);
}

TaskMetrics read_metrics(wire::MessageReader in) {
  TaskMetrics metrics;
  metrics.run_ns = in.i64();
  metrics.deserialize_ns = in.i64();
  metrics.serialize_ns = in.i64();
  metrics.result_bytes = in.u64();
  metrics.shuffle_read_bytes = in.u64();
  metrics.shuffle_read_records = in.u64();
  metrics.shuffle_write_bytes = in.u64();
  metrics.shuffle_write_records = in.u64();
  metrics.fetch_wait_ns = in.i64();
  metrics.spill_bytes = in.u64();
  metrics.peak_memory_bytes = in.u64();
  return metrics;
}

task::MapStatus read_status(wire::MessageReader in) {
  task::MapStatus status;
  status.location.executor_id = in.text();
  status.location.host = in.text();
  status.location.endpoint = in.text();
  status.map_id = in.u64();
  status.sizes = unpack_sizes(in.bytes());
  return status;
}

}  // namespace

wire::MessageWriter writer(MessageType type) {
  return wire::MessageWriter(static_cast<uint32_t>(type), kVersion);
}

wire::MessageReader reader(std::string_view message, MessageType expected) {
  wire::MessageReader in(message);
  if (in.type() != static_cast<uint32_t>(expected)) malformed("an answer is of another type");
  return in;
}

std::string encode(const RegisterExecutor& message) {
  wire::MessageWriter out = writer(MessageType::register_executor);
  out.text(message.executor_id).text(message.host).text(message.endpoint);
  out.array(message.modules.size());
  for (const rdd::Module& module : message.modules) {
    out.array(2).text(module.build_id).text(module.path);
  }
  return out.take();
}

RegisterExecutor decode_register(wire::MessageReader& in) {
  RegisterExecutor message;
  message.executor_id = in.text();
  message.host = in.text();
  message.endpoint = in.text();
  for (wire::MessageReader modules = in.array(); modules.left() > 0;) {
    wire::MessageReader fields = modules.array();
    rdd::Module& module = message.modules.emplace_back();
    module.build_id = fields.text();
    module.path = fields.text();
  }
  return message;
}

std::string encode(const Heartbeat& message) {
  wire::MessageWriter out = writer(MessageType::heartbeat);
  out.text(message.executor_id).array(message.running.size());
  for (const auto& [task_id, metrics] : message.running) {
    out.array(2).number(task_id);
    write_metrics(out, metrics);
  }
  return out.take();
}

Heartbeat decode_heartbeat(wire::MessageReader& in) {
  Heartbeat message;
  message.executor_id = in.text();
  for (wire::MessageReader tasks = in.array(); tasks.left() > 0;) {
    wire::MessageReader fields = tasks.array();
    const uint64_t task_id = fields.u64();
    message.running.emplace_back(task_id, read_metrics(fields.array()));
  }
  return message;
}

std::string encode(const shuffle::MapOutputs& outputs) {
  wire::MessageWriter out = writer(MessageType::map_outputs_answer);
  out.number(outputs.epoch).array(outputs.statuses.size());
  for (const auto& status : outputs.statuses) {
    if (!status) {
      out.nil();
      continue;
    }
    const task::BlockManagerId& location = status->location;
    out.array(5).text(location.executor_id).text(location.host).text(location.endpoint);
    out.number(status->map_id).bytes(pack_sizes(status->sizes));
  }
  return out.take();
}

shuffle::MapOutputs decode_map_outputs(wire::MessageReader& in) {
  shuffle::MapOutputs outputs;
  outputs.epoch = in.u64();
  for (wire::MessageReader statuses = in.array(); statuses.left() > 0;) {
    if (statuses.nil()) {
      outputs.statuses.emplace_back();
    } else {
      outputs.statuses.emplace_back(read_status(statuses.array()));
    }
  }
  return outputs;
}

std::string encode(const std::string& executor_id, const storage::BlockUpdate& update) {
  return writer(MessageType::block_update)
      .text(executor_id)
      .number(update.id.rdd)
      .number(update.id.partition)
      .boolean(update.stored)
      .number(update.bytes)
      .take();
}

std::pair<std::string, storage::BlockUpdate> decode_block_update(wire::MessageReader& in) {
  std::pair<std::string, storage::BlockUpdate> update;
  update.first = in.text();
  update.second.id.rdd = in.i32();
  update.second.id.partition = in.i32();
  update.second.stored = in.boolean();
  update.second.bytes = in.u64();
  return update;
}

std::string encode(const ShuffleBlockId& id) {
  return writer(MessageType::shuffle_block)
      .number(id.shuffle)
      .number(id.map_id)
      .number(id.reduce)
      .take();
}

ShuffleBlockId decode_shuffle_block_id(wire::MessageReader& in) {
  ShuffleBlockId id;
  id.shuffle = in.i32();
  id.map_id = in.u64();
  id.reduce = in.i32();
  return id;
}

}  // namespace tenon::service
