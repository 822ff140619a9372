// What must be known before anything of an application is started: settings, master URL, plugin.
#pragma once

#include <string>

#include "conf/settings.hpp"
#include "plugin/loaded_plugin.hpp"
#include "plugin/master_url.hpp"
#include "tenon/conf.hpp"
#include "tenon/context.hpp"

namespace tenon::context {

struct Startup {
  conf::Settings settings;
  host::MasterUrl master;
  host::LoadedPlugin plugin;
};

// Resolves the settings and loads the plugin of the master URL among them. Throws tenon::Error
// (usage, plugin).
[[nodiscard]] Startup resolve(const Conf& conf, const Defaults& defaults,
                              const std::string& program_name);

// Levels and format of the log, as the settings say.
void configure_log(const conf::Settings& settings);

}  // namespace tenon::context
