#include "settings_documents.hpp"

#include <algorithm>

namespace tenon::tool {
namespace {

constexpr std::string_view kPageHead = R"(# Settings

Made by `tenon config list --markdown`; a test keeps it true. `tenon config show --origin` says what holds on this machine
and why.

## Where a value comes from

The first of these that has the key wins:

1. `Conf::set` in the program,
2. the command line: `--conf KEY=VALUE` and the named options (`--master`, `--name`, `--log-level`, ...) of `tenon submit`
   and `tenon run`; a named option wins over `--conf`, a later option over an earlier one,
3. a named variable: )";

constexpr std::string_view kPageMiddle = R"(,
4. the file of `--properties-file`, or else `tenon.conf` (with `--load-defaults` also `tenon.conf`, below that file),
5. the program's defaults, the argument of `Context`,
6. the default of the plugin that the master URL names,
7. the default below.

`tenon.conf` is looked for in `TENON_CONF_DIR` when that is set, else in `$TENON_HOME/conf`, in `conf/` of the source or
install tree, and in `/etc/tenon`. A line is `key value` or `key = value`; `#` begins a comment line.

An unknown key that begins with `tenon.` is an error (exit code 2) that names the nearest one, wherever it came from, and so
is a value of the wrong form. Other keys belong to the program and pass through. An empty value stands for the default.

## Forms

| type | form |
|---|---|
| bool | `true` or `false` |
| int, double | a number; the limits stand with the setting |
| size | `512m`, `1.5g`: units `b k m g t p` of 1024 |
| duration | `10s`, `100ms`, `1h`: units `ns us ms s m min h d` |
| list | parts with commas between them |

A size or duration that is a number alone has the unit that stands with the setting.

## Keys

| key | type | default | allowed | meaning |
|---|---|---|---|---|
)";

constexpr std::string_view kTemplateHead =
    R"(# tenon.conf: settings for all programs on this machine. Copy it to tenon.conf in the same folder, to /etc/tenon/ or to
# $TENON_CONF_DIR. Lines are "key value" or "key = value". Each key stands here with its default; docs/settings.md says
# more. Made by 'tenon config list --template'.
)";

std::string padded(const std::string& text, size_t width) {
  std::string result = text;
  result.resize(std::max(width, text.size()), ' ');
  return result;
}

std::string escaped_for_table(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

std::string code(const std::string& text) {
  return text.empty() ? "" : "`" + escaped_for_table(text) + "`";
}

// Lines of at most `width` characters, each after `start`.
std::string wrapped(const std::string& text, const std::string& start, size_t width) {
  std::string result, line = start;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (line.size() + 1 + (end - at) > width && line.size() > start.size()) {
      result += line + "\n";
      line = start;
    }
    if (line.size() > start.size()) line += ' ';
    line.append(text, at, end - at);
    at = end + 1;
  }
  return result + line + "\n";
}

}  // namespace

std::string settings_table(std::span<const conf::SettingSpec> specs) {
  size_t widest = 0;
  for (const conf::SettingSpec& spec : specs) widest = std::max(widest, spec.key.size());
  std::string result;
  for (const conf::SettingSpec& spec : specs) {
    std::string line = padded(spec.key, widest) + "  " +
                       padded(std::string(to_string(spec.type)), 8) + "  " + spec.default_value;
    line.resize(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  }
  return result;
}

std::string settings_paragraphs(std::span<const conf::SettingSpec> specs) {
  std::string result;
  for (const conf::SettingSpec& spec : specs) {
    result += spec.key + "\n" + wrapped(spec.doc, "    ", 100) + "    Form: " + allowed_form(spec);
    if (!spec.default_value.empty()) result += ". Default: " + spec.default_value;
    result += "\n";
  }
  return result;
}

std::string conf_template() {
  std::string result(kTemplateHead);
  for (const conf::SettingSpec& spec : conf::core_settings()) {
    result += "\n" + wrapped(spec.doc, "# ", 120) + "# Form: " + allowed_form(spec) + "\n";
    result +=
        "#" + spec.key + (spec.default_value.empty() ? " =" : " " + spec.default_value) + "\n";
  }
  return result;
}

std::string settings_page() {
  std::string result(kPageHead);
  std::string separator;
  for (const conf::NamedVariable& variable : conf::named_variables()) {
    result += separator + "`" + variable.variable + "` (`" + std::string(variable.key) + "`)";
    separator = ", ";
  }
  result += kPageMiddle;
  for (const conf::SettingSpec& spec : conf::core_settings()) {
    result += "| " + code(spec.key) + " | " + std::string(to_string(spec.type)) + " | " +
              code(spec.default_value) + " | " + escaped_for_table(allowed_form(spec)) + " | " +
              escaped_for_table(spec.doc) + " |\n";
  }
  return result;
}

}  // namespace tenon::tool
