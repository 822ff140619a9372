// Context's input files.
#include <utility>

#include "rdd/input_files.hpp"
#include "rdd/text_source.hpp"
#include "tenon/context.hpp"
#include "tenon/detail/binary.hpp"
#include "tenon/detail/driver.hpp"

namespace tenon {

using detail::FileRecords;

rdd::NodePtr Context::add_text(const char* operation, std::vector<std::string> paths,
                               bool comma_lists, int32_t min_partitions, CallSite site,
                               FileRecords records) {
  detail::FileSource source{operation, std::move(paths)};
  source.comma_lists = comma_lists;
  source.min_partitions = min_partitions;
  source.op = detail::file_operator(records);
  if (records == FileRecords::whole_files) {
    source.record_bytes = 0;
    source.keep_empty = true;
  }
  return detail::add_files(*driver_, std::move(source), std::move(site));
}

rdd::NodePtr Context::add_records(const std::string& paths, uint64_t record_bytes,
                                  int32_t min_partitions, CallSite site, detail::Operator op) {
  detail::FileSource source{"binary_records", {paths}};
  source.min_partitions = min_partitions;
  source.op = std::move(op);
  source.record_bytes = record_bytes;
  return detail::add_files(*driver_, std::move(source), std::move(site));
}

rdd::NodePtr Context::add_parsed(const char* operation, const std::string& paths, bool cut,
                                 int32_t min_partitions, Location location, detail::Operator op) {
  detail::FileSource source{operation, {paths}};
  source.min_partitions = min_partitions;
  source.op = std::move(op);
  source.record_bytes = cut ? 1 : 0;
  return detail::add_files(*driver_, std::move(source), detail::call_site(operation, location));
}

rdd::NodePtr Context::add_object_files(const std::string& paths, CallSite site,
                                       detail::Operator op) {
  rdd::NodeSpec spec;
  spec.name = paths;
  spec.call_site = std::move(site);
  spec.op = std::move(op);
  spec.partitions = [paths] {
    rdd::Partitions partitions;
    for (rdd::InputFile& file : rdd::list_saved_files(paths)) {
      partitions.push_back({std::move(file.path), {}});
    }
    return partitions;
  };
  return detail::add_node(*driver_, std::move(spec));
}

Rdd<std::pair<uint64_t, std::string>> Context::text_file_with_offsets(const std::string& paths,
                                                                      int32_t min_partitions,
                                                                      Location location) {
  return {driver_, add_text("text_file_with_offsets", {paths}, true, min_partitions,
                            detail::call_site("text_file_with_offsets", location),
                            FileRecords::lines_with_offsets)};
}

Rdd<std::pair<std::string, std::string>> Context::whole_text_files(const std::string& paths,
                                                                   int32_t min_partitions,
                                                                   Location location) {
  return {driver_,
          add_text("whole_text_files", {paths}, true, min_partitions,
                   detail::call_site("whole_text_files", location), FileRecords::whole_files)};
}

Rdd<CsvRow> Context::csv_file(const std::string& paths, const CsvOptions& options,
                              int32_t min_partitions, Location location) {
  if (options.delimiter == options.quote) {
    detail::throw_bad_argument("csv_file", "the delimiter and the quote must differ");
  }
  for (const char c : {options.delimiter, options.quote}) {
    if (c == '\n' || c == '\r') {
      detail::throw_bad_argument("csv_file", "a line end cannot be the delimiter or the quote");
    }
  }
  return {driver_, add_parsed("csv_file", paths, !options.multi_line, min_partitions, location,
                              rdd::csv_operator(options))};
}

Rdd<JsonRecord> Context::json_lines(const std::string& paths, int32_t min_partitions,
                                    Location location) {
  return {driver_,
          add_parsed("json_lines", paths, true, min_partitions, location, rdd::json_operator())};
}

Rdd<std::string> Context::binary_records(const std::string& paths, uint64_t record_bytes,
                                         int32_t min_partitions, Location location) {
  if (record_bytes == 0) {
    detail::throw_bad_argument("binary_records", "the size of a record must be above 0");
  }
  return {driver_, add_records(paths, record_bytes, min_partitions,
                               detail::call_site("binary_records", location),
                               detail::operator_of<detail::BinaryOperator<std::string>>(
                                   encode<uint64_t>(record_bytes)))};
}

}  // namespace tenon
