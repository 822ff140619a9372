// Rows of CSV out of lines, by libcsv.
#pragma once

#include <csv.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/csv.hpp"

namespace tenon::rdd {

// Feeds one file's lines, in order, each with its end. Errors are FatalError (input_output) with
// file, line and column.
class CsvParser {
 public:
  explicit CsvParser(const CsvOptions& options);
  ~CsvParser();
  CsvParser(const CsvParser&) = delete;
  CsvParser& operator=(const CsvParser&) = delete;

  // The lines of another file come next.
  void begin(const std::string& path) { path_ = path; }
  // A line at an offset of the file's text. Rows that end in it are put to rows, each with the
  // offset of the line in which it begins and without its file; blank lines make none.
  void feed(std::string_view line, uint64_t offset, std::vector<CsvRow>& rows);
  // No more lines of this file.
  void end(std::vector<CsvRow>& rows);

 private:
  static void on_field(void* text, size_t size, void* parser) noexcept;
  static void on_row(int end, void* parser) noexcept;
  template <class Call>
  void keep_error(const Call& call) noexcept;
  void check_error();
  [[noreturn]] void fail(uint64_t offset, const std::string& why) const;

  csv_parser parser_{};
  const CsvOptions options_;
  std::string path_;
  std::vector<CsvRow>* rows_ = nullptr;
  CsvRow row_;
  uint64_t line_ = 0;         // offset
  int between_rows_ = 0;      // the parser's state there, as it is at first
  std::exception_ptr error_;  // in a call of libcsv, through which none may go
};

}  // namespace tenon::rdd
