#include "conf/redaction.hpp"

namespace tenon::conf {
namespace {

// std::regex recurses for each character, so it must not see a text of any length.
constexpr size_t kMaxSearched = 1024;

std::regex compile(std::string_view pattern) {
  auto flags = std::regex::ECMAScript;
  if (pattern.starts_with("(?i)")) {
    pattern.remove_prefix(4);
    flags |= std::regex::icase;
  }
  return std::regex(pattern.begin(), pattern.end(), flags);
}

}  // namespace

Redaction::Redaction(const std::string& pattern)
    : pattern_(compile(pattern)), off_(pattern.empty()) {}

std::string Redaction::shown(std::string_view key, std::string_view value) const {
  if (off_) return std::string(value);
  const auto matches = [this](std::string_view text) {
    return text.size() > kMaxSearched || std::regex_search(text.begin(), text.end(), pattern_);
  };
  return std::string(matches(key) || matches(value) ? kRedacted : value);
}

}  // namespace tenon::conf
