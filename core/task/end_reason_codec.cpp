#include "task/end_reason_codec.hpp"

#include <algorithm>
#include <limits>
#include <msgpack.hpp>
#include <utility>

#include "tenon/error.hpp"

namespace tenon::task {
namespace {

constexpr uint32_t kVersion = 1;
constexpr size_t kMaxText = 256 * 1024;
constexpr uint32_t kMaxDepth = 16;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::codec, "Cannot decode a task's status: " + what);
}

// ---- writing

// Appends to a std::string, as msgpack::packer wants its stream.
struct StringStream {
  std::string bytes;
  void write(const char* data, size_t size) { bytes.append(data, size); }
};
using Packer = msgpack::packer<StringStream>;

void pack_bytes(Packer& out, std::string_view bytes) {
  if (bytes.size() > std::numeric_limits<uint32_t>::max()) {
    throw Error(ErrorKind::codec, "A task's result has a part of " + std::to_string(bytes.size()) +
                                      " bytes; 4294967295 is the most that can travel");
  }
  out.pack_bin(static_cast<uint32_t>(bytes.size()));
  out.pack_bin_body(bytes.data(), static_cast<uint32_t>(bytes.size()));
}

void pack_text(Packer& out, std::string_view text) {
  static constexpr std::string_view kCut = "... (cut)";
  const bool cut = text.size() > kMaxText;
  const std::string_view kept = text.substr(0, kMaxText);
  out.pack_str(static_cast<uint32_t>(kept.size() + (cut ? kCut.size() : 0)));
  out.pack_str_body(kept.data(), static_cast<uint32_t>(kept.size()));
  if (cut) out.pack_str_body(kCut.data(), static_cast<uint32_t>(kCut.size()));
}

void pack_updates(Packer& out, const std::vector<AccumulatorUpdate>& updates) {
  out.pack_array(static_cast<uint32_t>(updates.size()));
  for (const AccumulatorUpdate& update : updates) {
    out.pack_array(2);
    out.pack_uint64(update.id);
    pack_bytes(out, update.bytes);
  }
}

void pack_address(Packer& out, const BlockManagerId& address) {
  out.pack_array(3);
  pack_text(out, address.executor_id);
  pack_text(out, address.host);
  pack_text(out, address.endpoint);
}

void pack_map_status(Packer& out, const MapStatus& status) {
  out.pack_array(3);
  pack_address(out, status.location);
  out.pack_uint64(status.map_id);
  out.pack_array(static_cast<uint32_t>(status.sizes.size()));
  for (const uint64_t size : status.sizes) out.pack_uint64(size);
}

void pack_metrics(Packer& out, const TaskMetrics& metrics) {
  out.pack_array(11);
  out.pack_int64(metrics.run_ns);
  out.pack_int64(metrics.deserialize_ns);
  out.pack_int64(metrics.serialize_ns);
  out.pack_uint64(metrics.result_bytes);
  out.pack_uint64(metrics.shuffle_read_bytes);
  out.pack_uint64(metrics.shuffle_read_records);
  out.pack_uint64(metrics.shuffle_write_bytes);
  out.pack_uint64(metrics.shuffle_write_records);
  out.pack_int64(metrics.fetch_wait_ns);
  out.pack_uint64(metrics.spill_bytes);
  out.pack_uint64(metrics.peak_memory_bytes);
}

struct ReasonPacker {
  Packer& out;

  // [version, kind, fields...]
  void head(uint32_t fields, std::string_view kind) const {
    out.pack_array(fields + 2);
    out.pack_uint32(kVersion);
    pack_text(out, kind);
  }
  void operator()(const Success&) const {
    throw Error(ErrorKind::codec, "Success travels as a task result, not as an end reason");
  }
  void operator()(const Resubmitted&) const { head(0, "Resubmitted"); }
  void operator()(const FetchFailed& failed) const {
    head(6, "FetchFailed");
    if (failed.address) {
      pack_address(out, *failed.address);
    } else {
      out.pack_nil();
    }
    out.pack_int32(failed.shuffle_id);
    out.pack_int64(failed.map_id);
    out.pack_int32(failed.map_index);
    out.pack_int32(failed.reduce_id);
    pack_text(out, failed.message);
  }
  void operator()(const ExceptionFailure& failure) const {
    head(6, "ExceptionFailure");
    pack_text(out, failure.type);
    pack_text(out, failure.message);
    pack_text(out, failure.origin);
    out.pack_array(static_cast<uint32_t>(failure.causes.size()));
    for (const auto& [type, message] : failure.causes) {
      out.pack_array(2);
      pack_text(out, type);
      pack_text(out, message);
    }
    failure.no_retry ? out.pack_true() : out.pack_false();
    pack_updates(out, failure.accumulators);
  }
  void operator()(const TaskKilled& killed) const {
    head(2, "TaskKilled");
    pack_text(out, killed.reason);
    pack_updates(out, killed.accumulators);
  }
  void operator()(const TaskCommitDenied& denied) const {
    head(3, "TaskCommitDenied");
    out.pack_int32(denied.job);
    out.pack_int32(denied.partition);
    out.pack_int32(denied.attempt);
  }
  void operator()(const ExecutorLostFailure& lost) const {
    head(3, "ExecutorLostFailure");
    pack_text(out, lost.executor_id);
    pack_text(out, lost.reason);
    lost.app_caused ? out.pack_true() : out.pack_false();
  }
  void operator()(const TaskResultLost&) const { head(0, "TaskResultLost"); }
  void operator()(const UnknownReason& unknown) const {
    head(1, "UnknownReason");
    pack_text(out, unknown.detail);
  }
};

// ---- reading

// Walks a message without building anything, so that a header that promises more elements than
// there are bytes is found before memory is taken for them.
class Checker : public msgpack::null_visitor {
 public:
  bool start_array(uint32_t /*elements*/) { return ++depth_ <= kMaxDepth; }
  bool end_array() {
    --depth_;
    return true;
  }
  bool start_map(uint32_t /*pairs*/) { return ++depth_ <= kMaxDepth; }
  bool end_map() {
    --depth_;
    return true;
  }

 private:
  uint32_t depth_ = 0;
};

bool refer_always(msgpack::type::object_type, size_t, void*) { return true; }

// The fields of an array in order; those that a newer sender has appended are left alone.
class Fields {
 public:
  Fields(const msgpack::object& object, const char* what) : what_(what) {
    if (object.type != msgpack::type::ARRAY) refuse(std::string(what) + " is not an array");
    next_ = object.via.array.ptr;
    end_ = next_ + object.via.array.size;
  }
  [[nodiscard]] bool at_end() const { return next_ == end_; }
  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - next_); }
  const msgpack::object& next() {
    if (at_end()) refuse(std::string(what_) + " is too short");
    return *next_++;
  }
  template <class T>
  T number() {
    return next().as<T>();  // checks type and range
  }
  bool boolean() { return next().as<bool>(); }
  std::string_view bytes() {
    const msgpack::object& object = next();
    if (object.type == msgpack::type::BIN) return {object.via.bin.ptr, object.via.bin.size};
    if (object.type == msgpack::type::STR) return {object.via.str.ptr, object.via.str.size};
    refuse(std::string(what_) + " has something else where bytes should be");
  }
  std::string text() { return std::string(bytes()); }

 private:
  const char* what_;
  const msgpack::object* next_ = nullptr;
  const msgpack::object* end_ = nullptr;
};

std::vector<AccumulatorUpdate> read_updates(const msgpack::object& object) {
  Fields list(object, "the list of accumulators");
  std::vector<AccumulatorUpdate> updates;
  updates.reserve(list.left());
  while (!list.at_end()) {
    Fields fields(list.next(), "an accumulator");
    AccumulatorUpdate& update = updates.emplace_back();
    update.id = fields.number<uint64_t>();
    update.bytes = fields.text();
  }
  return updates;
}

BlockManagerId read_address(const msgpack::object& object) {
  Fields fields(object, "an address");
  BlockManagerId address;
  address.executor_id = fields.text();
  address.host = fields.text();
  address.endpoint = fields.text();
  return address;
}

MapStatus read_map_status(const msgpack::object& object) {
  Fields fields(object, "a map status");
  MapStatus status;
  status.location = read_address(fields.next());
  status.map_id = fields.number<uint64_t>();
  Fields sizes(fields.next(), "the list of sizes");
  status.sizes.reserve(sizes.left());
  while (!sizes.at_end()) status.sizes.push_back(sizes.number<uint64_t>());
  return status;
}

TaskMetrics read_metrics(const msgpack::object& object) {
  Fields fields(object, "the metrics");
  TaskMetrics metrics;
  metrics.run_ns = fields.number<int64_t>();
  metrics.deserialize_ns = fields.number<int64_t>();
  metrics.serialize_ns = fields.number<int64_t>();
  metrics.result_bytes = fields.number<uint64_t>();
  metrics.shuffle_read_bytes = fields.number<uint64_t>();
  metrics.shuffle_read_records = fields.number<uint64_t>();
  metrics.shuffle_write_bytes = fields.number<uint64_t>();
  metrics.shuffle_write_records = fields.number<uint64_t>();
  metrics.fetch_wait_ns = fields.number<int64_t>();
  metrics.spill_bytes = fields.number<uint64_t>();
  metrics.peak_memory_bytes = fields.number<uint64_t>();
  return metrics;
}

TaskResult read_task_result(Fields& fields) {
  TaskResult result;
  result.value = fields.text();
  const msgpack::object& map_status = fields.next();
  if (!map_status.is_nil()) result.map_status = read_map_status(map_status);
  result.accumulators = read_updates(fields.next());
  result.metrics = read_metrics(fields.next());
  if (fields.at_end()) return result;
  result.missing_value_bytes = fields.number<uint64_t>();
  const msgpack::object& stored_at = fields.next();
  if (!stored_at.is_nil()) result.stored_at = read_address(stored_at);
  return result;
}

FetchFailed read_fetch_failed(Fields& fields) {
  FetchFailed failed;
  const msgpack::object& address = fields.next();
  if (!address.is_nil()) failed.address = read_address(address);
  failed.shuffle_id = fields.number<int32_t>();
  failed.map_id = fields.number<int64_t>();
  failed.map_index = fields.number<int32_t>();
  failed.reduce_id = fields.number<int32_t>();
  failed.message = fields.text();
  return failed;
}

ExceptionFailure read_exception(Fields& fields) {
  ExceptionFailure failure;
  failure.type = fields.text();
  failure.message = fields.text();
  failure.origin = fields.text();
  Fields causes(fields.next(), "the list of causes");
  while (!causes.at_end()) {
    Fields cause(causes.next(), "a cause");
    std::string type = cause.text();
    failure.causes.emplace_back(std::move(type), cause.text());
  }
  failure.no_retry = fields.boolean();
  failure.accumulators = read_updates(fields.next());
  return failure;
}

EndReason read_end_reason(Fields& fields) {
  const std::string_view kind = fields.bytes();
  if (kind == "ExceptionFailure") return read_exception(fields);
  if (kind == "FetchFailed") return read_fetch_failed(fields);
  if (kind == "TaskKilled") {
    TaskKilled killed;
    killed.reason = fields.text();
    killed.accumulators = read_updates(fields.next());
    return killed;
  }
  if (kind == "TaskCommitDenied") {
    TaskCommitDenied denied;
    denied.job = fields.number<int32_t>();
    denied.partition = fields.number<int32_t>();
    denied.attempt = fields.number<int32_t>();
    return denied;
  }
  if (kind == "ExecutorLostFailure") {
    ExecutorLostFailure lost;
    lost.executor_id = fields.text();
    lost.reason = fields.text();
    lost.app_caused = fields.boolean();
    return lost;
  }
  if (kind == "Resubmitted") return Resubmitted{};
  if (kind == "TaskResultLost") return TaskResultLost{};
  if (kind == "UnknownReason") return UnknownReason{fields.text()};
  refuse("unknown kind of end '" + std::string(kind.substr(0, 64)) + "'");
}

// Checks the frame, then hands the fields after the version to read.
template <class Read>
auto decode(std::string_view bytes, const char* what, Read read) {
  try {
    Checker checker;
    size_t checked = 0;
    if (!msgpack::parse(bytes.data(), bytes.size(), checked, checker) || checked != bytes.size()) {
      refuse(std::string(what) + " of " + std::to_string(bytes.size()) +
             " bytes is cut, nested too deeply or no MessagePack");
    }
    thread_local msgpack::zone zone;
    zone.clear();
    size_t offset = 0;
    bool referenced = false;
    const msgpack::object object = msgpack::unpack(zone, bytes.data(), bytes.size(), offset,
                                                   referenced, &refer_always, nullptr);
    Fields fields(object, what);
    const auto version = fields.number<uint32_t>();
    if (version < kVersion) refuse("version " + std::to_string(version));
    return read(fields);
  } catch (const std::exception& error) {
    if (dynamic_cast<const Error*>(&error) != nullptr) throw;
    refuse(std::string(what) + " is malformed: " + error.what());
  }
}

}  // namespace

std::string encode_task_result(const TaskResult& result) {
  StringStream stream;
  stream.bytes.reserve(result.value.size() + 48);
  Packer out(stream);
  out.pack_array(result.missing_value_bytes == 0 ? 5 : 7);
  out.pack_uint32(kVersion);
  pack_bytes(out, result.value);
  if (result.map_status) {
    pack_map_status(out, *result.map_status);
  } else {
    out.pack_nil();
  }
  pack_updates(out, result.accumulators);
  pack_metrics(out, result.metrics);
  if (result.missing_value_bytes != 0) {
    out.pack_uint64(result.missing_value_bytes);
    if (result.stored_at) {
      pack_address(out, *result.stored_at);
    } else {
      out.pack_nil();
    }
  }
  return std::move(stream.bytes);
}

TaskResult decode_task_result(std::string_view bytes) {
  return decode(bytes, "a task result", read_task_result);
}

std::string encode_end_reason(const EndReason& reason) {
  StringStream stream;
  Packer out(stream);
  std::visit(ReasonPacker{out}, reason);
  return std::move(stream.bytes);
}

EndReason decode_end_reason(std::string_view bytes) {
  return decode(bytes, "an end reason", read_end_reason);
}

EndReason decode_end(TaskState state, std::string_view bytes) {
  if (state != TaskState::finished) return decode_end_reason(bytes);
  return Success{std::make_shared<TaskResult>(decode_task_result(bytes))};
}

StatusUpdate decode_status(uint64_t task_id, std::string executor_id, TaskState state,
                           std::string_view bytes) {
  StatusUpdate update{task_id, std::move(executor_id), state, UnknownReason{}};
  try {
    const bool has_data =
        state == TaskState::finished || state == TaskState::failed || state == TaskState::killed;
    if (has_data) update.reason = decode_end(state, bytes);
  } catch (const std::exception& error) {
    update.reason = UnknownReason{error.what()};
  }
  return update;
}

}  // namespace tenon::task
