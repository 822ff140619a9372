#include "tenon/conf.hpp"

#include <utility>

namespace tenon {

Conf::Conf() = default;
Conf::~Conf() = default;
Conf::Conf(const Conf&) = default;
Conf& Conf::operator=(const Conf&) = default;
Conf::Conf(Conf&&) noexcept = default;
Conf& Conf::operator=(Conf&&) noexcept = default;

Conf& Conf::set(std::string key, std::string value) {
  entries_.insert_or_assign(std::move(key), std::move(value));
  return *this;
}

std::optional<std::string> Conf::get(std::string_view key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  return found->second;
}

const std::map<std::string, std::string, std::less<>>& Conf::entries() const { return entries_; }

}  // namespace tenon
