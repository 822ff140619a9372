#include "plugin/library.hpp"

#include <boost/dll/shared_library.hpp>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include "plugin/quote.hpp"
#include "tenon/error.hpp"
#include "tenon/plugin/text.hpp"

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& cause) { throw Error(ErrorKind::plugin, cause); }

void check_is_shared_object(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) refuse("no such file");
  if (!fs::is_regular_file(status)) refuse("is not a file");
  std::ifstream content(file, std::ios::binary);
  if (!content) refuse("cannot be read; check its permissions");
  std::string magic(4, '\0');
  content.read(magic.data(), 4);
  if (magic != "\177ELF") refuse("is not a shared object");
}

// Who may write the file or its folder can run code in every program that loads it.
void check_is_protected(const fs::path& file) {
  for (const fs::path& place : {file, file.parent_path()}) {
    const fs::perms open = fs::status(place).permissions() & fs::perms::others_write;
    if (open == fs::perms::none) continue;
    const std::string what = place == file ? "the file " : "the folder ";
    refuse(what + quote(place.string()) + " is world-writable; chmod o-w it");
  }
}

// Boost wraps dlerror's text, which names what is missing.
std::string load_error(const std::string& text) {
  constexpr std::string_view kBefore = "(dlerror system message: ", kAfter = "): ";
  std::string cause = first_lines(text, 2, 600);
  const size_t begin = cause.find(kBefore), end = cause.rfind(kAfter);
  if (begin != cause.npos && end != cause.npos && begin + kBefore.size() < end) {
    cause = cause.substr(begin + kBefore.size(), end - begin - kBefore.size());
  }
  if (cause.find("cannot open shared object file") != std::string::npos) {
    cause += "\n  a library that it needs is missing; ldd shows which";
  } else if (cause.find("undefined symbol") != std::string::npos) {
    cause += "\n  it uses a function that it was not linked with; link it with -Wl,--no-undefined";
  }
  return cause;
}

const boost::dll::shared_library& load(const fs::path& file) {
  static std::mutex mutex;  // guards the map
  // Never destroyed: code, static data and threads of a plugin may be in use until the process
  // ends.
  static auto& loaded = *new std::map<fs::path, boost::dll::shared_library>;
  const std::lock_guard lock(mutex);
  const auto known = loaded.find(file);
  if (known != loaded.end()) return known->second;
  try {
    using namespace boost::dll::load_mode;  // NOLINT(google-build-using-namespace): two flags
    boost::dll::shared_library library(file.string(), rtld_now | rtld_local);
    return loaded.emplace(file, std::move(library)).first->second;
  } catch (const std::exception& e) {
    refuse(load_error(e.what()));
  }
}

std::string own_abi() {
  return "this tenon (" TENON_VERSION ") offers ABI " + std::to_string(TENON_ABI_MAJOR) + "." +
         std::to_string(TENON_ABI_MINOR);
}

[[noreturn]] void refuse_no_entry(const boost::dll::shared_library& library) {
  for (int major = 0; major <= 99; ++major) {
    const std::string symbol = "tenon_plugin_v" + std::to_string(major);
    if (!library.has(symbol)) continue;
    // Name and version have the same place in every major.
    const tenon_plugin* const other = library.get<const tenon_plugin*()>(symbol)();
    std::string who;
    if (other != nullptr) {
      who = " (" + std::string(plugin::view(other->name)) + " " +
            std::string(plugin::view(other->version)) + ")";
    }
    refuse("the plugin" + who + " needs ABI " + std::to_string(major) + ", " + own_abi());
  }
  refuse("has no entry function " TENON_ENTRY_SYMBOL ", so it is no tenon plugin");
}

}  // namespace

const tenon_plugin* load_library(const fs::path& file) {
  check_is_shared_object(file);
  const fs::path canonical = fs::canonical(file);
  check_is_protected(fs::absolute(file).lexically_normal());
  check_is_protected(canonical);
  const boost::dll::shared_library& library = load(canonical);
  if (!library.has(TENON_ENTRY_SYMBOL)) refuse_no_entry(library);
  const tenon_plugin* const plugin = library.get<const tenon_plugin*()>(TENON_ENTRY_SYMBOL)();
  if (plugin == nullptr) refuse("its entry function returned nothing");
  return plugin;
}

}  // namespace tenon::host
