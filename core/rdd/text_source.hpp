// The operator of text_file. Its partitions' data are splits (rdd/input_files.hpp).
#pragma once

#include <cstdint>

#include "tenon/detail/operator.hpp"

namespace tenon::rdd {

// views: records are std::string_view into the split, else std::string.
[[nodiscard]] detail::Operator text_operator(bool views);

// The largest split: large enough to make a task worth its start, small enough for many to be in
// memory.
inline constexpr uint64_t kMaxSplitBytes = uint64_t{32} << 20;

}  // namespace tenon::rdd
