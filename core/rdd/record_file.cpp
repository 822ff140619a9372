// Where records of CSV and JSON files stand.
#include "tenon/detail/record_file.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "rdd/line_number.hpp"
#include "tenon/codec.hpp"
#include "tenon/error.hpp"

namespace tenon::detail {

std::string place_text(const RecordPlace& place) {
  if (!place.file || place.file->path.empty()) return "a record";
  return rdd::line_text(place.file->path, place.offset);
}

void write_place(ByteWriter& out, const RecordPlace& place) {
  static const RecordFile kNone;
  const RecordFile& file = place.file ? *place.file : kNone;
  out.text(file.path);
  Codec<std::vector<std::string>>::write(out, file.names);
  out.size(place.offset);
}

RecordPlace read_place(ByteReader& in) {
  RecordFile read;
  read.path = in.text();
  read.names = Codec<std::vector<std::string>>::read(in);
  thread_local std::weak_ptr<const RecordFile> last;
  RecordPlace place{last.lock(), in.size()};
  if (!place.file || *place.file != read) {
    place.file = std::make_shared<const RecordFile>(std::move(read));
    last = place.file;
  }
  return place;
}

}  // namespace tenon::detail
