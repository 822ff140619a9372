#include "context/startup.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/log.hpp"
#include "plugin/plugin_host.hpp"
#include "tenon/error.hpp"

namespace tenon::context {
namespace {

std::vector<conf::SettingSpec> specs_of(const std::vector<host::PluginSetting>& settings) {
  std::vector<conf::SettingSpec> specs;
  specs.reserve(settings.size());
  for (const auto& setting : settings) {
    specs.push_back({.key = setting.key,
                     .type = static_cast<conf::Type>(setting.type),
                     .default_value = setting.default_value,
                     .check = setting.check,
                     .doc = setting.doc,
                     .secret = setting.secret});
  }
  return specs;
}

std::map<std::string, std::string> texts_of(const conf::Settings& settings) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : settings.values()) texts.emplace(key, value.text);
  return texts;
}

}  // namespace

Startup resolve(const Conf& conf, const Defaults& defaults, const std::string& program_name) {
  conf::ResolveInput input;
  input.code = conf.entries();
  if (!defaults.app.empty()) input.program_defaults["tenon.app.name"] = defaults.app;
  if (!defaults.master.empty()) input.program_defaults["tenon.master"] = defaults.master;
  input.handover = conf::inherited_handover();
  input.program_name = program_name;

  std::optional<host::MasterUrl> master;
  std::optional<host::PluginHost> plugins;
  std::optional<host::LoadedPlugin> plugin;
  input.chosen_plugin = [&](const conf::Settings& so_far) {
    master = host::parse_master_url(so_far.get_string("tenon.master"));
    plugins.emplace(host::PluginSearch::of_process(texts_of(so_far)));
    plugin = plugins->load(*master);
    return specs_of(plugin->description().settings);
  };
  input.other_plugins = [&](const conf::Settings&) { return specs_of(plugins->all_settings()); };
  conf::Settings settings = conf::Settings::resolve(input);
  return {std::move(settings), std::move(*master), std::move(*plugin)};
}

void configure_log(const conf::Settings& settings) {
  const auto levels = log::parse_levels(settings.get_string("tenon.log.level"));
  const bool json = settings.get_string("tenon.log.format") == "json";
  log::configure(levels.value_or(log::Levels{}), json ? log::Format::json : log::Format::text);
}

}  // namespace tenon::context
