#include "common/task_metrics.hpp"

namespace tenon {
namespace {

template <class Number>
Number load(const Number& field) {
  // atomic_ref takes no const object before C++26; nothing is written.
  return std::atomic_ref<Number>(const_cast<Number&>(field)).load(std::memory_order_relaxed);
}

}  // namespace

TaskMetrics snapshot(const TaskMetrics& metrics) {
  TaskMetrics copy;
  copy.run_ns = load(metrics.run_ns);
  copy.deserialize_ns = load(metrics.deserialize_ns);
  copy.serialize_ns = load(metrics.serialize_ns);
  copy.result_bytes = load(metrics.result_bytes);
  copy.shuffle_read_bytes = load(metrics.shuffle_read_bytes);
  copy.shuffle_read_records = load(metrics.shuffle_read_records);
  copy.shuffle_write_bytes = load(metrics.shuffle_write_bytes);
  copy.shuffle_write_records = load(metrics.shuffle_write_records);
  copy.fetch_wait_ns = load(metrics.fetch_wait_ns);
  copy.spill_bytes = load(metrics.spill_bytes);
  copy.peak_memory_bytes = load(metrics.peak_memory_bytes);
  return copy;
}

}  // namespace tenon
