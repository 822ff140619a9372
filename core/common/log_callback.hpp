// Where a component's log lines go; handed in by whoever creates the component.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace tenon {

enum class LogLevel : uint8_t { debug, info, warn, error };

// Without a function: nowhere. Used on the thread of the component that holds it.
class LogCallback {
 public:
  LogCallback() = default;
  explicit LogCallback(std::function<void(LogLevel, std::string)> write,
                       LogLevel least = LogLevel::info)
      : write_(std::move(write)), least_(least) {}

  [[nodiscard]] bool enabled(LogLevel level) const { return level >= least_ && write_; }

  // make builds the text, only when it is wanted.
  template <class Make>
  void write(LogLevel level, Make&& make) const {
    if (enabled(level)) write_(level, std::forward<Make>(make)());
  }
  void info(std::string text) const { line(LogLevel::info, std::move(text)); }
  void warn(std::string text) const { line(LogLevel::warn, std::move(text)); }
  void error(std::string text) const { line(LogLevel::error, std::move(text)); }

 private:
  void line(LogLevel level, std::string text) const {
    if (enabled(level)) write_(level, std::move(text));
  }

  std::function<void(LogLevel, std::string)> write_;
  LogLevel least_ = LogLevel::info;
};

}  // namespace tenon
