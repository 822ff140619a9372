// The registry of settings as text: for a terminal, as tenon.conf.template, as docs/settings.md.
#pragma once

#include <span>
#include <string>

#include "conf/registry.hpp"

namespace tenon::tool {

// "key  type  default", or with docs a paragraph for each.
std::string settings_table(std::span<const conf::SettingSpec> specs);
std::string settings_paragraphs(std::span<const conf::SettingSpec> specs);

// Of core's settings alone, so that the text is the same everywhere.
std::string conf_template();
std::string settings_page();

}  // namespace tenon::tool
