// The text of a stretch of a file, and how it is cut into lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rdd/file_reader.hpp"
#include "rdd/input_files.hpp"

namespace tenon::rdd {

// The lines that begin in a stretch of a file, as one piece of memory; of a compressed file all.
class RangeText {
 public:
  // Throws tenon::Error (input_output) naming the file.
  explicit RangeText(const FileRange& range);
  RangeText(const RangeText&) = delete;
  RangeText& operator=(const RangeText&) = delete;

  [[nodiscard]] std::string_view text() const { return text_; }
  // Where a piece of it stands in the file, that is in its text when it is compressed.
  [[nodiscard]] uint64_t offset_of(const char* at) const {
    return offset_ + static_cast<uint64_t>(at - text_.data());
  }

 private:
  void read_to_line_end(const FileReader& file, uint64_t offset);

  std::unique_ptr<char[]> buffer_;
  size_t size_ = 0;
  std::string whole_;
  std::string_view text_;
  uint64_t offset_ = 0;
};

// The texts of a split's stretches, one at a time. The mark that a file in UTF-8 may begin with is
// no part of them.
class SplitTexts {
 public:
  explicit SplitTexts(std::string_view split) : ranges_(decode_split(split)) {}

  // To the next one that is not empty. False: there is none.
  bool next();
  // Of the one that it is at.
  [[nodiscard]] const FileRange& range() const { return ranges_[at_ - 1]; }
  [[nodiscard]] uint64_t offset_of(const char* at) const { return text_->offset_of(at); }
  std::string_view rest;  // of its text, for cut_lines()

 private:
  const std::vector<FileRange> ranges_;
  size_t at_ = 0;
  std::unique_ptr<RangeText> text_;
};

// Takes up to n lines from the front of rest and calls add for each, its end included.
template <class Add>
void cut_lines(std::string_view& rest, size_t n, const Add& add) {
  std::string_view left = rest;
  for (; n != 0 && !left.empty(); --n) {
    const void* newline = std::memchr(left.data(), '\n', left.size());
    const size_t length =
        newline == nullptr
            ? left.size()
            : static_cast<size_t>(static_cast<const char*>(newline) - left.data()) + 1;
    add(left.substr(0, length));
    left.remove_prefix(length);
  }
  rest = left;
}

// Without its \n or \r\n.
inline std::string_view without_end(std::string_view line) {
  if (line.ends_with('\n')) {
    line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
  }
  return line;
}

// Without the mark that a file in UTF-8 may begin with.
inline std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace tenon::rdd
