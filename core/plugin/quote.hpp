// How text that came from outside stands in a message.
#pragma once

#include <string>
#include <string_view>

namespace tenon::host {

// 'text', with control characters as \xNN and a long one cut: one line, whatever it holds.
std::string quote(std::string_view text);

// The first lines of a text whose size nobody vouches for.
std::string first_lines(std::string_view text, size_t lines, size_t characters);

}  // namespace tenon::host
