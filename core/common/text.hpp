// Small helpers for text that people read and write.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

// Single-character insertions, deletions, replacements and swaps of neighbours that turn `a` into
// `b`. Case counts.
size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that a person most likely meant by `name`: the smallest edit distance (case ignored
// first), the first of equals. Nothing when even the nearest differs by more than a third of the
// name (at least 2 edits are always near enough for a name of 4 characters and more). Linear in the
// number of candidates. Any thread.
std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates);

// `text` without blanks and tabs at both ends.
std::string_view trim(std::string_view text);

// ASCII letters only.
std::string to_lower(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);

// "a, b, c".
std::string join(std::span<const std::string> parts, std::string_view separator);

// How text that came from outside stands in a message: 'text', with control characters as \xNN and
// a long one cut. One line, whatever it holds.
std::string quote(std::string_view text);

// The text as the inside of a JSON string; bytes that are not UTF-8 become U+FFFD.
std::string json_escaped(std::string_view text);

}  // namespace tenon
