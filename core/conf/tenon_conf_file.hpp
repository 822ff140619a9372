// Reads a settings file: lines `key value` or `key = value`, `#` comments, as in Spark's defaults
// file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::conf {

// A setting as somebody wrote it.
struct Entry {
  std::string key, value;
  std::string where;  // for people: "--conf", "/etc/tenon/tenon.conf:3"
  friend bool operator==(const Entry&, const Entry&) = default;
};

// name: of the file, for `where` and for errors. Of a key that stands there twice both come, in
// their order: the last counts. Throws Error (usage) with name:line.
std::vector<Entry> parse_conf(std::string_view text, const std::string& name);

// Throws Error (usage) also when the file cannot be read, or is larger than any settings file.
// Reads pipes too.
std::vector<Entry> read_conf_file(const std::string& path);

}  // namespace tenon::conf
