#include "plugin/quote.hpp"

#include <algorithm>

namespace tenon::host {

std::string quote(std::string_view text) {
  constexpr size_t kLongest = 200;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out.append("\\x").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    } else {
      out += c;
    }
  }
  if (text.size() > kLongest) out += "...";
  return out + "'";
}

std::string first_lines(std::string_view text, size_t lines, size_t characters) {
  std::string out(text.substr(0, characters));
  size_t end = 0;
  for (size_t line = 0; line < lines && end != std::string::npos; ++line) {
    end = out.find('\n', line == 0 ? 0 : end + 1);
  }
  if (end != std::string::npos) out.resize(end);
  return out;
}

}  // namespace tenon::host
