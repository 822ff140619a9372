#include <CLI/CLI.hpp>

#include "command.hpp"
#include "launch.hpp"
#include "setting_options.hpp"

namespace tenon::tool {

int submit(const Arguments& arguments) {
  const auto app =
      make_app("submit", "submit [options] [--] APP [arguments of the program...]",
               "Starts a program with a master URL and settings. Everything after APP is "
               "the program's; its exit code is this command's.");
  SettingOptions settings;
  settings.add_all(*app);
  Arguments rest;
  if (!parse(*app, arguments, &rest)) return 0;
  if (rest.empty())
    throw Error(ErrorKind::usage, "submit: which program? See 'tenon submit --help'");
  launch(checked_program(rest.front()), {rest.begin() + 1, rest.end()}, settings.handover());
}

}  // namespace tenon::tool
