#include "plugin/quote.hpp"

namespace tenon::host {

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
