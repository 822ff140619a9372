#include <CLI/CLI.hpp>
#include <algorithm>

#include "command.hpp"
#include "common/exit_codes.hpp"

namespace tenon::tool {
namespace {

constexpr std::string_view kPage =
    R"(Tenon runs data-parallel C++ programs: on the threads of this machine, or on a cluster
that a plugin knows.

Usage: tenon COMMAND [options]

Run programs
  submit    start a program with a master URL and settings
  run       run an example, or a program
Look around
  config    list the settings, show those that hold here
  plugin    list the plugins, show one
  version   print the version
  help      help on a command; 'tenon help exit-codes' for exit codes

Examples
  tenon run wordcount README.md
  tenon submit --master 'local[4]' ./my-program input.txt
  tenon config show --origin
)";

std::string padded(std::string_view text, size_t width) {
  std::string result(text);
  result.resize(std::max(width, text.size()), ' ');
  return result;
}

void exit_code_page() {
  print("CODE   MEANING\n");
  for (const exit_codes::Row& row : exit_codes::table()) {
    print(padded(row.code, 7) + std::string(row.meaning) + "\n");
  }
}

}  // namespace

int help(const Arguments& arguments) {
  if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h") {
    print(kPage);
    return 0;
  }
  if (arguments.front() == "exit-codes") {
    exit_code_page();
    return 0;
  }
  const Command* command = find_command(arguments.front());
  if (command != nullptr) return command->run({"--help"});
  std::vector<std::string> topics = {"exit-codes"};
  for (const Command& known : commands()) topics.emplace_back(known.name);
  refuse_name("help topic", arguments.front(), topics);
}

int version(const Arguments& arguments) {
  const auto app = make_app("version", "version", "Prints the version.");
  if (!parse(*app, arguments)) return 0;
  print("tenon " TENON_VERSION "\n");
  return 0;
}

}  // namespace tenon::tool
