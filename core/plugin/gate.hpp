// Lets calls through until it is closed.
#pragma once

#include <atomic>
#include <cstdint>

namespace tenon::host {

// [any-thread] A plugin's threads may still call after core has gone on without them; behind the
// gate nothing of core's is touched then.
class Gate {
 public:
  // True while the gate lets the call through; holds close() up until it is destroyed.
  class Pass {
   public:
    explicit Pass(Gate& gate) : gate_(gate), open_((gate.state_.fetch_add(1) & kClosed) == 0) {}
    ~Pass() {
      if ((gate_.state_.fetch_sub(1) & kClosed) != 0) gate_.state_.notify_all();
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    explicit operator bool() const { return open_; }

   private:
    Gate& gate_;
    bool open_;
  };

  // Returns when no call is inside. Not from within a call.
  void close() {
    uint64_t state = state_.fetch_or(kClosed) | kClosed;
    while (state != kClosed) {
      state_.wait(state);
      state = state_.load();
    }
  }

 private:
  static constexpr uint64_t kClosed = uint64_t{1} << 63;
  std::atomic<uint64_t> state_ = 0;
};

}  // namespace tenon::host
