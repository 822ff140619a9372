// Every setting of core: name, type, default, check and what it means. One table; the documentation
// is made from it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenon::conf {

// Values are those of TENON_SETTING_* in the plugin ABI.
enum class Type : uint8_t {
  string = 1,
  boolean = 2,
  integer = 3,
  number = 4,
  size = 5,
  duration = 6,
  list = 7
};

// "string", "bool", "int", "double", "size", "duration", "list".
std::string_view to_string(Type type);

// A value's own rule, where a range or words don't say it: what is wrong with the text, nothing
// when it is right.
using Rule = std::optional<std::string> (*)(std::string_view text);

struct SettingSpec {
  std::string key = {};  // of core's: may hold one "<...>", which stands for any name
  Type type = Type::string;
  std::string default_value = {};  // empty: none (or worked out at start, as doc says)
  std::string check = {};          // "", a range "1..65535" or "0..", or words "FIFO|FAIR"
  std::string doc = {};
  std::string bare_unit = {};  // of a size or duration that is a number alone; empty: refused
  bool secret = false;         // never shown or logged
  Rule rule = nullptr;
};

// Sorted by key. [any-thread]
std::span<const SettingSpec> core_settings();

// The core setting with this key (`tenon.plugin.x.library` finds `tenon.plugin.<scheme>.library`),
// or nullptr.
const SettingSpec* find_core_setting(std::string_view key);

// The value in its plain form: without blanks around it, a word as its check spells it.
// Throws Error (usage) that names the key, the value, `where` it came from ("--conf",
// "tenon.conf:3") and the allowed form.
std::string checked_value(const SettingSpec& spec, std::string_view text, std::string_view where);

// What a value of this setting may be: "a whole number, 1 or more", "one of FIFO, FAIR", "a size
// such as 512m or 2g".
std::string allowed_form(const SettingSpec& spec);

// An environment variable that stands for a setting.
struct NamedVariable {
  const char* variable;
  std::string_view key;
  bool empty_is_unset = true;  // else an empty one is checked as any other value
};
std::span<const NamedVariable> named_variables();

}  // namespace tenon::conf
