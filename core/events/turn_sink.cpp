#include "events/turn_sink.hpp"

#include <algorithm>
#include <utility>

namespace tenon::events {

namespace {

constexpr size_t kMaxReserve = 1024;

}  // namespace

TurnSink::TurnSink(loop::Loop& loop, ListenerBus& bus)
    : bus_(bus), hook_(std::make_shared<TurnSink*>(this)) {
  loop.at_turn_end([weak = std::weak_ptr<TurnSink*>(hook_)] {
    if (const auto sink = weak.lock()) (*sink)->flush();
  });
}

TurnSink::~TurnSink() { flush(); }

void TurnSink::post(Event event) {
  if (events_.empty()) events_.reserve(expected_);
  events_.push_back(std::move(event));
}

void TurnSink::flush() {
  if (events_.empty()) return;
  expected_ = std::min(events_.size(), kMaxReserve);
  bus_.post_batch(std::exchange(events_, {}));
}

}  // namespace tenon::events
