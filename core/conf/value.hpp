// The forms that the value of a setting may have. Nothing: the text has another form. Blanks around
// a value are ignored.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::conf {

// "true" or "false", in any case.
std::optional<bool> parse_bool(std::string_view text);

// A whole number in decimal; nothing when it does not fit.
std::optional<int64_t> parse_int(std::string_view text);

// A finite number: "0.8", "1e3".
std::optional<double> parse_double(std::string_view text);

// Bytes: "512m", "1.5g", "64kb", in units of 1024 (b, k, m, g, t, p, each also as kb or kib, in any
// case). bare_unit is the unit of a number without one; empty: only 0 may stand without a unit.
std::optional<uint64_t> parse_size(std::string_view text, std::string_view bare_unit = "");

// "10s", "100ms", "1.5h" (ns, us, ms, s, m or min, h, d). bare_unit as for a size. Never negative.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text,
                                                       std::string_view bare_unit = "");

// "a, b,c": the parts without blanks around them; empty parts are left out.
std::vector<std::string> parse_list(std::string_view text);

}  // namespace tenon::conf
