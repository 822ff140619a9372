#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "command.hpp"
#include "context/resolve_settings.hpp"
#include "setting_options.hpp"
#include "settings_documents.hpp"

namespace tenon::tool {
namespace {

// Core's settings, then those that plugins on the search path describe and core does not have.
std::vector<conf::SettingSpec> all_specs() {
  conf::ResolveInput input;
  const conf::Settings settings = conf::Settings::resolve(input);
  const host::PluginHost plugins(context::plugin_search(settings));
  std::map<std::string, conf::SettingSpec> specs;
  for (const conf::SettingSpec& spec : conf::core_settings()) specs.emplace(spec.key, spec);
  for (const conf::SettingSpec& spec : context::to_specs(plugins.all_settings())) {
    specs.emplace(spec.key, spec);
  }
  std::vector<conf::SettingSpec> sorted;
  for (auto& [key, spec] : specs) sorted.push_back(std::move(spec));
  return sorted;
}

int list(const Arguments& arguments) {
  const auto app =
      make_app("config list", "config list [--doc | --template | --markdown]",
               "Every setting with its type and default, those of the plugins included.");
  bool doc = false, as_template = false, markdown = false;
  CLI::Option* doc_flag = app->add_flag("--doc", doc, "Also what each one means and may be");
  CLI::Option* template_flag = app->add_flag("--template", as_template,
                                             "As conf/tenon.conf.template, core's settings alone");
  CLI::Option* markdown_flag =
      app->add_flag("--markdown", markdown, "As docs/settings.md, core's settings alone");
  doc_flag->excludes(template_flag)->excludes(markdown_flag);
  template_flag->excludes(markdown_flag);
  if (!parse(*app, arguments)) return 0;
  if (as_template) {
    print(conf_template());
  } else if (markdown) {
    print(settings_page());
  } else {
    print(doc ? settings_paragraphs(all_specs()) : settings_table(all_specs()));
  }
  return 0;
}

std::string origin_of(const conf::Value& value) {
  std::string text(to_string(value.source));
  if (!value.where.empty()) text += ": " + value.where;
  if (value.unused) text += " (of another plugin, unused)";
  return text;
}

int show(const Arguments& arguments) {
  const auto app =
      make_app("config show", "config show [--origin] [options of submit]",
               "The settings that a program would have when it is started here with these "
               "options and sets none itself.");
  bool origin = false;
  SettingOptions options;
  app->add_flag("--origin", origin, "Also where each value comes from");
  options.add_all(*app);
  if (!parse(*app, arguments)) return 0;
  conf::ResolveInput input;
  input.handover = options.handover();
  const conf::Settings settings = context::resolve_settings(std::move(input));
  std::map<std::string, std::string> texts;
  size_t widest_key = 0, widest_text = 0;
  for (const auto& [key, value] : settings.values()) {
    const std::string& text = texts.emplace(key, settings.shown(key)).first->second;
    widest_key = std::max(widest_key, key.size());
    widest_text = std::max(widest_text, std::min<size_t>(text.size(), 30));
  }
  for (const auto& [key, text] : texts) {
    std::string line = key;
    line.append(widest_key - key.size() + 2, ' ').append(text);
    if (origin) {
      line.append(text.size() < widest_text ? widest_text - text.size() : 0, ' ');
      line.append("  ").append(origin_of(*settings.find(key)));
    }
    print(line.substr(0, line.find_last_not_of(' ') + 1) + "\n");
  }
  return 0;
}

}  // namespace

int config(const Arguments& arguments) {
  const std::string name = arguments.empty() ? "--help" : arguments.front();
  const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (name == "list") return list(rest);
  if (name == "show") return show(rest);
  if (name != "--help" && name != "-h") refuse_name("config command", name, {"list", "show"});
  print(
      "Usage: tenon config list [--doc]      every setting with its type and default\n"
      "       tenon config show [--origin]   what holds here, and where it comes from\n");
  return 0;
}

}  // namespace tenon::tool
