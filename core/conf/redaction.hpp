// Keeps secrets out of what people and logs see.
#pragma once

#include <regex>
#include <string>
#include <string_view>

namespace tenon::conf {

inline constexpr std::string_view kRedacted = "(redacted)";

class Redaction {
 public:
  // pattern: tenon.redaction.regex (ECMAScript; a leading "(?i)" ignores case). Throws
  // std::regex_error.
  explicit Redaction(const std::string& pattern);

  // The value, or "(redacted)" when the key or the value matches. [any-thread]
  [[nodiscard]] std::string shown(std::string_view key, std::string_view value) const;

 private:
  std::regex pattern_;
  bool off_ = false;  // an empty pattern matches nothing
};

}  // namespace tenon::conf
