#include "context/resolve_settings.hpp"

#include <utility>

#include "plugin/master_url.hpp"

namespace tenon::context {

host::PluginSearch plugin_search(const conf::Settings& settings) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : settings.values()) texts.emplace(key, value.text);
  return host::PluginSearch::of_process(texts);
}

std::vector<conf::SettingSpec> to_specs(const std::vector<host::PluginSetting>& settings) {
  std::vector<conf::SettingSpec> specs;
  for (const host::PluginSetting& setting : settings) {
    const bool known = setting.type >= TENON_SETTING_STRING && setting.type <= TENON_SETTING_LIST;
    specs.push_back({.key = setting.key,
                     .type = known ? static_cast<conf::Type>(setting.type) : conf::Type::string,
                     .default_value = setting.default_value,
                     .check = setting.check,
                     .doc = setting.doc,
                     .secret = setting.secret});
  }
  return specs;
}

conf::Settings resolve_settings(conf::ResolveInput input) {
  input.chosen_plugin = [](const conf::Settings& so_far) {
    const host::MasterUrl url = host::parse_master_url(so_far.get_string("tenon.master"));
    const host::PluginHost plugins(plugin_search(so_far));
    return to_specs(plugins.load(url).description().settings);
  };
  input.other_plugins = [](const conf::Settings& so_far) {
    return to_specs(host::PluginHost(plugin_search(so_far)).all_settings());
  };
  return conf::Settings::resolve(input);
}

}  // namespace tenon::context
