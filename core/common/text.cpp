#include "common/text.hpp"

#include <algorithm>
#include <vector>

namespace tenon {
namespace {

// Length of the UTF-8 sequence that the text begins with; 0 when it is none (overlong, surrogate,
// cut).
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = 2 + (first >= 0xE0 ? 1U : 0U) + (first >= 0xF0 ? 1U : 0U);
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0)) return 0;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90)) return 0;
  return length;
}

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment: three rows are enough, as a swap looks two rows back.
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replace, previous[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates) {
  const std::string wanted = to_lower(name);
  const size_t limit = name.size() < 4 ? 1 : std::max<size_t>(2, name.size() / 3);
  size_t best = limit + 1;
  std::optional<std::string> nearest;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(wanted, to_lower(candidate));
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string to_lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && to_lower(a) == to_lower(b);
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string result;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) result.append(separator);
    result.append(parts[i]);
  }
  return result;
}

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

std::string json_escaped(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string result;
  while (!text.empty()) {
    const char c = text.front();
    size_t length = 1;
    if (c == '"' || c == '\\') {
      result.append({'\\', c});
    } else if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result.append("\\u00").append({kHex[static_cast<size_t>(c) >> 4], kHex[c & 15]});
    } else if (length = utf8_length(text); length == 0) {
      result += "\xEF\xBF\xBD";
      length = 1;
    } else {
      result.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace tenon
