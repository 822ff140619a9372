#include "rdd/range_text.hpp"

#include <algorithm>
#include <utility>

#include "rdd/compressed_file.hpp"
#include "rdd/file_reader.hpp"

namespace tenon::rdd {

RangeText::RangeText(const FileRange& range) {
  if (is_compressed(range.path)) {
    whole_ = read_compressed(range.path);
    text_ = whole_;
    return;
  }
  const FileReader file(range.path);
  // From the byte before, to see whether a line begins at the first one; to the end of the last
  // line.
  const uint64_t from = range.offset == 0 ? 0 : range.offset - 1;
  const uint64_t end = range.offset + range.length;
  size_ = static_cast<size_t>(end - from);
  buffer_.reset(new char[size_]);
  size_ = file.read(buffer_.get(), size_, from);
  size_t first = 0;
  if (range.offset != 0) {
    const void* newline = std::memchr(buffer_.get(), '\n', size_);
    if (newline == nullptr) {
      size_ = 0;
      return;
    }
    first = static_cast<size_t>(static_cast<const char*>(newline) - buffer_.get()) + 1;
  }
  if (first < size_ && buffer_[size_ - 1] != '\n') read_to_line_end(file, from + size_);
  text_ = std::string_view(buffer_.get(), size_).substr(std::min(first, size_));
  offset_ = from + first;
}

void RangeText::read_to_line_end(const FileReader& file, uint64_t offset) {
  size_t step = size_t{64} << 10;
  for (;;) {
    std::unique_ptr<char[]> larger(new char[size_ + step]);
    std::memcpy(larger.get(), buffer_.get(), size_);
    const size_t got = file.read(larger.get() + size_, step, offset);
    buffer_ = std::move(larger);
    if (const void* newline = std::memchr(buffer_.get() + size_, '\n', got)) {
      size_ = static_cast<size_t>(static_cast<const char*>(newline) - buffer_.get()) + 1;
      return;
    }
    size_ += got;
    if (got < step) return;
    offset += got;
    step = std::max(step, size_);  // a very long line: double
  }
}

bool SplitTexts::next() {
  while (at_ < ranges_.size()) {
    const FileRange& range = ranges_[at_++];
    text_ = std::make_unique<RangeText>(range);
    rest = range.offset == 0 ? without_mark(text_->text()) : text_->text();
    if (!rest.empty()) return true;
  }
  return false;
}

}  // namespace tenon::rdd
