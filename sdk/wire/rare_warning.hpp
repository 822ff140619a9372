// A line at most once a second, with the number of those that were left out. Private to sdk/wire.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace tenon::wire {

class RareWarning {
 public:
  explicit RareWarning(std::function<void(const std::string&)> warn) : warn_(std::move(warn)) {}

  void say(std::string line) {
    const auto now = std::chrono::steady_clock::now();
    if (!warn_ || (said_ && now - last_ < std::chrono::seconds(1))) {
      ++left_out_;
      return;
    }
    if (left_out_ > 0) line += " (" + std::to_string(left_out_) + " more before)";
    said_ = true;
    last_ = now;
    left_out_ = 0;
    warn_(line);
  }

 private:
  const std::function<void(const std::string&)> warn_;
  bool said_ = false;
  std::chrono::steady_clock::time_point last_;
  uint64_t left_out_ = 0;
};

}  // namespace tenon::wire
