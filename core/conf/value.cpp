#include "conf/value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "common/text.hpp"

namespace tenon::conf {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};

constexpr int64_t kKi = 1024;
constexpr Unit kSizeUnits[] = {
    {"b", 1},
    {"k", kKi},
    {"m", kKi* kKi},
    {"g", kKi* kKi* kKi},
    {"t", kKi* kKi* kKi* kKi},
    {"p", kKi* kKi* kKi* kKi* kKi},
};
constexpr int64_t kSecond = 1'000'000'000;
constexpr Unit kTimeUnits[] = {
    {"ns", 1},           {"us", 1'000},         {"ms", 1'000'000},     {"s", kSecond},
    {"m", 60 * kSecond}, {"min", 60 * kSecond}, {"h", 3600 * kSecond}, {"d", 86'400 * kSecond},
};

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
  const auto unit = std::ranges::find(units, name, &Unit::name);
  return unit == units.end() ? nullptr : &*unit;
}

// A number of at least 0, with or without a fraction, and a unit; the product is rounded down.
std::optional<int64_t> parse_quantity(std::string_view number, const Unit& unit) {
  if (number.empty() || number.find_first_not_of("0123456789.") != std::string_view::npos) {
    return std::nullopt;
  }
  if (number.find('.') == std::string_view::npos) {
    const std::optional<int64_t> whole = parse_number<int64_t>(number);
    int64_t product = 0;
    if (!whole || __builtin_mul_overflow(*whole, unit.factor, &product)) return std::nullopt;
    return product;
  }
  const std::optional<double> fraction = parse_number<double>(number);
  if (!fraction) return std::nullopt;
  const double product = *fraction * static_cast<double>(unit.factor);
  if (product >= static_cast<double>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(product);
}

struct Split {
  std::string_view number, unit;
};

Split split(std::string_view text) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  return {text.substr(0, end), trim(text.substr(end))};
}

std::optional<int64_t> parse_with_unit(std::string_view text, std::span<const Unit> units,
                                       std::string_view bare_unit, bool size) {
  const std::string lowered = to_lower(trim(text));
  auto [number, name] = split(lowered);
  if (size && name.size() > 1 && name.ends_with("ib")) name.remove_suffix(2);
  if (size && name.size() > 1 && name.ends_with("b")) name.remove_suffix(1);
  if (split(lowered).unit.empty()) {
    if (number == "0") return 0;
    name = bare_unit;
  }
  const Unit* unit = find_unit(units, name);
  return unit == nullptr ? std::nullopt : parse_quantity(number, *unit);
}

}  // namespace

std::optional<bool> parse_bool(std::string_view text) {
  const std::string lowered = to_lower(trim(text));
  if (lowered == "true") return true;
  if (lowered == "false") return false;
  return std::nullopt;
}

std::optional<int64_t> parse_int(std::string_view text) {
  return parse_number<int64_t>(trim(text));
}

std::optional<double> parse_double(std::string_view text) {
  const std::optional<double> value = parse_number<double>(trim(text));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<uint64_t> parse_size(std::string_view text, std::string_view bare_unit) {
  const std::optional<int64_t> bytes = parse_with_unit(text, kSizeUnits, bare_unit, true);
  if (!bytes) return std::nullopt;
  return static_cast<uint64_t>(*bytes);
}

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text,
                                                       std::string_view bare_unit) {
  const std::optional<int64_t> ns = parse_with_unit(text, kTimeUnits, bare_unit, false);
  if (!ns) return std::nullopt;
  return std::chrono::nanoseconds(*ns);
}

std::vector<std::string> parse_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (const std::string_view part = trim(text.substr(0, end)); !part.empty()) {
      parts.emplace_back(part);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace tenon::conf
