#include "common/msgpack_fields.hpp"
#include "dag/map_output_tracker.hpp"

namespace tenon::dag {

namespace {

using packed::Fields;
using packed::pack_text;
using packed::refuse;

// Layout: a header array; for each map nil, or an array of location, map id and sizes.
constexpr uint32_t kVersion = 1;
constexpr const char* kWhat = "the outputs of a shuffle";

struct Header {
  MapOutputs outputs;
  size_t maps = 0;
  std::vector<task::BlockManagerId> locations;
};

Header read_header(Fields fields) {
  if (const auto version = fields.number<uint32_t>(); version != kVersion) {
    refuse(kWhat, "unknown version " + std::to_string(version));
  }
  Header header;
  header.outputs.shuffle_id = fields.ordinal();
  header.outputs.epoch = fields.number<uint64_t>();
  header.maps = fields.number<uint32_t>();
  header.outputs.reduces = fields.ordinal();
  Fields locations(fields.next(), "the locations");
  header.locations.reserve(locations.left());
  while (locations.left() > 0) {
    Fields location(locations.next(), "a location");
    task::BlockManagerId& id = header.locations.emplace_back();
    id.executor_id = location.text();
    id.host = location.text();
    id.endpoint = location.text();
  }
  return header;
}

task::MapStatus read_status(Fields fields, const Header& header) {
  task::MapStatus status;
  const auto location = fields.number<uint32_t>();
  if (location >= header.locations.size()) refuse(kWhat, "a location is out of range");
  status.location = header.locations[location];
  status.map_id = fields.number<uint64_t>();
  Fields sizes(fields.next(), "the sizes of a map");
  if (sizes.left() != static_cast<size_t>(header.outputs.reduces)) {
    refuse(kWhat, "a map has another number of sizes than there are reduces");
  }
  status.sizes.reserve(sizes.left());
  while (sizes.left() > 0) status.sizes.push_back(sizes.number<uint64_t>());
  return status;
}

}  // namespace

std::string MapOutputTracker::encode(int32_t shuffle_id, const Shuffle& shuffle) const {
  std::string bytes;
  packed::StringStream stream{bytes};
  packed::Packer out(stream);
  out.pack_array(6);
  out.pack_uint32(kVersion);
  out.pack_int32(shuffle_id);
  out.pack_uint64(epoch_);
  out.pack_uint32(static_cast<uint32_t>(shuffle.outputs.size()));
  out.pack_int32(shuffle.reduces);
  out.pack_array(static_cast<uint32_t>(locations_.size()));
  for (const task::BlockManagerId& location : locations_) {
    out.pack_array(3);
    pack_text(out, location.executor_id);
    pack_text(out, location.host);
    pack_text(out, location.endpoint);
  }
  const auto reduces = static_cast<size_t>(shuffle.reduces);
  for (size_t map = 0; map < shuffle.outputs.size(); ++map) {
    const Output& output = shuffle.outputs[map];
    if (output.location < 0) {
      out.pack_nil();
      continue;
    }
    out.pack_array(3);
    out.pack_int32(output.location);
    out.pack_uint64(output.map_id);
    out.pack_array(static_cast<uint32_t>(reduces));
    for (size_t reduce = 0; reduce < reduces; ++reduce) {
      out.pack_uint64(shuffle.sizes[map * reduces + reduce]);
    }
  }
  return bytes;
}

MapOutputs decode_map_outputs(std::string_view bytes) {
  return packed::Reader::guard(kWhat, [bytes] {
    packed::Reader reader(bytes, kWhat);
    Header header = read_header(Fields(reader.next(), kWhat));
    if (header.maps > reader.left()) refuse(kWhat, "more maps than bytes");
    header.outputs.statuses.resize(header.maps);
    for (std::optional<task::MapStatus>& status : header.outputs.statuses) {
      const msgpack::object& object = reader.next();
      if (object.type != msgpack::type::NIL) status = read_status(Fields(object, "a map"), header);
    }
    reader.expect_end();
    return std::move(header.outputs);
  });
}

}  // namespace tenon::dag
