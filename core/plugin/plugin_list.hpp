// What `tenon plugin list` and `tenon plugin info` print.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plugin/plugin_host.hpp"

namespace tenon::host {

// One line of the list.
struct PluginRow {
  enum class Status { ok, shadowed, refused };
  std::string scheme, name, version, abi;
  Status status = Status::ok;
  std::string file;  // with the target of a link, where it was found, and why it was refused
};

// Loads every plugin that can be found. By scheme, in search order; a shadowed one is never
// refused.
[[nodiscard]] std::vector<PluginRow> list_plugins(const PluginHost& host);

// A table with a head; verbose: the shadowed ones too. Ends with a new line.
[[nodiscard]] std::string format_plugin_list(const PluginHost& host, bool verbose);

// Everything that the plugin says of itself. Throws Error(plugin) when it cannot be loaded.
[[nodiscard]] std::string format_plugin_info(const std::filesystem::path& file);

}  // namespace tenon::host
