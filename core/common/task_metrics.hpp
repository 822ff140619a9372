// Figures of a running attempt are written by its thread and read by the heartbeat's.
#pragma once

#include <atomic>

#include "tenon/status.hpp"

namespace tenon {

// Adds to a field; for the attempt's own thread.
template <class Number>
void add_metric(Number& field, Number amount) {
  std::atomic_ref<Number>(field).store(field + amount, std::memory_order_relaxed);
}

template <class Number>
void set_metric(Number& field, Number value) {
  std::atomic_ref<Number>(field).store(value, std::memory_order_relaxed);
}

// A copy for another thread; each field by itself is whole.
[[nodiscard]] TaskMetrics snapshot(const TaskMetrics& metrics);

}  // namespace tenon
