#include "conf/tenon_conf_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/file_descriptor.hpp"
#include "common/text.hpp"
#include "tenon/error.hpp"

namespace tenon::conf {
namespace {

constexpr size_t kMaxFile = 4u << 20;

Entry parse_line(std::string_view line, const std::string& where) {
  const size_t end = line.find_first_of(" \t=");
  const std::string_view key = line.substr(0, end);
  if (key.empty()) {
    throw Error(ErrorKind::usage, where + ": no key before '='; a line is 'key value'");
  }
  if (end == std::string_view::npos) {
    throw Error(ErrorKind::usage,
                where + ": '" + std::string(key) + "' has no value; a line is 'key value'");
  }
  std::string_view value = trim(line.substr(end));
  if (value.starts_with('=')) value = trim(value.substr(1));
  return {std::string(key), std::string(value), where};
}

[[noreturn]] void cannot_read(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::usage, "cannot read the settings file " + path + ": " + why);
}

}  // namespace

std::vector<Entry> parse_conf(std::string_view text, const std::string& name) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<Entry> entries;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = trim(line);
    if (line.empty() || line.starts_with('#')) continue;
    const std::string where = name + ":" + std::to_string(number);
    if (line.find('\0') != std::string_view::npos) {
      throw Error(ErrorKind::usage, where + ": a NUL byte; this is not a settings file");
    }
    entries.push_back(parse_line(line, where));
  }
  return entries;
}

std::vector<Entry> read_conf_file(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) cannot_read(path, std::strerror(errno));
  std::string text;
  std::array<char, 16384> part;
  while (true) {
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) cannot_read(path, std::strerror(errno));
    if (count == 0) break;
    text.append(part.data(), static_cast<size_t>(count));
    if (text.size() > kMaxFile) cannot_read(path, "larger than 4 MiB");
  }
  return parse_conf(text, path);
}

}  // namespace tenon::conf
