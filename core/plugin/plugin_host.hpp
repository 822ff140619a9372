// Finds the plugin of a scheme by file name, tenon-<scheme>.so, and loads it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/library.hpp"
#include "plugin/loaded_plugin.hpp"
#include "plugin/master_url.hpp"

namespace tenon::host {

// A folder of plugin files.
struct PluginPlace {
  std::filesystem::path folder;
  std::string origin;  // "TENON_PLUGIN_PATH"; empty: an install folder
};

struct PluginSearch {
  std::map<std::string, std::filesystem::path>
      libraries;                    // by scheme: settings tenon.plugin.<scheme>.library
  std::vector<PluginPlace> places;  // in search order
  Registry registry;                // before all files

  // As this process has them. settings: all of them; TENON_PLUGIN_PATH counts unless the program
  // runs with raised privileges. Throws Error(usage) for a path that is not absolute.
  [[nodiscard]] static PluginSearch of_process(const std::map<std::string, std::string>& settings);
  // Of the settings given, a value of TENON_PLUGIN_PATH (empty: none) and the install folders.
  [[nodiscard]] static PluginSearch of(const std::map<std::string, std::string>& settings,
                                       std::string_view plugin_path,
                                       const std::vector<std::filesystem::path>& install_folders);
};

// The same lookup serves driver, executor and tool. Holds no state but where to look. [any-thread]
class PluginHost {
 public:
  explicit PluginHost(PluginSearch search);

  // The first hit wins. Throws Error(usage) when there is no plugin for the scheme: the text quotes
  // the URL, lists each place searched and the schemes that are there. Throws Error(plugin) when
  // the file found cannot be loaded.
  [[nodiscard]] LoadedPlugin load(const MasterUrl& url) const;

  // A file that stands in the search path for a scheme, or would if none stood before it.
  struct Candidate {
    std::string scheme;
    std::filesystem::path file;
    std::string origin;  // as of the place, or the name of the setting
    bool shadowed = false;
  };
  // All of them, by scheme, in search order. Reads the folders now.
  [[nodiscard]] std::vector<Candidate> candidates() const;
  [[nodiscard]] const PluginSearch& search() const { return search_; }

  // Settings in the descriptions of all plugins that can be loaded, for keys that the chosen plugin
  // does not know.
  [[nodiscard]] std::vector<PluginSetting> all_settings() const;

 private:
  struct Found {
    std::filesystem::path file;
    std::string origin;
  };
  [[nodiscard]] std::optional<Found> find(const std::string& scheme) const;
  [[nodiscard]] std::string not_found(const MasterUrl& url) const;

  PluginSearch search_;
};

}  // namespace tenon::host
