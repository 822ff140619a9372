// The operators of text_file and its kin: lines of the splits of files, or the files themselves.
#include "rdd/text_source.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rdd/compressed_file.hpp"
#include "rdd/file_reader.hpp"
#include "rdd/input_files.hpp"
#include "tenon/detail/kept.hpp"
#include "tenon/detail/registry.hpp"
#include "tenon/error.hpp"

namespace tenon::rdd {
namespace {

using WholeFile = std::pair<std::string, std::string>;

// The lines that begin in a stretch of a file, as one piece of memory; of a compressed file all.
class RangeText {
 public:
  explicit RangeText(const FileRange& range) {
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

  [[nodiscard]] std::string_view text() const { return text_; }
  // Where a piece of it stands in the file, that is in its text when it is compressed.
  [[nodiscard]] uint64_t offset_of(const char* at) const {
    return offset_ + static_cast<uint64_t>(at - text_.data());
  }

 private:
  void read_to_line_end(const FileReader& file, uint64_t offset) {
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

  std::unique_ptr<char[]> buffer_;
  size_t size_ = 0;
  std::string whole_;
  std::string_view text_;
  uint64_t offset_ = 0;
};

// Keeps the text of the whole split until the task ends: views into it may be held that long.
template <class T>
class Lines final : public detail::Stream<T> {
 public:
  Lines(std::string_view split, detail::PartitionContext& context)
      : ranges_(decode_split(split)), context_(context) {}

  std::span<T> next() override {
    return detail::noting_failure(context_, [this] { return read(); });
  }

 private:
  std::span<T> read() {
    context_.task().throw_if_killed();
    batch_.clear();
    while (!batch_.full()) {
      if (rest_.empty() && !open_next()) break;
      cut_lines();
    }
    return batch_.span();
  }
  bool open_next() {
    while (at_ < ranges_.size()) {
      texts_.push_back(std::make_unique<RangeText>(ranges_[at_++]));
      rest_ = texts_.back()->text();
      if (!rest_.empty()) return true;
    }
    return false;
  }
  void cut_lines() {
    std::string_view rest = rest_;
    while (!rest.empty() && !batch_.full()) {
      const void* newline = std::memchr(rest.data(), '\n', rest.size());
      if (newline == nullptr) {
        add(rest);
        rest = {};
        break;
      }
      const auto length = static_cast<size_t>(static_cast<const char*>(newline) - rest.data());
      const size_t cr = length != 0 && rest[length - 1] == '\r' ? 1 : 0;
      add(rest.substr(0, length - cr));
      rest.remove_prefix(length + 1);
    }
    rest_ = rest;
  }

  void add(std::string_view line) {
    if constexpr (std::is_constructible_v<T, std::string_view>) {
      batch_.emplace(line);
    } else {
      batch_.emplace(texts_.back()->offset_of(line.data()), std::string(line));
    }
  }

  std::vector<FileRange> ranges_;
  detail::PartitionContext& context_;
  size_t at_ = 0;
  std::vector<std::unique_ptr<RangeText>> texts_;
  std::string_view rest_;
  detail::Batch<T> batch_;
};

// (path, text) of each file.
class WholeFiles final : public detail::Stream<WholeFile> {
 public:
  WholeFiles(std::string_view split, detail::PartitionContext& context)
      : ranges_(decode_split(split)), context_(context) {}

  std::span<WholeFile> next() override {
    return detail::noting_failure(context_, [this] { return read(); });
  }

 private:
  // One at a time: they may be large.
  std::span<WholeFile> read() {
    context_.task().throw_if_killed();
    if (at_ == ranges_.size()) return {};
    const FileRange& range = ranges_[at_++];
    file_.first = range.path;
    if (is_compressed(range.path)) {
      file_.second = read_compressed(range.path);
    } else {
      file_.second.resize(static_cast<size_t>(range.length));
      file_.second.resize(FileReader(range.path).read(file_.second.data(), file_.second.size(), 0));
    }
    return {&file_, 1};
  }

  std::vector<FileRange> ranges_;
  detail::PartitionContext& context_;
  size_t at_ = 0;
  WholeFile file_;
};

template <class T, class Source>
class FileOperator final : public detail::TypedOperator<T> {
 public:
  explicit FileOperator(std::string_view) {}
  detail::StreamPtr open(detail::PartitionContext& context, int32_t partition) const override {
    return std::make_unique<Source>(context.data(partition), context);
  }
};
template <class T>
using LinesOperator = FileOperator<T, Lines<T>>;

}  // namespace

detail::Operator text_operator(bool views) {
  return views ? detail::operator_of<LinesOperator<std::string_view>>()
               : detail::operator_of<LinesOperator<std::string>>();
}

detail::Operator lines_with_offsets_operator() {
  return detail::operator_of<LinesOperator<std::pair<uint64_t, std::string>>>();
}

detail::Operator whole_files_operator() {
  return detail::operator_of<FileOperator<WholeFile, WholeFiles>>();
}

}  // namespace tenon::rdd
