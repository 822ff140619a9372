// The operator of text_file: lines of the splits of files.
#include "rdd/text_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rdd/input_files.hpp"
#include "tenon/detail/kept.hpp"
#include "tenon/detail/registry.hpp"
#include "tenon/error.hpp"

namespace tenon::rdd {
namespace {

using detail::kBatchSize;

class File {
 public:
  explicit File(const std::string& path)
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail("cannot be opened");
  }
  ~File() { ::close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Fewer bytes than asked for only at the end of the file.
  size_t read(char* to, size_t size, uint64_t offset) const {
    size_t done = 0;
    while (done < size) {
      const ssize_t n = ::pread(fd_, to + done, size - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("cannot be read");
      if (n == 0) break;
      done += static_cast<size_t>(n);
    }
    return done;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw Error(ErrorKind::input_output,
                "input file " + path_ + " " + what + ": " + std::strerror(errno));
  }
  std::string path_;
  int fd_;
};

// The lines that begin in a stretch of a file, as one piece of memory.
class RangeText {
 public:
  explicit RangeText(const FileRange& range) {
    File file(range.path);
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
  }

  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  void read_to_line_end(const File& file, uint64_t offset) {
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
  std::string_view text_;
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
        batch_.emplace(rest);
        rest = {};
        break;
      }
      const auto length = static_cast<size_t>(static_cast<const char*>(newline) - rest.data());
      const size_t cr = length != 0 && rest[length - 1] == '\r' ? 1 : 0;
      batch_.emplace(rest.substr(0, length - cr));
      rest.remove_prefix(length + 1);
    }
    rest_ = rest;
  }

  std::vector<FileRange> ranges_;
  detail::PartitionContext& context_;
  size_t at_ = 0;
  std::vector<std::unique_ptr<RangeText>> texts_;
  std::string_view rest_;
  detail::Batch<T> batch_;
};

template <class T>
class TextOperator final : public detail::TypedOperator<T> {
 public:
  explicit TextOperator(std::string_view) {}
  detail::StreamPtr open(detail::PartitionContext& context, int32_t partition) const override {
    return std::make_unique<Lines<T>>(context.data(partition), context);
  }
};

}  // namespace

detail::Operator text_operator(bool views) {
  return views ? detail::operator_of<TextOperator<std::string_view>>()
               : detail::operator_of<TextOperator<std::string>>();
}

}  // namespace tenon::rdd
