// The settings of a process: every value with where it came from.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conf/conf_dir.hpp"
#include "conf/handover.hpp"
#include "conf/registry.hpp"

namespace tenon::conf {

// From the strongest to the weakest.
enum class Source : uint8_t { code, command_line, environment, file, program, plugin, built_in };

// "set in code", "command line", "environment", "file", "program's default", "plugin's default",
// "default".
std::string_view to_string(Source source);

struct Value {
  std::string text;  // checked; empty: no value
  Source source = Source::built_in;
  std::string
      where;  // more exactly: "--conf", "TENON_MASTER", "/etc/tenon/tenon.conf:3"; may be empty
  bool unused = false;  // of a plugin that was not chosen
};

class Settings;
using PluginSettings = std::function<std::vector<SettingSpec>(const Settings& so_far)>;
using TextMap = std::map<std::string, std::string, std::less<>>;

struct ResolveInput {
  TextMap code;              // Conf::set
  TextMap program_defaults;  // the argument of Context
  Handover handover;         // the command line: inherited_handover(), or the tool's own options
  Environment environment = process_environment;
  std::string program_name;  // default of tenon.app.name
  // What the plugin of the master URL describes; its defaults count below the program's, also for
  // keys of core's. Called once with the settings as core knows them. Empty: there is no plugin.
  PluginSettings chosen_plugin;
  // What all other plugins on the search path describe. Called only when a key is left that nobody
  // knows.
  PluginSettings other_plugins;
};

// Immutable once resolved. [any-thread]
class Settings {
 public:
  // Finds each value by the precedence of docs/settings.md and checks all of them, those that are
  // overruled too. Throws Error (usage) for an unknown `tenon.` key, a value of the wrong form,
  // settings that contradict each other and a file that cannot be read; what the callbacks throw
  // passes through.
  static Settings resolve(const ResolveInput& input);

  // The getters throw Error (internal) for a key that is not registered, is of another type, or has
  // no value.
  [[nodiscard]] const std::string& get_string(
      std::string_view key) const;  // of any type; may be empty
  [[nodiscard]] bool get_bool(std::string_view key) const;
  [[nodiscard]] int64_t get_int(std::string_view key) const;
  [[nodiscard]] double get_double(std::string_view key) const;
  [[nodiscard]] uint64_t get_size(std::string_view key) const;
  [[nodiscard]] std::chrono::nanoseconds get_duration(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> get_list(std::string_view key) const;
  // The key has a value, a default included.
  [[nodiscard]] bool has(std::string_view key) const;

  // Any key, the program's own too; nullptr when it is not there.
  [[nodiscard]] const Value* find(std::string_view key) const;
  // All keys with their values: registered ones (without a value too), those of plugins, the
  // program's own.
  [[nodiscard]] const std::map<std::string, Value, std::less<>>& values() const { return values_; }
  // The value for people: "(redacted)" for secrets.
  [[nodiscard]] std::string shown(std::string_view key) const;

 private:
  friend class Resolver;
  Settings() = default;
  const std::string& text_of(std::string_view key, Type type) const;
  [[nodiscard]] const SettingSpec* spec(std::string_view key) const;

  std::map<std::string, Value, std::less<>> values_;
  std::vector<SettingSpec> plugin_specs_;
};

}  // namespace tenon::conf
