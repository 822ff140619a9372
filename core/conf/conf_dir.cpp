#include "conf/conf_dir.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "tenon/error.hpp"

namespace tenon::conf {
namespace fs = std::filesystem;
namespace {

// The file that this code was loaded from: libtenon, or a program that it was linked into.
std::optional<fs::path> own_file() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&conf_dirs), &info) == 0) return std::nullopt;
  std::error_code error;
  fs::path path = fs::canonical(info.dli_fname, error);
  if (error) path = fs::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  return path;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

// conf/ of the tree that our file stands in: none for a program of somebody else that libtenon was
// linked into.
std::optional<fs::path> own_conf_dir() {
  const std::optional<fs::path> file = own_file();
  if (!file) return std::nullopt;
  if (is_below(*file, TENON_BUILD_DIR)) return TENON_SOURCE_CONF_DIR;
  const std::string name = file->filename().string();
  if (!name.starts_with("libtenon.so") && name != "tenon") return std::nullopt;
  return file->parent_path().parent_path() / "conf";
}

}  // namespace

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<std::string> not_empty(std::optional<std::string> value) {
  return value && value->empty() ? std::nullopt : value;
}

std::vector<std::string> conf_dirs(const Environment& environment) {
  if (const auto chosen = not_empty(environment("TENON_CONF_DIR"))) {
    std::error_code error;
    if (!fs::is_directory(*chosen, error)) {
      throw Error(ErrorKind::usage, "TENON_CONF_DIR is " + *chosen + ", which is not a folder");
    }
    return {*chosen};
  }
  std::vector<std::string> dirs;
  if (const auto home = not_empty(environment("TENON_HOME"))) dirs.push_back(*home + "/conf");
  if (const auto own = own_conf_dir()) dirs.push_back(own->string());
  dirs.emplace_back("/etc/tenon");
  return dirs;
}

std::optional<std::string> find_conf_file(const Environment& environment, const std::string& name) {
  for (const std::string& dir : conf_dirs(environment)) {
    std::string path = dir + "/" + name;
    std::error_code error;
    // A folder that we may not look into counts as one that has it: reading it then says so.
    if (fs::status(path, error).type() != fs::file_type::not_found) return path;
  }
  return std::nullopt;
}

}  // namespace tenon::conf
