// The operator of json_lines: the JSON values of the lines of splits.
#include <memory>
#include <string>
#include <string_view>

#include "rdd/json_parse.hpp"
#include "rdd/line_number.hpp"
#include "rdd/range_text.hpp"
#include "rdd/text_source.hpp"
#include "tenon/detail/kept.hpp"
#include "tenon/detail/registry.hpp"
#include "tenon/error.hpp"
#include "tenon/json.hpp"

namespace tenon::rdd {
namespace {

class JsonLines final : public detail::Stream<JsonRecord> {
 public:
  JsonLines(std::string_view split, detail::PartitionContext& context)
      : texts_(split), context_(context) {}

  std::span<JsonRecord> next() override {
    return detail::noting_failure(context_, [this] { return read(); });
  }

 private:
  std::span<JsonRecord> read() {
    context_.task().throw_if_killed();
    batch_.clear();
    while (!batch_.full()) {
      if (texts_.rest.empty()) {
        if (!texts_.next()) break;
        file_ =
            std::make_shared<const detail::RecordFile>(detail::RecordFile{texts_.range().path, {}});
      }
      cut_lines(texts_.rest, detail::kBatchSize - batch_.size(),
                [this](std::string_view line) { add(without_end(line)); });
    }
    return batch_.span();
  }

  void add(std::string_view line) {
    if (line.find_first_not_of(" \t\r") == line.npos) return;
    const uint64_t offset = texts_.offset_of(line.data());
    const std::string fault = json_fault(line);
    if (!fault.empty()) {
      throw FatalError(ErrorKind::input_output,
                       line_text(file_->path, offset) + " is no JSON value: " + fault);
    }
    batch_.emplace(std::string(line), detail::RecordPlace{file_, offset});
  }

  SplitTexts texts_;
  detail::PartitionContext& context_;
  std::shared_ptr<const detail::RecordFile> file_;
  detail::Batch<JsonRecord> batch_;
};

class JsonOperator final : public detail::RddOperator {
 public:
  explicit JsonOperator(std::string_view) {}
  detail::StreamPtr open(detail::PartitionContext& context, int32_t partition) const override {
    return std::make_unique<JsonLines>(context.data(partition), context);
  }
};

}  // namespace

detail::Operator json_operator() { return detail::operator_of<JsonOperator>(); }

}  // namespace tenon::rdd
