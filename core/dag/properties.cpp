#include "dag/properties.hpp"

#include "tenon/error.hpp"

namespace tenon::dag {

void check_tag(std::string_view tag) {
  if (tag.empty()) throw Error(ErrorKind::invalid_argument, "a job tag cannot be empty");
  if (tag.find(',') == std::string_view::npos) return;
  throw Error(ErrorKind::invalid_argument,
              "the job tag '" + std::string(tag) +
                  "' contains a comma; add its parts as tags of their own");
}

std::set<std::string, std::less<>> tags_of(const Properties& properties) {
  std::set<std::string, std::less<>> tags;
  const auto found = properties.find(kJobTags);
  if (found == properties.end()) return tags;
  std::string_view rest = found->second;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view tag = rest.substr(0, comma);
    if (!tag.empty()) tags.emplace(tag);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return tags;
}

}  // namespace tenon::dag
