// Gathers the events of one turn of the loop and gives them to the bus as one batch.
#pragma once

#include <memory>
#include <vector>

#include "events/event_sink.hpp"
#include "events/listener_bus.hpp"
#include "loop/loop.hpp"

namespace tenon::events {

// All on the loop's thread (or before the loop starts).
class TurnSink final : public EventSink {
 public:
  // Adds a hook to the loop, which does nothing once the sink is gone. bus outlives the sink.
  TurnSink(loop::Loop& loop, ListenerBus& bus);
  // Gives the bus what is left.
  ~TurnSink() override;

  void post(Event event) override;
  // Gives the bus what was gathered so far.
  void flush();

 private:
  ListenerBus& bus_;
  std::vector<Event> events_;
  size_t expected_ = 0;  // about as many as the last turn had
  std::shared_ptr<TurnSink*> hook_;
};

}  // namespace tenon::events
