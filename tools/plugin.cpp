#include <CLI/CLI.hpp>
#include <filesystem>

#include "command.hpp"
#include "common/text.hpp"
#include "context/resolve_settings.hpp"
#include "plugin/plugin_list.hpp"
#include "setting_options.hpp"

namespace tenon::tool {
namespace {

// The settings that say where plugins are; no plugin is loaded to know them.
conf::Settings settings_of(const SettingOptions& options) {
  conf::ResolveInput input;
  input.handover = options.handover();
  // A key that only a plugin knows must not stop us from looking at plugins.
  input.other_plugins = [](const conf::Settings& so_far) {
    return context::to_specs(host::PluginHost(context::plugin_search(so_far)).all_settings());
  };
  return conf::Settings::resolve(input);
}

int list(const Arguments& arguments) {
  const auto app = make_app("plugin list", "plugin list [-v] [--conf KEY=VALUE]...",
                            "The plugins that master URLs can name, by scheme.");
  bool verbose = false;
  SettingOptions settings;
  settings.add_few(*app);
  app->add_flag("-v,--verbose", verbose, "Also those that another one of the same scheme hides");
  if (!parse(*app, arguments)) return 0;
  const host::PluginHost plugins(context::plugin_search(settings_of(settings)));
  print(host::format_plugin_list(plugins, verbose));
  return 0;
}

int info(const Arguments& arguments) {
  const auto app = make_app("plugin info", "plugin info FILE", "What a plugin says of itself.");
  std::string file;
  app->add_option("FILE", file, "A plugin file")->required();
  if (!parse(*app, arguments)) return 0;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    throw Error(ErrorKind::usage, "plugin info: " + quote(file) + ": no such file");
  }
  print(host::format_plugin_info(std::filesystem::absolute(file)));
  return 0;
}

}  // namespace

int plugin(const Arguments& arguments) {
  const std::string name = arguments.empty() ? "--help" : arguments.front();
  const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (name == "list") return list(rest);
  if (name == "info") return info(rest);
  if (name != "--help" && name != "-h") refuse_name("plugin command", name, {"list", "info"});
  print(
      "Usage: tenon plugin list [-v]   the plugins, by scheme of the master URL\n"
      "       tenon plugin info FILE   what a plugin says of itself\n");
  return 0;
}

}  // namespace tenon::tool
