#include "rdd/csv_parser.hpp"

#include <new>
#include <string>
#include <utility>

#include "rdd/line_number.hpp"
#include "tenon/error.hpp"

namespace tenon::rdd {
namespace {

int never_space(unsigned char) { return 0; }

}  // namespace

CsvParser::CsvParser(const CsvOptions& options) : options_(options) {
  if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
  between_rows_ = parser_.pstate;
  csv_set_delim(&parser_, static_cast<unsigned char>(options.delimiter));
  csv_set_quote(&parser_, static_cast<unsigned char>(options.quote));
  csv_set_space_func(&parser_, &never_space);
}

CsvParser::~CsvParser() { csv_free(&parser_); }

// What libcsv calls; no exception may go through it.
void CsvParser::on_field(void* text, size_t size, void* parser) noexcept {
  auto& self = *static_cast<CsvParser*>(parser);
  self.keep_error([&] { self.row_.add_field({static_cast<const char*>(text), size}); });
}

void CsvParser::on_row(int, void* parser) noexcept {
  auto& self = *static_cast<CsvParser*>(parser);
  self.keep_error([&] { self.rows_->push_back(std::move(self.row_)); });
  self.row_ = CsvRow({nullptr, self.line_});
}

template <class Call>
void CsvParser::keep_error(const Call& call) noexcept {
  if (error_) return;
  try {
    call();
  } catch (...) {
    error_ = std::current_exception();
  }
}

void CsvParser::check_error() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void CsvParser::feed(std::string_view line, uint64_t offset, std::vector<CsvRow>& rows) {
  rows_ = &rows;
  line_ = offset;
  if (parser_.pstate == between_rows_) row_ = CsvRow({nullptr, offset});
  const size_t parsed = csv_parse(&parser_, line.data(), line.size(), &on_field, &on_row, this);
  check_error();
  if (parsed != line.size()) {
    if (csv_error(&parser_) == CSV_ENOMEM) throw std::bad_alloc();
    fail(offset, ", column " + std::to_string(parsed + 1) +
                     ": a quote within a field that does not begin with one, or text behind the "
                     "quote that ends a field (libcsv: " +
                     csv_strerror(csv_error(&parser_)) + ")");
  }
  if (!options_.multi_line) end(rows);
}

void CsvParser::end(std::vector<CsvRow>& rows) {
  rows_ = &rows;
  const bool open = csv_fini(&parser_, &on_field, &on_row, this) != 0;
  check_error();
  if (!open) return;
  if (csv_error(&parser_) == CSV_ENOMEM) throw std::bad_alloc();
  fail(row_.place().offset,
       options_.multi_line
           ? ": a quoted field of the row that begins there has no end"
           : ": a quoted field has no end on its line; where fields hold line ends, "
             "read with CsvOptions::multi_line");
}

void CsvParser::fail(uint64_t offset, const std::string& why) const {
  throw FatalError(ErrorKind::input_output, line_text(path_, offset) + why);
}

}  // namespace tenon::rdd
