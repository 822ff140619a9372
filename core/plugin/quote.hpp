// How text that came from outside stands in a message.
#pragma once

#include <string>
#include <string_view>

#include "common/text.hpp"

namespace tenon::host {

using tenon::quote;

// The first lines of a text whose size nobody vouches for.
std::string first_lines(std::string_view text, size_t lines, size_t characters);

}  // namespace tenon::host
