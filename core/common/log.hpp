// Logging: one logger a component, lines on stderr. Off (below the level) a call costs one relaxed
// load.
//
//   static const log::Logger kLog = log::logger("scheduler");
//   kLog.warn("executor lost, executor=" + id);
//   kLog.debug([&] { return "offer " + describe(offer); });  // built only when debug is on
//
// Messages end without a period and name ids as key=value.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace tenon::log {

enum class Level : uint8_t { trace, debug, info, warn, error, off };

// "info"; nothing when it is none of the names of Level.
std::optional<Level> parse_level(std::string_view text);
std::string_view to_string(Level level);

// What is logged: a level for all components and others for some.
struct Levels {
  Level all = Level::warn;
  std::map<std::string, Level, std::less<>> components;
};

// "info,scheduler=debug": a level, component=level pairs, or both; the last wins. Nothing when the
// text is anything else.
std::optional<Levels> parse_levels(std::string_view text);

enum class Format : uint8_t { text, json };

// Holds for loggers that exist and for those to come. The start is Levels{} as text. [any-thread]
void configure(const Levels& levels, Format format = Format::text);

struct Component;  // what all loggers of one name share

// A cheap value; outlives main and static destruction. [any-thread]
class Logger {
 public:
  [[nodiscard]] bool enabled(Level level) const noexcept { return level >= level_->load(kRelaxed); }

  // A message is text, or a function that makes it and is called only when the level is on.
  template <class Message>
  void log(Level level, Message&& message) const {
    if (!enabled(level)) return;
    if constexpr (std::is_invocable_v<Message>) {
      write(level, message());
    } else {
      write(level, message);
    }
  }
  template <class Message>
  void trace(Message&& message) const {
    log(Level::trace, message);
  }
  template <class Message>
  void debug(Message&& message) const {
    log(Level::debug, message);
  }
  template <class Message>
  void info(Message&& message) const {
    log(Level::info, message);
  }
  template <class Message>
  void warn(Message&& message) const {
    log(Level::warn, message);
  }
  template <class Message>
  void error(Message&& message) const {
    log(Level::error, message);
  }

 private:
  friend Logger logger(std::string_view name);
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  explicit Logger(Component& component);
  void write(Level level, std::string_view message) const;

  Component* component_;
  const std::atomic<Level>* level_;
};

// The logger of a component: lower-case letters, digits, '-', '_' and '.'. The same component for
// the same name. [any-thread]
Logger logger(std::string_view name);

}  // namespace tenon::log
