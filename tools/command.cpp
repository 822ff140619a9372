#include "command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "common/text.hpp"

namespace tenon::tool {
namespace {

constexpr Command kCommands[] = {
    {"submit", "start a program with a master URL and settings", submit},
    {"run", "run an example, or a program", run},
    {"config", "list the settings, show those that hold here", config},
    {"plugin", "list the plugins, show one", plugin},
    {"version", "print the version", version},
    {"help", "help on a command, or 'tenon help exit-codes'", help},
};

class HelpFormatter final : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: tenon " + usage_ + "\n";
  }

 private:
  std::string usage_;
};

[[noreturn]] void refuse_option(const CLI::App& app, const std::string& option) {
  std::vector<std::string> names;
  for (const CLI::Option* known : app.get_options()) {
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  }
  refuse_name("option", option.substr(0, option.find('=')), names);
}

bool takes_value(const CLI::App& app, const std::string& name) {
  const CLI::Option* option = app.get_option_no_throw(name);
  return option != nullptr && option->get_items_expected_min() > 0;
}

// CLI11 gives `--option=` the next argument as its value: here it gets the empty one that it has.
Arguments with_empty_values(const CLI::App& app, const Arguments& arguments) {
  Arguments all;
  auto at = arguments.begin();
  for (; at != arguments.end() && at->starts_with('-') && *at != "--"; ++at) {
    const std::string name = at->substr(0, at->find('='));
    if (*at == name + '=' && takes_value(app, name)) {
      all.insert(all.end(), {name, ""});
      continue;
    }
    all.push_back(*at);
    if (*at == name && takes_value(app, name) && at + 1 != arguments.end()) all.push_back(*++at);
  }
  all.insert(all.end(), at, arguments.end());
  return all;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == std::end(kCommands) ? nullptr : &*found;
}

void refuse_name(const std::string& what, const std::string& name,
                 const std::vector<std::string>& names) {
  std::string text = "unknown " + what + " " + quote(name);
  if (const auto nearest = nearest_name(name, names)) text += "; did you mean " + *nearest + "?";
  throw Error(ErrorKind::usage, text);
}

std::unique_ptr<CLI::App> make_app(const std::string& command, const std::string& usage,
                                   const std::string& description) {
  auto app = std::make_unique<CLI::App>(description, command);
  app->formatter(std::make_shared<HelpFormatter>(usage));
  app->get_formatter()->column_width(32);
  return app;
}

bool parse(CLI::App& app, const Arguments& arguments, Arguments* rest) {
  app.prefix_command(rest != nullptr);
  app.allow_extras();
  try {
    Arguments all = with_empty_values(app, arguments);
    std::reverse(all.begin(), all.end());  // CLI11 takes them from the back
    app.parse(std::move(all));
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return false;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, app.get_name() + ": " + error.what());
  }
  Arguments left = app.remaining();
  if (!left.empty() && left.front() == "--") {
    left.erase(left.begin());
  } else if (!left.empty() && left.front().starts_with('-')) {
    refuse_option(app, left.front());
  }
  if (rest != nullptr) {
    *rest = std::move(left);
  } else if (!left.empty()) {
    throw Error(ErrorKind::usage, app.get_name() + ": unexpected argument " + quote(left.front()));
  }
  return true;
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace tenon::tool
