#include "launch.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/text.hpp"

namespace tenon::tool {

std::string checked_program(const std::string& path) {
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorKind::usage, "cannot run " + quote(path) + ": " + problem);
  };
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) refuse(std::strerror(errno));
  if (S_ISDIR(info.st_mode)) refuse("it is a folder");
  if (::access(file.c_str(), X_OK) != 0) refuse("it is not executable; try chmod +x");
  return file;
}

void launch(const std::string& program, const Arguments& arguments,
            const conf::Handover& handover) {
  FileDescriptor settings;
  ::unsetenv(conf::kHandoverVariable);
  if (handover != conf::Handover{}) {
    settings = conf::make_handover(handover);
    ::setenv(conf::kHandoverVariable, std::to_string(settings.get()).c_str(), 1);
  }
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  throw Error(ErrorKind::usage, "cannot run " + quote(program) + ": " + std::strerror(errno));
}

}  // namespace tenon::tool
