#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>

#include "command.hpp"
#include "common/text.hpp"
#include "launch.hpp"
#include "setting_options.hpp"

namespace tenon::tool {
namespace fs = std::filesystem;
namespace {

// Beside the tool in a build tree, under share in an install tree.
std::vector<fs::path> example_folders() {
  std::error_code error;
  const fs::path tool = fs::read_symlink("/proc/self/exe", error).parent_path();
  return {tool / "examples", tool.parent_path() / "share/tenon/examples"};
}

bool is_program(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::is_regular_file(status) &&
         (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
}

std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const fs::path& folder : example_folders()) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (is_program(it->path())) names.push_back(it->path().filename().string());
    }
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

std::optional<std::string> find_example(const std::string& name) {
  if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos)
    return std::nullopt;
  for (const fs::path& folder : example_folders()) {
    if (is_program(folder / name)) return (folder / name).string();
  }
  return std::nullopt;
}

// An example by its name, else a program by its path.
std::string find_program(const std::string& name) {
  if (const auto example = find_example(name)) return *example;
  std::error_code error;
  if (name.find('/') != std::string::npos || fs::exists(name, error)) return checked_program(name);
  const std::vector<std::string> names = example_names();
  std::string text = "no example " + quote(name);
  if (const auto nearest = nearest_name(name, names)) text += "; did you mean " + *nearest + "?";
  text += names.empty() ? "\n  there are no examples in " + example_folders().front().string()
                        : "\n  examples: " + join(names, ", ");
  throw Error(ErrorKind::usage, text + "\n  a program of your own: tenon run ./PROGRAM");
}

struct Split {
  Arguments options, rest;
};

// `--master URL` and `--conf k=v` right after the program's name are the tool's too; the first
// thing that is neither, or a
// "--", begins the program's arguments.
Split split_after_name(const Arguments& arguments) {
  size_t i = 0;
  while (i < arguments.size()) {
    const std::string& option = arguments[i];
    if (option == "--master" || option == "--conf" || option == "-c") {
      i += 2;
    } else if (option.starts_with("--master=") || option.starts_with("--conf=")) {
      i += 1;
    } else {
      break;
    }
  }
  const auto end = arguments.begin() + static_cast<std::ptrdiff_t>(std::min(i, arguments.size()));
  Split split{{arguments.begin(), end}, {end, arguments.end()}};
  if (!split.rest.empty() && split.rest.front() == "--") split.rest.erase(split.rest.begin());
  return split;
}

}  // namespace

int run(const Arguments& arguments) {
  const std::vector<std::string> names = example_names();
  const auto app = make_app(
      "run",
      "run [options] EXAMPLE|PROGRAM [--master URL] [--conf KEY=VALUE]... [--] [arguments...]",
      "Runs an example" + (names.empty() ? "" : " (" + join(names, ", ") + ")") +
          " or a program, as 'tenon submit' does.");
  SettingOptions settings;
  settings.add_all(*app);
  Arguments rest;
  if (!parse(*app, arguments, &rest)) return 0;
  if (rest.empty()) throw Error(ErrorKind::usage, "run: which example? See 'tenon run --help'");
  const Split after = split_after_name({rest.begin() + 1, rest.end()});
  const auto app_after = make_app("run", "run", "");
  SettingOptions few;
  few.add_few(*app_after);
  parse(*app_after, after.options);
  conf::Handover handover = settings.handover();
  append(handover, few.handover());
  launch(find_program(rest.front()), after.rest, handover);
}

}  // namespace tenon::tool
