#include "conf/registry.hpp"

#include <algorithm>
#include <charconv>

#include "common/text.hpp"
#include "conf/value.hpp"
#include "tenon/error.hpp"

namespace tenon::conf {
namespace {

constexpr NamedVariable kNamedVariables[] = {
    {"TENON_MASTER", "tenon.master", false},  // else a job would run where nobody meant it to
    {"TENON_LOCAL_DIRS", "tenon.local.dirs", true},
    {"TENON_LOG", "tenon.log.level", true},
};

struct Range {
  std::string_view low, high;  // empty: open
};

std::optional<Range> range_of(const SettingSpec& spec) {
  const std::string_view check = spec.check;
  const size_t dots = check.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  return Range{check.substr(0, dots), check.substr(dots + 2)};
}

std::vector<std::string> words_of(const SettingSpec& spec) {
  std::vector<std::string> words;
  if (spec.check.empty() || range_of(spec)) return words;
  std::string_view rest = spec.check;
  while (true) {
    const size_t end = rest.find('|');
    words.emplace_back(trim(rest.substr(0, end)));
    if (end == std::string_view::npos) return words;
    rest.remove_prefix(end + 1);
  }
}

template <class T, class Parse>
bool in_range(const SettingSpec& spec, T value, const Parse& parse) {
  const std::optional<Range> range = range_of(spec);
  if (!range) return true;
  const std::optional<T> low = parse(range->low);  // nothing: open at this end
  const std::optional<T> high = parse(range->high);
  return (!low || value >= *low) && (!high || value <= *high);
}

template <class Parse>
bool fits(const SettingSpec& spec, std::string_view text, const Parse& parse) {
  const auto value = parse(text);
  return value && in_range(spec, *value, parse);
}

bool has_form(const SettingSpec& spec, std::string_view text) {
  switch (spec.type) {
    case Type::boolean:
      return parse_bool(text).has_value();
    case Type::integer:
      return fits(spec, text, parse_int);
    case Type::number:
      return fits(spec, text, parse_double);
    case Type::size:
      return fits(spec, text, [&](std::string_view t) { return parse_size(t, spec.bare_unit); });
    case Type::duration:
      return fits(spec, text,
                  [&](std::string_view t) { return parse_duration(t, spec.bare_unit); });
    case Type::string:
    case Type::list:
      return true;
  }
  return false;
}

std::string limits(const SettingSpec& spec) {
  const std::optional<Range> range = range_of(spec);
  if (!range) return "";
  if (range->high.empty()) {
    return range->low == "0" ? "" : ", " + std::string(range->low) + " or more";
  }
  if (range->high == "2147483647") return ", " + std::string(range->low) + " or more";
  if (range->low.empty()) return ", at most " + std::string(range->high);
  return ", from " + std::string(range->low) + " to " + std::string(range->high);
}

std::string_view unit_name(std::string_view unit) {
  if (unit == "b") return "bytes";
  if (unit == "m") return "MiB";
  return unit == "s" ? "seconds" : "milliseconds";
}

std::string bare_form(const SettingSpec& spec) {
  if (spec.bare_unit.empty()) return "";
  return " (a number alone means " + std::string(unit_name(spec.bare_unit)) + ")";
}

// The key is the spec's with a name, which has no point in it, in place of <...>.
bool matches(const SettingSpec& spec, std::string_view key) {
  const std::string_view form = spec.key;
  const size_t open = form.find('<');
  if (open == std::string_view::npos) return false;
  const std::string_view before = form.substr(0, open);
  const std::string_view after = form.substr(form.find('>') + 1);
  if (key.size() <= before.size() + after.size()) return false;
  if (!key.starts_with(before) || !key.ends_with(after)) return false;
  key.remove_prefix(before.size());
  key.remove_suffix(after.size());
  return key.find('.') == std::string_view::npos;
}

}  // namespace

std::string_view to_string(Type type) {
  switch (type) {
    case Type::string:
      return "string";
    case Type::boolean:
      return "bool";
    case Type::integer:
      return "int";
    case Type::number:
      return "double";
    case Type::size:
      return "size";
    case Type::duration:
      return "duration";
    case Type::list:
      return "list";
  }
  return "unknown";
}

const SettingSpec* find_core_setting(std::string_view key) {
  const std::span<const SettingSpec> all = core_settings();
  const auto exact = std::ranges::lower_bound(all, key, {}, &SettingSpec::key);
  if (exact != all.end() && exact->key == key) return &*exact;
  const auto pattern =
      std::ranges::find_if(all, [&](const SettingSpec& spec) { return matches(spec, key); });
  return pattern == all.end() ? nullptr : &*pattern;
}

std::string allowed_form(const SettingSpec& spec) {
  if (const std::vector<std::string> words = words_of(spec); !words.empty()) {
    return "one of " + join(words, ", ");
  }
  switch (spec.type) {
    case Type::boolean:
      return "true or false";
    case Type::integer: {
      const std::optional<Range> range = range_of(spec);
      const bool natural = range && range->low == "0" && range->high.empty();
      return "a whole number" + (natural ? ", 0 or more" : limits(spec));
    }
    case Type::number:
      return "a number" + limits(spec);
    case Type::size:
      return "a size such as 512m or 2g" + limits(spec) + bare_form(spec);
    case Type::duration:
      return "a duration such as 10s, 100ms or 1h" + limits(spec) + bare_form(spec);
    case Type::list:
      return "a list, by commas";
    case Type::string:
      break;
  }
  return "text";
}

std::string checked_value(const SettingSpec& spec, std::string_view text, std::string_view where) {
  const std::string_view value = trim(text);
  const auto refuse = [&](const std::string& rule) {
    throw Error(ErrorKind::usage, "setting " + spec.key + " has " +
                                      (spec.secret ? "a hidden value" : quote(value)) + " (" +
                                      std::string(where) + "): " + rule);
  };
  const bool may_be_empty = !spec.rule || !spec.rule("");
  if (value.empty() && spec.default_value.empty() && may_be_empty) return "";
  const std::vector<std::string> words = words_of(spec);
  if (!words.empty()) {
    for (const std::string& word : words) {
      if (equal_ignoring_case(word, value)) return word;
    }
    refuse("it must be " + allowed_form(spec));
  }
  if (!has_form(spec, value)) refuse("it must be " + allowed_form(spec));
  if (spec.rule) {
    if (const std::optional<std::string> problem = spec.rule(value)) refuse(*problem);
  }
  return std::string(value);
}

std::span<const NamedVariable> named_variables() { return kNamedVariables; }

}  // namespace tenon::conf
