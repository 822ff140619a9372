// Files of encoded records that say what they hold: object files and checkpoints.
//
//   "TENONOBJ", version (4 bytes), length of the type's text (4 bytes), the text
//   frames of records (tenon/detail/encoded_records.hpp)
//   "TENONEND", checksum over all before it (storage/checked_file.hpp)
//
// Numbers are little-endian.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tenon/detail/runtime.hpp"

namespace tenon::storage {

// type: of the records, by detail::type_text(). The file is there at once and whole, or not at
// all. Throws FileError, and what fill throws.
void write_object_file(const std::string& path, const std::string& type,
                       const std::function<void(const detail::ByteSink&)>& fill);

// The records of a file that was written with this type. Throws FileError when it is missing,
// unreadable or damaged, and FatalError (input_output) when it is cut short, no such file, of a
// later version, or of another type; each names the file.
[[nodiscard]] std::shared_ptr<const detail::EncodedPartition> read_object_file(
    const std::string& path, const std::string& type);

}  // namespace tenon::storage
