#include "setting_options.hpp"

#include <CLI/CLI.hpp>

#include "common/text.hpp"
#include "tenon/error.hpp"

namespace tenon::tool {
namespace {

conf::Entry parse_conf_option(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string key(trim(std::string_view(text).substr(0, equals)));
  if (equals == std::string::npos || key.empty()) {
    throw Error(ErrorKind::usage, "--conf " + quote(text) + ": it must be KEY=VALUE");
  }
  if (key.find_first_of(" \t\n\r") != std::string::npos) {
    throw Error(ErrorKind::usage, "--conf " + quote(text) + ": a blank in the key");
  }
  return {key, text.substr(equals + 1), "--conf"};
}

}  // namespace

void SettingOptions::add_few(CLI::App& app) {
  app.add_option("--master", master_,
                 "Where the program runs: 'local[4]', 'local[*]' or any plugin's URL")
      ->type_name("URL")
      ->take_last();
  app.add_option("-c,--conf", conf_, "A setting; may be given again")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void SettingOptions::add_all(CLI::App& app) {
  add_few(app);
  app.add_option("--name", name_, "Name of the application")->type_name("NAME")->take_last();
  app.add_option("--properties-file", properties_file_,
                 "File of settings, lines 'KEY VALUE', in place of tenon.conf")
      ->type_name("FILE")
      ->take_last();
  app.add_flag("--load-defaults", load_defaults_,
               "With --properties-file: read tenon.conf too, below that file");
  app.add_flag("-v,--verbose", verbose_, "Say what happens (level info)");
  app.add_flag("-q,--quiet", quiet_, "Errors only, no progress bar");
  app.add_option("--log-level", log_level_, "Such as info, or info,scheduler=debug")
      ->type_name("LEVEL")
      ->take_last();
}

conf::Handover SettingOptions::handover() const {
  if (verbose_ && quiet_) throw Error(ErrorKind::usage, "--verbose and --quiet exclude each other");
  conf::Handover handover;
  if (properties_file_) {
    handover.properties_file = conf::read_conf_file(*properties_file_);
    handover.has_properties_file = true;
  }
  handover.load_defaults = load_defaults_;
  for (const std::string& text : conf_) handover.options.push_back(parse_conf_option(text));
  const auto add = [&](const char* key, const std::optional<std::string>& value,
                       const char* option) {
    if (value) handover.options.push_back({key, *value, option});
  };
  const auto given = [](bool flag, const char* value) {
    return flag ? std::optional<std::string>(value) : std::nullopt;
  };
  add("tenon.master", master_, "--master");
  add("tenon.app.name", name_, "--name");
  add("tenon.log.level", given(verbose_, "info"), "--verbose");
  add("tenon.log.level", given(quiet_, "error"), "--quiet");
  add("tenon.ui.showConsoleProgress", given(quiet_, "false"), "--quiet");
  add("tenon.log.level", log_level_, "--log-level");
  return handover;
}

void append(conf::Handover& handover, const conf::Handover& more) {
  handover.options.insert(handover.options.end(), more.options.begin(), more.options.end());
}

}  // namespace tenon::tool
