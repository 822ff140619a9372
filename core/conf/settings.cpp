#include "conf/settings.hpp"

#include <algorithm>

#include "conf/redaction.hpp"
#include "conf/value.hpp"
#include "tenon/error.hpp"

namespace tenon::conf {
namespace {

Error internal(std::string_view key, std::string_view problem) {
  return {ErrorKind::internal, "setting " + std::string(key) + " " + std::string(problem)};
}

}  // namespace

std::string_view to_string(Source source) {
  switch (source) {
    case Source::code:
      return "set in code";
    case Source::command_line:
      return "command line";
    case Source::environment:
      return "environment";
    case Source::file:
      return "file";
    case Source::program:
      return "program's default";
    case Source::plugin:
      return "plugin's default";
    case Source::built_in:
      return "default";
  }
  return "unknown";
}

const SettingSpec* Settings::spec(std::string_view key) const {
  if (const SettingSpec* core = find_core_setting(key)) return core;
  const auto plugins = std::ranges::find(plugin_specs_, key, &SettingSpec::key);
  return plugins == plugin_specs_.end() ? nullptr : &*plugins;
}

const std::string& Settings::text_of(std::string_view key, Type type) const {
  const SettingSpec* known = spec(key);
  const Value* value = find(key);
  if (known == nullptr || value == nullptr) throw internal(key, "is read but not registered");
  if (known->type != type) {
    throw internal(key, "is a " + std::string(to_string(known->type)) + " but read as a " +
                            std::string(to_string(type)));
  }
  if (value->text.empty()) throw internal(key, "is read but has no value");
  return value->text;
}

const std::string& Settings::get_string(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr || spec(key) == nullptr) throw internal(key, "is read but not registered");
  return value->text;
}

bool Settings::get_bool(std::string_view key) const {
  return parse_bool(text_of(key, Type::boolean)).value();
}

int64_t Settings::get_int(std::string_view key) const {
  return parse_int(text_of(key, Type::integer)).value();
}

double Settings::get_double(std::string_view key) const {
  return parse_double(text_of(key, Type::number)).value();
}

uint64_t Settings::get_size(std::string_view key) const {
  return parse_size(text_of(key, Type::size), spec(key)->bare_unit).value();
}

std::chrono::nanoseconds Settings::get_duration(std::string_view key) const {
  return parse_duration(text_of(key, Type::duration), spec(key)->bare_unit).value();
}

std::vector<std::string> Settings::get_list(std::string_view key) const {
  const SettingSpec* known = spec(key);
  if (known != nullptr && known->type != Type::list) throw internal(key, "is not a list");
  return parse_list(get_string(key));
}

bool Settings::has(std::string_view key) const { return !get_string(key).empty(); }

const Value* Settings::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::string Settings::shown(std::string_view key) const {
  const SettingSpec* known = spec(key);
  if (known != nullptr && known->secret) return std::string(kRedacted);
  const Value* value = find(key);
  if (value == nullptr) return "";
  return Redaction(get_string("tenon.redaction.regex")).shown(key, value->text);
}

}  // namespace tenon::conf
