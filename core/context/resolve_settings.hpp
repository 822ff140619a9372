// Settings and plugins together: neither room knows the other.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conf/settings.hpp"
#include "plugin/plugin_host.hpp"

namespace tenon::context {

// Where plugins are looked for with these settings. Throws Error (usage).
host::PluginSearch plugin_search(const conf::Settings& settings);

// What plugins describe, as the registry has it.
std::vector<conf::SettingSpec> to_specs(const std::vector<host::PluginSetting>& settings);

// The settings of this process, those of the master URL's plugin included: loads that plugin, and
// looks into the others only when a key is left that nobody knows. Throws Error: usage for a bad
// setting, master URL or scheme, plugin when the plugin cannot be loaded.
conf::Settings resolve_settings(conf::ResolveInput input);

}  // namespace tenon::context
