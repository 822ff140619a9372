// Files of encoded records with a checksum at their end: blocks on disk and checkpoints.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tenon/detail/runtime.hpp"
#include "tenon/error.hpp"

namespace tenon::storage {

// A file that cannot be written or read, or is damaged; names it. Kind input_output.
class FileError final : public Error {
 public:
  explicit FileError(std::string message) : Error(ErrorKind::input_output, std::move(message)) {}
};

// Writes what `fill` gives to the sink; the file is there at once and whole, or not at all. Throws
// FileError, and what fill throws. Returns the bytes of the file.
uint64_t write_checked_file(const std::string& path,
                            const std::function<void(const detail::ByteSink&)>& fill);

// The bytes in a mapping of the file, their checksum verified. Throws FileError: missing,
// unreadable, or damaged. look sees them before they are verified and may throw.
[[nodiscard]] std::shared_ptr<const detail::EncodedPartition> read_checked_file(
    const std::string& path, const std::function<void(std::string_view bytes)>& look = {});

}  // namespace tenon::storage
