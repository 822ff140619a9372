#include "plugin/master_url.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "common/text.hpp"
#include "plugin/quote.hpp"
#include "tenon/error.hpp"
#include "tenon/plugin/text.hpp"
#include "tenon/plugin/views.hpp"

namespace tenon::host {
namespace {

[[noreturn]] void refuse(std::string_view url, const std::string& why) {
  throw Error(ErrorKind::usage, "master URL " + quote(url) + ": " + why);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// One character at a time from the left; every part that is not there is left empty.
class Parser {
 public:
  explicit Parser(std::string_view url) : url_(url), left_(url) {}

  MasterUrl parse() {
    parsed_.raw = url_;
    if (trim(url_).empty())
      refuse(url_, "is empty; write for example " TENON_DEFAULT_MASTER " or scheme://host:port");
    scheme();
    arguments();
    if (take("://")) {
      parsed_.rest = left_;
      address();
    } else if (take("?")) {
      query(left_);
    } else if (!left_.empty()) {
      refuse(url_, quote(left_) + " is left over after " + quote(consumed()));
    }
    return std::move(parsed_);
  }

 private:
  bool take(std::string_view prefix) {
    if (!left_.starts_with(prefix)) return false;
    left_.remove_prefix(prefix.size());
    return true;
  }
  std::string_view take_to(size_t end) {
    const std::string_view part = left_.substr(0, end);
    left_.remove_prefix(part.size());
    return part;
  }
  std::string_view consumed() const { return url_.substr(0, url_.size() - left_.size()); }

  void scheme() {
    const auto* const end = std::find_if(left_.begin(), left_.end(), [](char c) {
      return !is_letter(c) && !is_digit(c) && c != '-' && c != '+' && c != '.' && c != '_';
    });
    parsed_.scheme = take_to(static_cast<size_t>(end - left_.begin()));
    if (parsed_.scheme.empty() || !is_letter(parsed_.scheme[0])) {
      refuse(url_, "must begin with a scheme, a letter and then letters, digits and - + . _");
    }
  }

  void arguments() {
    if (take("[")) {
      const size_t end = left_.find(']');
      if (end == std::string_view::npos) refuse(url_, "the bracket '[' is not closed");
      parsed_.args = trim(take_to(end));
      left_.remove_prefix(1);
      if (parsed_.args.empty()) refuse(url_, "nothing stands between the brackets");
    } else if (left_.starts_with(':') && !left_.starts_with("://")) {
      left_.remove_prefix(1);
      parsed_.args = trim(take_to(std::min(left_.find("://"), left_.find('?'))));
      if (parsed_.args.empty()) refuse(url_, "nothing stands after the colon");
    }
  }

  // What is no list of hosts is the plugin's to read: it has rest alone.
  void address() {
    const size_t end = std::min(left_.find('/'), left_.find('?'));
    const std::string_view authority = left_.substr(0, end);
    if (!is_authority(authority)) return;
    parsed_.authority = take_to(end);
    parsed_.path = take_to(left_.find('?'));
    if (take("?")) query(left_);
  }

  static bool is_authority(std::string_view text) {
    while (true) {
      const size_t comma = text.find(',');
      if (!is_host_and_port(text.substr(0, comma))) return false;
      if (comma == std::string_view::npos) return true;
      text.remove_prefix(comma + 1);
    }
  }
  static bool is_host_and_port(std::string_view text) {
    size_t host_end = 0;
    if (text.starts_with('[')) {  // [::1]:7077
      const size_t close = text.find(']');
      if (close == std::string_view::npos || close < 3) return false;
      const auto inside = text.substr(1, close - 1);
      if (inside.find_first_not_of("0123456789abcdefABCDEF:.%") != inside.npos) return false;
      host_end = close + 1;
    } else {
      while (host_end < text.size() && is_host_character(text[host_end])) ++host_end;
    }
    if (host_end == 0) return false;
    if (host_end == text.size()) return true;
    if (text[host_end] != ':') return false;
    const auto port = plugin::whole_number(text.substr(host_end + 1));
    return port && *port >= 1 && *port <= 65535;
  }
  static bool is_host_character(char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_';
  }

  void query(std::string_view text) {
    while (true) {
      const size_t end = text.find('&');
      const std::string_view item = text.substr(0, end);
      const size_t equals = item.find('=');
      if (equals == std::string_view::npos || equals == 0) {
        refuse(url_, quote(item) + " in the query is not of the form key=value");
      }
      const std::string key(item.substr(0, equals));
      const bool known = std::any_of(parsed_.query.begin(), parsed_.query.end(),
                                     [&](const auto& pair) { return pair.first == key; });
      if (known) refuse(url_, quote(key) + " stands twice in the query");
      parsed_.query.emplace_back(key, item.substr(equals + 1));
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }

  std::string_view url_, left_;
  MasterUrl parsed_;
};

}  // namespace

MasterUrl parse_master_url(std::string_view url) { return Parser(url).parse(); }

PluginMasterUrl::PluginMasterUrl(MasterUrl url)
    : url_(std::move(url)), raw_(plugin::make<tenon_master_url>()) {
  for (const auto& [key, value] : url_.query)
    query_.push_back({plugin::str(key), plugin::str(value)});
  raw_.raw = plugin::str(url_.raw);
  raw_.scheme = plugin::str(url_.scheme);
  raw_.args = plugin::str(url_.args);
  raw_.rest = plugin::str(url_.rest);
  raw_.authority = plugin::str(url_.authority);
  raw_.path = plugin::str(url_.path);
  raw_.query = plugin::array<tenon_pairs>(std::span<const tenon_pair>(query_));
}

}  // namespace tenon::host
