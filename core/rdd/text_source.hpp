// The operators of text_file and its kin. Their partitions' data are splits (rdd/input_files.hpp).
#pragma once

#include <cstdint>

#include "tenon/csv.hpp"
#include "tenon/detail/operator.hpp"

namespace tenon::rdd {

// views: records are std::string_view into the split, else std::string.
[[nodiscard]] detail::Operator text_operator(bool views);
// Records are (offset in the file, line).
[[nodiscard]] detail::Operator lines_with_offsets_operator();
// Records are (path, text of the file).
[[nodiscard]] detail::Operator whole_files_operator();
// Records are CsvRow.
[[nodiscard]] detail::Operator csv_operator(const CsvOptions& options);
// Records are JsonRecord.
[[nodiscard]] detail::Operator json_operator();

// The largest split: large enough to make a task worth its start, small enough for many to be in
// memory.
inline constexpr uint64_t kMaxSplitBytes = uint64_t{32} << 20;

}  // namespace tenon::rdd
