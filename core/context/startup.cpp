#include "context/startup.hpp"

#include <optional>
#include <utility>

#include "common/log.hpp"
#include "context/resolve_settings.hpp"
#include "plugin/plugin_host.hpp"

namespace tenon::context {

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
    plugins.emplace(plugin_search(so_far));
    plugin = plugins->load(*master);
    return to_specs(plugin->description().settings);
  };
  input.other_plugins = [&](const conf::Settings&) { return to_specs(plugins->all_settings()); };
  conf::Settings settings = conf::Settings::resolve(input);
  return {std::move(settings), std::move(*master), std::move(*plugin)};
}

void configure_log(const conf::Settings& settings) {
  const auto levels = log::parse_levels(settings.get_string("tenon.log.level"));
  const bool json = settings.get_string("tenon.log.format") == "json";
  log::configure(levels.value_or(log::Levels{}), json ? log::Format::json : log::Format::text);
}

}  // namespace tenon::context
