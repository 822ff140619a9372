#include "task/pool_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <system_error>

#include "tenon/error.hpp"

namespace tenon::task {
namespace {

constexpr const char* kKey = "tenon.scheduler.allocation.file";

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string in_quotes(std::string_view text) {
  std::string out("'");
  return out.append(text).append("'");
}

std::string read_all(const std::string& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (folder || !in.is_open()) {
    const int code = folder ? EISDIR : errno;
    throw Error(ErrorKind::usage, "Cannot read the pool file " + in_quotes(path) + " (" + kKey +
                                      "): " + std::generic_category().message(code));
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// What stands at a key, as text; nothing when the key is not there.
std::optional<std::string> value_text(const toml::table& table, const char* key) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return std::nullopt;
  if (const auto* text = node->as_string()) return std::string(trimmed(text->get()));
  std::ostringstream out;
  node->visit([&out](const auto& value) { out << value; });
  return out.str();
}

class PoolReader {
 public:
  PoolReader(const std::string& path, const LogCallback& log) : path_(path), log_(log) {}

  PoolSpec read(std::string_view name, const toml::table& table) const {
    PoolSpec pool;
    pool.name = trimmed(name);
    if (const auto text = value_text(table, "schedulingMode")) {
      const auto mode = parse_scheduling_mode(*text);
      if (!mode) bad(pool.name, "schedulingMode", *text, "FIFO");
      pool.mode = mode.value_or(SchedulingMode::fifo);
    }
    pool.min_share = number(table, pool.name, "minShare", 0, 0);
    pool.weight = number(table, pool.name, "weight", 1, 1);
    for (const auto& [key, value] : table) {
      if (key.str() == "schedulingMode" || key.str() == "minShare" || key.str() == "weight")
        continue;
      log_.warn("Unknown key " + in_quotes(key.str()) + " of pool " + in_quotes(pool.name) +
                " in " + path_ + "; a pool has schedulingMode, minShare and weight");
    }
    return pool;
  }

 private:
  int32_t number(const toml::table& table, const std::string& pool, const char* key, int32_t least,
                 int32_t otherwise) const {
    const auto text = value_text(table, key);
    if (!text) return otherwise;
    int32_t value = 0;
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, value);
    if (error == std::errc() && stop == end && value >= least) return value;
    bad(pool, key, *text, std::to_string(otherwise));
    return otherwise;
  }

  void bad(const std::string& pool, const char* key, const std::string& value,
           const std::string& otherwise) const {
    log_.warn("Bad value '" + value + "' of " + key + " of pool '" + pool + "' in " + path_ +
              ", using the default " + otherwise);
  }

  const std::string& path_;
  const LogCallback& log_;
};

[[noreturn]] void refuse_xml(const std::string& path) {
  throw Error(
      ErrorKind::usage,
      "The pool file '" + path + "' (" + kKey +
          ") is XML as Spark has it; pools are in TOML here. Write each <pool name=\"NAME\"> "
          "as:\n  [pools.NAME]\n  schedulingMode = \"FAIR\"\n  minShare = 2\n  weight = 1");
}

}  // namespace

std::string_view to_string(SchedulingMode mode) {
  return mode == SchedulingMode::fifo ? "FIFO" : "FAIR";
}

std::optional<SchedulingMode> parse_scheduling_mode(std::string_view text) {
  std::string upper(trimmed(text));
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (upper == "FIFO") return SchedulingMode::fifo;
  if (upper == "FAIR") return SchedulingMode::fair;
  return std::nullopt;
}

SchedulingMode scheduler_mode(std::string_view setting) {
  if (const auto mode = parse_scheduling_mode(setting)) return *mode;
  throw Error(ErrorKind::usage, "Unsupported tenon.scheduler.mode: " + std::string(setting) +
                                    " (it is FIFO or FAIR)");
}

std::vector<PoolSpec> read_pool_file(const std::string& path, const LogCallback& log) {
  const std::string text = read_all(path);
  if (trimmed(text).starts_with('<') || trimmed(text).starts_with("\xef\xbb\xbf<")) {
    refuse_xml(path);
  }
  toml::table file;
  try {
    file = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw Error(ErrorKind::usage, "The pool file '" + path + "' (" + kKey + ") is no TOML: line " +
                                      std::to_string(error.source().begin.line) + ": " +
                                      std::string(error.description()));
  }
  std::vector<PoolSpec> pools;
  const toml::table* all = file["pools"].as_table();
  for (const auto& [key, value] : file) {
    if (key.str() != "pools") {
      log.warn("Unknown key " + in_quotes(key.str()) + " in " + path +
               "; pools stand in tables [pools.NAME]");
    }
  }
  if (all == nullptr) return pools;
  for (const auto& [name, value] : *all) {
    if (const toml::table* table = value.as_table()) {
      pools.push_back(PoolReader(path, log).read(name.str(), *table));
    } else {
      log.warn(in_quotes(name.str()) + " in " + path + " is no table [pools.NAME]");
    }
  }
  return pools;
}

}  // namespace tenon::task
