// Settings::resolve: layers by precedence, checks, what plugins know.
#include <algorithm>

#include "common/text.hpp"
#include "conf/settings.hpp"
#include "conf/value.hpp"
#include "tenon/error.hpp"

namespace tenon::conf {
namespace {

constexpr std::string_view kPrefix = "tenon.";
constexpr std::string_view kPluginDefault = "the plugin's default";

struct Layer {
  Source source;
  std::vector<Entry> entries;
};

std::vector<Entry> to_entries(const TextMap& map, const std::string& where) {
  std::vector<Entry> entries;
  for (const auto& [key, value] : map) entries.push_back({key, value, where});
  return entries;
}

std::vector<Entry> named(const Environment& environment) {
  std::vector<Entry> entries;
  for (const NamedVariable& variable : named_variables()) {
    auto value = environment(variable.variable);
    if (variable.empty_is_unset) value = not_empty(std::move(value));
    if (value) {
      entries.push_back({std::string(variable.key), *value, variable.variable});
    }
  }
  return entries;
}

// From the weakest to the strongest.
std::vector<Layer> layers_of(const ResolveInput& input) {
  std::vector<Layer> layers;
  layers.push_back({Source::program, to_entries(input.program_defaults, "the program's defaults")});
  const Handover& handover = input.handover;
  if (!handover.has_properties_file || handover.load_defaults) {
    if (const auto path = find_conf_file(input.environment, "tenon.conf")) {
      layers.push_back({Source::file, read_conf_file(*path)});
    }
  }
  layers.push_back({Source::file, handover.properties_file});
  layers.push_back({Source::environment, named(input.environment)});
  layers.push_back({Source::command_line, handover.options});
  layers.push_back({Source::code, to_entries(input.code, "Conf::set")});
  return layers;
}

bool contains(std::span<const SettingSpec> specs, std::string_view key) {
  return std::ranges::find(specs, key, &SettingSpec::key) != specs.end();
}

}  // namespace

class Resolver {
 public:
  explicit Resolver(const ResolveInput& input) : input_(input) {}

  Settings run() {
    for (const SettingSpec& spec : core_settings()) {
      if (spec.key.find('<') == std::string::npos) {
        settings_.values_[spec.key] = {spec.default_value, Source::built_in, ""};
      }
    }
    for (const Layer& layer : layers_of(input_)) {
      for (const Entry& entry : layer.entries) apply(layer.source, entry);
    }
    fill_computed_defaults();
    ask_chosen_plugin();
    if (!unknown_.empty()) ask_other_plugins();
    check_together();
    return std::move(settings_);
  }

 private:
  struct Unknown {
    Source source;
    Entry entry;
  };

  void apply(Source source, const Entry& entry) {
    if (!entry.key.starts_with(kPrefix)) {
      settings_.values_[entry.key] = {entry.value, source, entry.where};
    } else if (const SettingSpec* spec = find_core_setting(entry.key)) {
      put(*spec, source, entry, false);
    } else {
      unknown_.push_back({source, entry});
    }
  }

  void put(const SettingSpec& spec, Source source, const Entry& entry, bool unused) {
    SettingSpec named_spec = spec;
    named_spec.key = entry.key;  // the scheme itself in place of <scheme>
    Value& value = settings_.values_[entry.key];
    value = {checked_value(named_spec, entry.value, entry.where), source, entry.where, unused};
    if (value.text.empty()) value.text = spec.default_value;  // emptied: the default again
  }

  // Values of keys that were unknown until now and that one of the specs describes.
  void settle(std::span<const SettingSpec> specs, bool unused) {
    std::vector<Unknown> left;
    for (Unknown& unknown : unknown_) {
      const auto spec = std::ranges::find(specs, unknown.entry.key, &SettingSpec::key);
      if (spec == specs.end()) {
        left.push_back(std::move(unknown));
      } else {
        put(*spec, unknown.source, unknown.entry, unused);
      }
    }
    unknown_ = std::move(left);
  }

  void ask_chosen_plugin() {
    if (!input_.chosen_plugin) return;
    const std::vector<SettingSpec> specs = input_.chosen_plugin(settings_);
    for (const SettingSpec& spec : specs) {
      const SettingSpec* core = find_core_setting(spec.key);
      const std::string text =
          spec.default_value.empty()
              ? ""
              : checked_value(core == nullptr ? spec : *core, spec.default_value, kPluginDefault);
      Value& value = settings_.values_[spec.key];
      if (core == nullptr) {
        settings_.plugin_specs_.push_back(spec);
        value = {text, Source::plugin, ""};
      } else if (value.source == Source::built_in && !text.empty()) {
        value = {text, Source::plugin, ""};
      }
    }
    settle(settings_.plugin_specs_, false);
  }

  void ask_other_plugins() {
    std::vector<SettingSpec> others;
    if (input_.other_plugins) others = input_.other_plugins(settings_);
    for (const Unknown& unknown : unknown_) {
      if (!contains(others, unknown.entry.key)) refuse(unknown, others);
    }
    for (const SettingSpec& spec : others) {
      if (!contains(settings_.plugin_specs_, spec.key)) settings_.plugin_specs_.push_back(spec);
    }
    settle(others, true);
  }

  [[noreturn]] void refuse(const Unknown& unknown, std::span<const SettingSpec> others) const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : settings_.values_) {
      if (key.starts_with(kPrefix)) keys.push_back(key.substr(kPrefix.size()));
    }
    for (const SettingSpec& spec : others) keys.push_back(spec.key.substr(kPrefix.size()));
    const Entry& entry = unknown.entry;
    const auto nearest = nearest_name(std::string_view(entry.key).substr(kPrefix.size()), keys);
    throw Error(ErrorKind::usage, "unknown setting " + quote(entry.key) + " (" + entry.where + ")" +
                                      (nearest ? "; did you mean tenon." + *nearest + "?" : "") +
                                      " 'tenon config list' shows all settings");
  }

  void fill_computed_defaults() {
    const auto fill = [this](const char* key, const std::string& text) {
      Value& value = settings_.values_[key];
      if (value.text.empty()) value.text = text;
    };
    fill("tenon.app.name", input_.program_name);
    fill("tenon.local.dirs", not_empty(input_.environment("TMPDIR")).value_or("/tmp"));
    fill("tenon.rpc.askTimeout", settings_.get_string("tenon.network.timeout"));
  }

  void check_together() const {
    at_most("tenon.network.timeoutInterval", "tenon.network.timeout");
    at_most("tenon.executor.heartbeatInterval", "tenon.network.timeout");
    const char* cpus = "tenon.task.cpus";
    const char* cores = "tenon.executor.cores";
    if (settings_.has(cores) && settings_.get_int(cpus) > settings_.get_int(cores)) {
      contradiction(cpus, cores, "no executor could run a task");
    }
  }

  void at_most(const char* low, const char* high) const {
    if (settings_.get_duration(low) > settings_.get_duration(high)) {
      contradiction(low, high, "it must be at most that");
    }
  }

  [[noreturn]] void contradiction(const char* low, const char* high, const char* why) const {
    throw Error(ErrorKind::usage, described(low) + " is more than " + described(high) + ": " + why);
  }

  [[nodiscard]] std::string described(const char* key) const {
    const Value& value = *settings_.find(key);
    return std::string(key) + "=" + value.text + " (" +
           (value.where.empty() ? std::string(to_string(value.source)) : value.where) + ")";
  }

  const ResolveInput& input_;
  Settings settings_;
  std::vector<Unknown> unknown_;
};

Settings Settings::resolve(const ResolveInput& input) { return Resolver(input).run(); }

}  // namespace tenon::conf
