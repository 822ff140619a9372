// Input files that are compressed: told by their names, read as a whole.
#pragma once

#include <string>
#include <string_view>

namespace tenon::rdd {

// The name ends in .gz, .zst or .lz4.
[[nodiscard]] bool is_compressed(std::string_view path);

// The whole text of such a file: all members or frames of it, one after another. Throws
// tenon::Error (input_output) naming the file when it cannot be read, is cut short or is damaged.
[[nodiscard]] std::string read_compressed(const std::string& path);

}  // namespace tenon::rdd
