#include "common/log.hpp"

#include <spdlog/details/null_mutex.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "common/console.hpp"
#include "common/text.hpp"

namespace tenon::log {

struct Component {
  std::string name;
  std::atomic<Level> level;
  std::shared_ptr<spdlog::logger> out;
};

namespace {

constexpr std::array<std::string_view, 6> kNames = {"trace", "debug", "info",
                                                    "warn",  "error", "off"};

bool is_component_name(std::string_view name) {
  return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") ==
                              std::string_view::npos;
}

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::trace:
      return spdlog::level::trace;
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warn:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::off:
      break;
  }
  return spdlog::level::off;
}

// "INFO ", padded to the widest name.
class LevelFlag final : public spdlog::custom_flag_formatter {
 public:
  explicit LevelFlag(bool padded) : padded_(padded) {}
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    constexpr std::array<std::string_view, 7> kUpper = {"TRACE", "DEBUG", "INFO", "WARN",
                                                        "ERROR", "ERROR", "OFF"};
    std::string text(kUpper.at(static_cast<size_t>(message.level)));
    if (padded_) text.resize(5, ' ');
    out.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelFlag>(padded_);
  }

 private:
  bool padded_;
};

// The message inside a JSON string.
class JsonMessageFlag final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const std::string text = json_escaped({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JsonMessageFlag>();
  }
};

std::unique_ptr<spdlog::formatter> make_formatter(Format format) {
  constexpr auto kUtc = spdlog::pattern_time_type::utc;
  auto formatter = std::make_unique<spdlog::pattern_formatter>(kUtc, "");
  formatter->add_flag<LevelFlag>('L', format == Format::text).add_flag<JsonMessageFlag>('J');
  formatter->set_pattern(
      format == Format::text
          ? "%Y-%m-%dT%H:%M:%S.%eZ %L %-10n %v"
          : R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%L","component":"%n","message":"%J"})");
  return formatter;
}

class ConsoleSink final : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    console::write_line({line.data(), line.size()});
  }
  void flush_() override {}
};

class Registry {
 public:
  Registry() : sink_(std::make_shared<ConsoleSink>()) {
    sink_->set_formatter(make_formatter(Format::text));
  }

  Component& component(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::ranges::find_if(components_, [&](const auto& c) { return c->name == name; });
    if (found != components_.end()) return **found;
    auto made = std::make_unique<Component>();
    made->name = name;
    made->level = level_of(name);
    made->out = std::make_shared<spdlog::logger>(made->name, sink_);
    made->out->set_level(spdlog::level::trace);  // Component::level decides
    components_.push_back(std::move(made));
    return *components_.back();
  }

  void configure(const Levels& levels, Format format) {
    const std::lock_guard lock(mutex_);
    levels_ = levels;
    for (const std::unique_ptr<Component>& component : components_) {
      component->level = level_of(component->name);
    }
    sink_->set_formatter(make_formatter(format));
  }

 private:
  [[nodiscard]] Level level_of(std::string_view name) const {
    const auto own = levels_.components.find(name);
    return own == levels_.components.end() ? levels_.all : own->second;
  }

  std::mutex mutex_;  // guards all below
  Levels levels_;
  std::shared_ptr<ConsoleSink> sink_;
  std::vector<std::unique_ptr<Component>> components_;
};

Registry& registry() {
  static Registry& instance = *new Registry;  // lives for ever: destructors of statics log too
  return instance;
}

}  // namespace

std::string_view to_string(Level level) { return kNames.at(static_cast<size_t>(level)); }

std::optional<Level> parse_level(std::string_view text) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (equal_ignoring_case(trim(text), kNames.at(i))) return static_cast<Level>(i);
  }
  return std::nullopt;
}

std::optional<Levels> parse_levels(std::string_view text) {
  Levels levels;
  while (true) {
    const size_t end = text.find(',');
    const std::string_view part = text.substr(0, end);
    const size_t equals = part.find('=');
    const std::optional<Level> level =
        parse_level(equals == std::string_view::npos ? part : part.substr(equals + 1));
    if (!level) return std::nullopt;
    if (equals == std::string_view::npos) {
      levels.all = *level;
    } else {
      const std::string_view name = trim(part.substr(0, equals));
      if (!is_component_name(name)) return std::nullopt;
      levels.components.insert_or_assign(std::string(name), *level);
    }
    if (end == std::string_view::npos) return levels;
    text.remove_prefix(end + 1);
  }
}

void configure(const Levels& levels, Format format) { registry().configure(levels, format); }

Logger::Logger(Component& component) : component_(&component), level_(&component.level) {}

void Logger::write(Level level, std::string_view message) const {
  component_->out->log(to_spdlog(level), spdlog::string_view_t(message.data(), message.size()));
}

Logger logger(std::string_view name) { return Logger(registry().component(name)); }

}  // namespace tenon::log
