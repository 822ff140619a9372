// Small numbers for names that come again and again: executors, hosts, racks.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tenon::task {

using NameId = uint32_t;
inline constexpr NameId kNoName = UINT32_MAX;

// Numbers from 0 in the order of the first use. A name stays for good, so ids and references remain
// valid.
class Names {
 public:
  NameId intern(std::string_view name) {
    if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
    const auto id = static_cast<NameId>(names_.size());
    names_.emplace_back(name);
    ids_.emplace(names_.back(), id);
    return id;
  }
  // kNoName when it was never seen.
  [[nodiscard]] NameId find(std::string_view name) const {
    const auto it = ids_.find(name);
    return it == ids_.end() ? kNoName : it->second;
  }
  [[nodiscard]] const std::string& operator[](NameId id) const { return names_[id]; }
  [[nodiscard]] size_t size() const { return names_.size(); }

 private:
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace tenon::task
