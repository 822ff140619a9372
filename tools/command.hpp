// The sub-commands of the `tenon` command. Each takes the arguments after its name and gives the
// exit code; results go to stdout. Throws tenon::Error.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/error.hpp"

namespace CLI {
class App;
}

namespace tenon::tool {

using Arguments = std::vector<std::string>;

struct Command {
  std::string_view name, summary;
  int (*run)(const Arguments& arguments);
};
std::span<const Command> commands();
// nullptr when there is none.
const Command* find_command(std::string_view name);
// Throws Error (usage) with the nearest of the names.
[[noreturn]] void refuse_name(const std::string& what, const std::string& name,
                              const std::vector<std::string>& names);

int submit(const Arguments& arguments);
int run(const Arguments& arguments);
int config(const Arguments& arguments);
int plugin(const Arguments& arguments);
int version(const Arguments& arguments);
int help(const Arguments& arguments);

// An app whose help begins with this usage line ("submit [options] APP").
std::unique_ptr<CLI::App> make_app(const std::string& command, const std::string& usage,
                                   const std::string& description);

// Parses all arguments, or (when rest is given) those before the first that is none of the app's:
// the rest comes back, without a "--" in front. False: help was asked for and is printed. Throws
// Error (usage) that names the command, and the nearest name of an unknown option.
bool parse(CLI::App& app, const Arguments& arguments, Arguments* rest = nullptr);

// Writes to stdout. What stdout does not take is found by main at the end.
void print(std::string_view text);

}  // namespace tenon::tool
