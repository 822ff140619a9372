// Where scheduling code puts its events.
#pragma once

#include "tenon/listener.hpp"

namespace tenon::events {

class EventSink {
 public:
  EventSink() = default;
  virtual ~EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;

  virtual void post(Event event) = 0;
};

}  // namespace tenon::events
