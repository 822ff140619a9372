// The operator of csv_file: rows of the splits of files.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/text.hpp"
#include "rdd/csv_parser.hpp"
#include "rdd/line_number.hpp"
#include "rdd/range_text.hpp"
#include "rdd/text_source.hpp"
#include "tenon/detail/kept.hpp"
#include "tenon/detail/registry.hpp"
#include "tenon/error.hpp"

namespace tenon::rdd {
namespace {

// What the first row of a file says about the others.
struct Head {
  std::shared_ptr<const detail::RecordFile> file;
  size_t width = 0;
  uint64_t offset = 0;
};

Head head_of(const std::string& path, const CsvRow& first, bool names_fields) {
  auto file = std::make_shared<detail::RecordFile>();
  file->path = path;
  for (size_t i = 0; names_fields && i < first.size(); ++i) {
    const std::string_view name = first[i];
    if (std::find(file->names.begin(), file->names.end(), name) != file->names.end()) {
      throw FatalError(ErrorKind::input_output, line_text(path, first.place().offset) +
                                                    ": the header has the name " + quote(name) +
                                                    " twice");
    }
    file->names.emplace_back(name);
  }
  return {std::move(file), first.size(), first.place().offset};
}

class CsvRows final : public detail::Stream<CsvRow> {
 public:
  CsvRows(const CsvOptions& options, std::string_view split, detail::PartitionContext& context)
      : options_(options), parser_(options), texts_(split), context_(context) {}

  std::span<CsvRow> next() override {
    return detail::noting_failure(context_, [this] { return read(); });
  }

 private:
  // A line may make more rows than a batch takes: one with single carriage returns in it.
  std::span<CsvRow> read() {
    while (given_ == rows_.size()) {
      context_.task().throw_if_killed();
      rows_.clear();
      given_ = 0;
      if (texts_.rest.empty()) {
        if (!texts_.next()) break;
        begin_file();
      }
      read_rows();
    }
    const size_t n = std::min(rows_.size() - given_, detail::kBatchSize);
    return {rows_.data() + std::exchange(given_, given_ + n), n};
  }

  void begin_file() {
    parser_.begin(texts_.range().path);
    head_.reset();
    at_header_ = options_.header;
    if (texts_.range().offset != 0) read_head(texts_.range().path);
  }

  // Of a file whose beginning is another split's.
  void read_head(const std::string& path) {
    std::vector<CsvRow> rows;
    for (uint64_t at = 0; rows.empty();) {
      const RangeText line({path, at, 1});
      if (line.text().empty()) return;
      std::string_view rest = at == 0 ? without_mark(line.text()) : line.text();
      cut_lines(rest, 1, [&](std::string_view text) {
        parser_.feed(text, line.offset_of(text.data()), rows);
      });
      at = line.offset_of(line.text().data() + line.text().size());
    }
    head_ = head_of(path, rows.front(), options_.header);
  }

  void read_rows() {
    cut_lines(texts_.rest, detail::kBatchSize, [this](std::string_view line) {
      parser_.feed(line, texts_.offset_of(line.data()), rows_);
    });
    if (texts_.rest.empty()) parser_.end(rows_);
    if (rows_.empty()) return;
    if (!head_) head_ = head_of(texts_.range().path, rows_.front(), options_.header);
    if (std::exchange(at_header_, false) && rows_.front().place().offset == head_->offset) {
      given_ = 1;
    }
    for (size_t i = given_; i < rows_.size(); ++i) {
      rows_[i].set_file(head_->file);
      if (rows_[i].size() != head_->width && !options_.ragged) fail_width(rows_[i]);
    }
  }

  [[noreturn]] void fail_width(const CsvRow& row) const {
    throw FatalError(
        ErrorKind::input_output,
        detail::place_text(row.place()) + ": the row has " + std::to_string(row.size()) +
            (row.size() == 1 ? " field, not " : " fields, not ") + std::to_string(head_->width) +
            (options_.header ? " as the header" : " as the first row of the file") +
            "; read rows of different lengths with CsvOptions::ragged");
  }

  const CsvOptions options_;
  CsvParser parser_;
  SplitTexts texts_;
  detail::PartitionContext& context_;
  std::optional<Head> head_;
  bool at_header_ = false;  // the next row may be it
  std::vector<CsvRow> rows_;
  size_t given_ = 0;  // of them
};

class CsvOperator final : public detail::RddOperator {
 public:
  explicit CsvOperator(std::string_view bytes) : options_(decode<CsvOptions>(bytes)) {}
  detail::StreamPtr open(detail::PartitionContext& context, int32_t partition) const override {
    return std::make_unique<CsvRows>(options_, context.data(partition), context);
  }

 private:
  CsvOptions options_;
};

}  // namespace

detail::Operator csv_operator(const CsvOptions& options) {
  return detail::operator_of<CsvOperator>(encode(options));
}

}  // namespace tenon::rdd
