#include "rdd/line_number.hpp"

#include <algorithm>
#include <memory>

#include "rdd/compressed_file.hpp"
#include "rdd/file_reader.hpp"
#include "tenon/error.hpp"

namespace tenon::rdd {
namespace {

uint64_t lines_in(const char* text, size_t size) {
  return static_cast<uint64_t>(std::count(text, text + size, '\n'));
}

uint64_t lines_before(const std::string& path, uint64_t offset) {
  if (is_compressed(path)) {
    const std::string text = read_compressed(path);
    return lines_in(text.data(), static_cast<size_t>(std::min<uint64_t>(offset, text.size())));
  }
  constexpr size_t kChunk = size_t{1} << 20;
  const FileReader file(path);
  const std::unique_ptr<char[]> buffer(new char[kChunk]);
  uint64_t lines = 0;
  for (uint64_t at = 0; at < offset;) {
    const size_t n =
        file.read(buffer.get(), static_cast<size_t>(std::min<uint64_t>(kChunk, offset - at)), at);
    if (n == 0) break;
    lines += lines_in(buffer.get(), n);
    at += n;
  }
  return lines;
}

}  // namespace

std::string line_text(const std::string& path, uint64_t offset) {
  try {
    return "input file " + path + ", line " + std::to_string(lines_before(path, offset) + 1);
  } catch (const Error&) {
    return "input file " + path + ", at byte " + std::to_string(offset);
  }
}

}  // namespace tenon::rdd
