// The operators of text_file and its kin: lines of the splits of files, or the files themselves.
#include "rdd/text_source.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rdd/compressed_file.hpp"
#include "rdd/file_reader.hpp"
#include "rdd/input_files.hpp"
#include "rdd/range_text.hpp"
#include "tenon/detail/kept.hpp"
#include "tenon/detail/registry.hpp"
#include "tenon/error.hpp"

namespace tenon::rdd {
namespace {

using WholeFile = std::pair<std::string, std::string>;

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
      cut_lines(rest_, detail::kBatchSize - batch_.size(),
                [this](std::string_view line) { add(without_end(line)); });
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
class FileOperator final : public detail::RddOperator {
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
