#include "plugin/plugin_host.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "common/text.hpp"
#include "plugin/quote.hpp"
#include "tenon/error.hpp"
#include "tenon/plugin/text.hpp"

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSettingPrefix = "tenon.plugin.";
constexpr std::string_view kSettingSuffix = ".library";
constexpr std::string_view kFilePrefix = "tenon-";
constexpr std::string_view kFileSuffix = ".so";

std::string file_name(const std::string& scheme) {
  return std::string(kFilePrefix) + scheme + std::string(kFileSuffix);
}

std::string library_setting(const std::string& scheme) {
  return std::string(kSettingPrefix) + scheme + std::string(kSettingSuffix);
}

// What stands between prefix and suffix; nothing when one is not there or nothing is between.
std::optional<std::string> between(std::string_view text, std::string_view prefix,
                                   std::string_view suffix) {
  if (text.size() <= prefix.size() + suffix.size()) return std::nullopt;
  if (!text.starts_with(prefix) || !text.ends_with(suffix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  text.remove_suffix(suffix.size());
  return std::string(text);
}

std::vector<std::string> schemes_in(const fs::path& folder) {
  std::vector<std::string> schemes;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    auto scheme = between(it->path().filename().string(), kFilePrefix, kFileSuffix);
    if (scheme) schemes.push_back(std::move(*scheme));
  }
  std::sort(schemes.begin(), schemes.end());
  return schemes;
}

// tenon/plugins beside the loaded libtenon. Core that is linked into a program of an install or
// build tree finds them from bin, else where the build was told that they will be.
std::vector<fs::path> install_folders() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  Dl_info info{};
  static const char kHere = 0;
  if (dladdr(&kHere, &info) != 0 && info.dli_fname != nullptr) {
    const fs::path library = fs::canonical(info.dli_fname, error);
    if (!error && library != program) return {library.parent_path() / "tenon/plugins"};
  }
  const fs::path beside = (program.parent_path() / "../lib/tenon/plugins").lexically_normal();
  return {beside, TENON_PLUGIN_DIR};
}

std::string describe(const PluginPlace& place) {
  std::string text = place.folder.string();
  if (!place.origin.empty()) text += " (" + place.origin + ")";
  std::error_code error;
  if (!fs::is_directory(place.folder, error)) text += ", which is no folder";
  return text;
}

}  // namespace

PluginSearch PluginSearch::of_process(const std::map<std::string, std::string>& settings) {
  const char* const path = std::getenv("TENON_PLUGIN_PATH");
  const bool trusted = path != nullptr && getauxval(AT_SECURE) == 0;
  return of(settings, trusted ? path : "", install_folders());
}

PluginSearch PluginSearch::of(const std::map<std::string, std::string>& settings,
                              std::string_view plugin_path,
                              const std::vector<fs::path>& install_folders) {
  PluginSearch search;
  for (const auto& [key, value] : settings) {
    const auto scheme = between(key, kSettingPrefix, kSettingSuffix);
    if (!scheme || value.empty()) continue;
    if (!fs::path(value).is_absolute()) {
      throw Error(ErrorKind::usage, "setting " + key + ": " + quote(value) +
                                        " is not an absolute path of a plugin file");
    }
    search.libraries[*scheme] = value;
  }
  std::set<fs::path> known;
  const auto add = [&](const fs::path& folder, const std::string& origin) {
    const fs::path normal = (folder / "").lexically_normal().parent_path();
    if (known.insert(normal).second) search.places.push_back({normal, origin});
  };
  for (const std::string_view folder : plugin::split(plugin_path, ':')) {
    if (folder.empty()) continue;
    if (!fs::path(folder).is_absolute()) {
      throw Error(ErrorKind::usage,
                  "TENON_PLUGIN_PATH: " + quote(folder) +
                      " is a relative folder; plugins are loaded from absolute ones only");
    }
    add(folder, "TENON_PLUGIN_PATH");
  }
  for (const fs::path& folder : install_folders) add(folder, "");
  return search;
}

PluginHost::PluginHost(PluginSearch search) : search_(std::move(search)) {}

std::optional<PluginHost::Found> PluginHost::find(const std::string& scheme) const {
  const auto set = search_.libraries.find(scheme);
  if (set != search_.libraries.end()) {
    return Found{set->second, "setting " + library_setting(scheme)};
  }
  for (const PluginPlace& place : search_.places) {
    const fs::path file = place.folder / file_name(scheme);
    std::error_code error;
    // A dangling link is found, and then refused, not passed over.
    if (fs::exists(fs::symlink_status(file, error))) return Found{file, place.origin};
  }
  return std::nullopt;
}

LoadedPlugin PluginHost::load(const MasterUrl& url) const {
  for (const EntryFunction entry : search_.registry.entries()) {
    LoadedPlugin plugin(entry(), {});
    if (plugin.has_scheme(url.scheme)) return plugin;
  }
  const auto found = find(url.scheme);
  if (!found) throw Error(ErrorKind::usage, not_found(url));
  const auto refuse = [&](const PluginFile& file, const std::string& cause) {
    std::string text = "cannot load plugin " + quote(file.file.string());
    if (!file.name.empty()) text += " (" + file.name + " " + file.version + ")";
    if (!found->origin.empty()) text += " of " + found->origin;
    throw Error(ErrorKind::plugin, text + ": " + cause);
  };
  const PluginFile file = inspect_plugin(found->file);
  if (!file.plugin) refuse(file, file.refusal);
  if (!file.plugin->has_scheme(url.scheme)) {
    refuse(file, "it does not take scheme " + quote(url.scheme) + ", only " +
                     join(file.plugin->description().schemes, ", "));
  }
  return *file.plugin;
}

std::string PluginHost::not_found(const MasterUrl& url) const {
  std::vector<std::string> schemes;
  for (const Candidate& candidate : candidates()) {
    if (!candidate.shadowed) schemes.push_back(candidate.scheme);
  }
  std::string text = "master URL " + quote(url.raw) + ": no plugin for scheme " + quote(url.scheme);
  if (const auto nearest = nearest_name(url.scheme, schemes)) {
    text += "; did you mean " + quote(*nearest) + "?";
  } else if (plugin::whole_number(url.args) && url.raw == url.scheme + ":" + url.args) {
    text += "; a host and port need a scheme in front: SCHEME://" + url.raw;
  }
  text += "\n  looked for " + file_name(url.scheme) + " in";
  constexpr size_t kMostPlaces = 6;
  for (size_t i = 0; i < search_.places.size() && i < kMostPlaces; ++i) {
    text += "\n    " + describe(search_.places[i]);
  }
  if (search_.places.size() > kMostPlaces) {
    text += "\n    and " + std::to_string(search_.places.size() - kMostPlaces) + " more folders";
  }
  const std::string there = schemes.empty() ? "none" : join(schemes, ", ");
  return text + "\n  schemes that are there: " + first_lines(there, 1, 500);
}

std::vector<PluginHost::Candidate> PluginHost::candidates() const {
  std::map<std::string, std::vector<Candidate>> by_scheme;
  const auto add = [&](const std::string& scheme, const fs::path& file, const std::string& origin) {
    auto& same = by_scheme[scheme];
    same.push_back({scheme, file, origin, !same.empty()});
  };
  for (const auto& [scheme, file] : search_.libraries) {
    add(scheme, file, "setting " + library_setting(scheme));
  }
  for (const PluginPlace& place : search_.places) {
    for (const std::string& scheme : schemes_in(place.folder)) {
      add(scheme, place.folder / file_name(scheme), place.origin);
    }
  }
  std::vector<Candidate> all;
  for (auto& [scheme, same] : by_scheme)
    std::move(same.begin(), same.end(), std::back_inserter(all));
  return all;
}

std::vector<PluginSetting> PluginHost::all_settings() const {
  std::vector<PluginSetting> settings;
  const auto add = [&](const LoadedPlugin& plugin) {
    const auto& own = plugin.description().settings;
    settings.insert(settings.end(), own.begin(), own.end());
  };
  for (const EntryFunction entry : search_.registry.entries()) add(LoadedPlugin(entry(), {}));
  for (const Candidate& candidate : candidates()) {
    const PluginFile file = inspect_plugin(candidate.file);
    if (file.plugin) add(*file.plugin);
  }
  return settings;
}

}  // namespace tenon::host
