// Which line of an input file a byte belongs to, for errors.
#pragma once

#include <cstdint>
#include <string>

namespace tenon::rdd {

// "input file PATH, line 7": the line, from 1 up, that has the byte at this offset of the file's
// text. Reads the file up to there; where it cannot be read, "input file PATH, at byte 1234".
[[nodiscard]] std::string line_text(const std::string& path, uint64_t offset);

}  // namespace tenon::rdd
