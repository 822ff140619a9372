// The `tenon` command.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "command.hpp"
#include "common/console.hpp"
#include "common/exit_codes.hpp"

namespace tenon::tool {
namespace {

int dispatch(Arguments arguments) {
  if (arguments.empty()) {
    throw Error(ErrorKind::usage, "which command? See 'tenon help'");
  }
  std::string name = arguments.front();
  arguments.erase(arguments.begin());
  if (name == "--version" || name == "-V") name = "version";
  if (name == "--help" || name == "-h") name = "help";
  if (const Command* command = find_command(name)) return command->run(arguments);
  if (name.starts_with('-')) refuse_name("option", name, {"--version", "--help"});
  std::vector<std::string> names;
  for (const Command& known : commands()) names.emplace_back(known.name);
  refuse_name("command", name, names);
}

int fail(const std::string& text, int code) {
  console::write_line("tenon: " + text);
  return code;
}

int guarded(const Arguments& arguments) {
  try {
    const int code = dispatch(arguments);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      return fail(std::string("cannot write to stdout: ") + std::strerror(errno),
                  exit_codes::kFailed);
    }
    return code;
  } catch (const Error& error) {
    return fail(error.what(), error.code());
  } catch (const std::exception& error) {
    return fail(error.what(), exit_codes::kFailed);
  }
}

}  // namespace
}  // namespace tenon::tool

int main(int argc, char** argv) { return tenon::tool::guarded({argv + 1, argv + argc}); }
