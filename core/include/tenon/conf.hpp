/// @file conf.hpp
/// Settings of an application: text by key, typed on reading.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tenon/export.hpp"

namespace tenon {

/// Settings that a program sets itself; they win over everything else (docs/settings.md has all
/// keys and the precedence). A value type; not safe for use by two threads at once. Context takes a
/// copy: later changes have no effect on it.
class TENON_API Conf {
 public:
  Conf();
  ~Conf();
  Conf(const Conf&);
  Conf& operator=(const Conf&);
  Conf(Conf&&) noexcept;
  Conf& operator=(Conf&&) noexcept;

  /// Sets a key. A `tenon.` key that nobody knows, or a value of the wrong form, is refused when
  /// the Context starts.
  Conf& set(std::string key, std::string value);
  /// The value that was set here; nothing when it was not.
  [[nodiscard]] std::optional<std::string> get(std::string_view key) const;
  /// All that was set here.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& entries() const;

 private:
  std::map<std::string, std::string, std::less<>> entries_;
};

}  // namespace tenon
