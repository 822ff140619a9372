/// @file record_file.hpp
/// Where a record of a file stands, for errors about it. Not for programs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tenon/detail/bytes.hpp"
#include "tenon/export.hpp"

namespace tenon::detail {

/// What the records of one file share.
struct RecordFile {
  std::string path;                ///< empty: made by the program
  std::vector<std::string> names;  ///< of the fields; empty: it has none
  friend bool operator==(const RecordFile&, const RecordFile&) = default;
};

struct RecordPlace {
  std::shared_ptr<const RecordFile> file;  ///< nullptr: made by the program
  uint64_t offset = 0;                     ///< in the file's text
};

/// "input file PATH, line 7"; counts the lines of the file, and says the offset where that cannot
/// be read. "a record" without a file.
TENON_API std::string place_text(const RecordPlace& place);

TENON_API void write_place(ByteWriter& out, const RecordPlace& place);
/// Records that follow each other share their RecordFile.
TENON_API RecordPlace read_place(ByteReader& in);

}  // namespace tenon::detail
