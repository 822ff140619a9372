// Whether a text is a JSON value.
#pragma once

#include <string>
#include <string_view>

namespace tenon::rdd {

// Why not, in simdjson's words; empty when it is one.
[[nodiscard]] std::string json_fault(std::string_view text);

}  // namespace tenon::rdd
