#include "plugin/plugin_list.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "common/text.hpp"
#include "plugin/quote.hpp"
#include "tenon/error.hpp"

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

using Cells = std::vector<std::string>;

// Columns as wide as their widest cell, two blanks between them; the last is not padded.
std::string table(const std::vector<Cells>& rows, std::string_view indent) {
  std::vector<size_t> widths;
  for (const Cells& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const Cells& row : rows) {
    std::string line(indent);
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string status_text(PluginRow::Status status) {
  switch (status) {
    case PluginRow::Status::ok:
      return "ok";
    case PluginRow::Status::shadowed:
      return "shadowed";
    case PluginRow::Status::refused:
      return "refused";
  }
  return "";
}

std::string file_text(const PluginHost::Candidate& candidate) {
  std::string text = candidate.file.string();
  std::error_code error;
  const fs::path target = fs::read_symlink(candidate.file, error);
  if (!error) text += " -> " + target.string();
  if (!candidate.origin.empty()) text += " (" + candidate.origin + ")";
  return text;
}

PluginRow row_of(const PluginHost::Candidate& candidate) {
  const PluginFile file = inspect_plugin(candidate.file);
  std::string refusal = file.refusal;
  if (file.plugin && !file.plugin->has_scheme(candidate.scheme)) {
    refusal = "takes " + join(file.plugin->description().schemes, ", ") + " only";
  }
  const auto or_dash = [](const std::string& text) {
    return text.empty() ? std::string("-") : text;
  };
  PluginRow row{candidate.scheme,  or_dash(file.name),    or_dash(file.version),
                or_dash(file.abi), PluginRow::Status::ok, file_text(candidate)};
  if (candidate.shadowed) {
    row.status = PluginRow::Status::shadowed;
  } else if (!refusal.empty()) {
    row.status = PluginRow::Status::refused;
    row.file += ": " + first_lines(refusal, 1, 300);
  }
  return row;
}

using Bits = std::vector<std::pair<uint64_t, std::string>>;

std::string words(uint64_t bits, const Bits& names) {
  std::vector<std::string> found;
  for (const auto& [bit, name] : names) {
    if ((bits & bit) != 0) found.push_back(name);
  }
  return found.empty() ? "none" : join(found, ", ");
}

std::string capabilities(uint64_t bits) {
  static const Bits kNames = {{TENON_CAN_RESIZE, "resize"},
                              {TENON_CAN_PLACE_BY_HOST, "place by host"},
                              {TENON_CAN_EXCLUDE_HOSTS, "exclude hosts"},
                              {TENON_CAN_DECOMMISSION, "decommission"},
                              {TENON_CAN_TELL_LOSS, "tell losses"},
                              {TENON_CAN_WARN_OF_PREEMPTION, "warn of preemption"},
                              {TENON_CAN_GIVE_LOGS, "give logs"},
                              {TENON_CAN_OUTLIVE_MANAGER, "outlive the manager"},
                              {TENON_CAN_GIVE_RESOURCES, "give custom resources"},
                              {TENON_IS_ONE_PROCESS, "one process"}};
  return words(bits, kNames);
}

std::string interfaces(const LoadedPlugin& plugin) {
  std::vector<std::string> found;
  for (const char* const id : {TENON_DESCRIPTION, TENON_SCHEDULER_BACKEND, TENON_EXECUTOR_BACKEND,
                               TENON_SUBMITTER, TENON_COMMANDS}) {
    if (plugin.get_interface(id) != nullptr) found.emplace_back(id);
  }
  return join(found, ", ");
}

std::string type_name(int32_t type) {
  static constexpr std::array<const char*, 8> kNames = {"?",      "string", "bool",     "int",
                                                        "double", "size",   "duration", "list"};
  const auto index = static_cast<size_t>(type);
  return type > 0 && index < kNames.size() ? kNames[index] : kNames[0];
}

}  // namespace

std::vector<PluginRow> list_plugins(const PluginHost& host) {
  std::vector<PluginRow> rows;
  for (const auto& candidate : host.candidates()) rows.push_back(row_of(candidate));
  return rows;
}

std::string format_plugin_list(const PluginHost& host, bool verbose) {
  std::vector<Cells> cells = {{"SCHEME", "NAME", "VERSION", "ABI", "STATUS", "FILE"}};
  for (PluginRow& row : list_plugins(host)) {
    if (row.status == PluginRow::Status::shadowed && !verbose) continue;
    cells.push_back(
        {row.scheme, row.name, row.version, row.abi, status_text(row.status), row.file});
  }
  std::string out = table(cells, "");
  if (cells.size() > 1) return out;
  out += "no plugins; looked in\n";
  for (const PluginPlace& place : host.search().places) out += "  " + place.folder.string() + "\n";
  return out;
}

std::string format_plugin_info(const fs::path& file) {
  const PluginFile found = inspect_plugin(fs::absolute(file).lexically_normal());
  if (!found.plugin) {
    throw Error(ErrorKind::plugin,
                "cannot load plugin " + quote(found.file.string()) + ": " + found.refusal);
  }
  const LoadedPlugin& plugin = *found.plugin;
  const PluginDescription& description = plugin.description();
  std::string out =
      table({{"name", plugin.name()},
             {"version", plugin.version()},
             {"ABI", found.abi},
             {"file", found.file.string()},
             {"summary", description.summary},
             {"schemes", join(description.schemes, ", ")},
             {"deploy modes", words(description.deploy_modes, {{TENON_DEPLOY_CLIENT, "client"},
                                                               {TENON_DEPLOY_CLUSTER, "cluster"}})},
             {"capabilities", capabilities(description.capabilities)},
             {"interfaces", interfaces(plugin)}},
            "");
  std::vector<Cells> settings, options;
  for (const PluginSetting& setting : description.settings) {
    settings.push_back({setting.key, type_name(setting.type),
                        setting.default_value.empty() ? "-" : setting.default_value,
                        setting.check.empty() ? "-" : setting.check, setting.doc});
  }
  for (const SubmitOption& option : description.submit_options) {
    options.push_back({option.option, option.value_name, option.key, option.doc});
  }
  if (!settings.empty()) out += "settings\n" + table(settings, "  ");
  if (!options.empty()) out += "submit options\n" + table(options, "  ");
  return out;
}

}  // namespace tenon::host
