/// @file broadcast.hpp
/// A read-only value that every executor gets once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tenon/codec.hpp"
#include "tenon/detail/driver.hpp"
#include "tenon/detail/runtime.hpp"

namespace tenon {

namespace detail {
/// Keeps the encoded value for executors; returns its id.
TENON_API uint64_t add_broadcast(Driver& driver, std::string bytes);
/// Forgets it everywhere; executors fetch it again where it is still needed (destroy: nobody can
/// any more).
TENON_API void remove_broadcast(Driver& driver, uint64_t id, bool destroy);
}  // namespace detail

/// A handle that travels as an id, for use as a bound value: `rdd.map([](int x, const
/// tenon::Broadcast<Table>& t) { return t->at(x); }, table)`. In a task the value is fetched and
/// decoded by the first that asks, once per executor process, and shared by its tasks.
template <class T>
class Broadcast {
 public:
  /// No value; for Codec.
  Broadcast() = default;
  /// For Context::broadcast.
  Broadcast(detail::DriverPtr driver, uint64_t id, std::shared_ptr<const T> value)
      : driver_(std::move(driver)), id_(id), value_(std::move(value)) {}

  /// The value. @throws Error when it was destroyed
  [[nodiscard]] const T& value() const {
    if (value_) return *value_;
    // The executor's copy, which outlives the task: several tasks share the operator that holds
    // this handle.
    return *static_cast<const T*>(detail::task_broadcast(id_, &decode_shared).get());
  }
  const T* operator->() const { return &value(); }
  const T& operator*() const { return value(); }
  [[nodiscard]] uint64_t id() const { return id_; }

  /// Drops the executors' copies; they fetch it again when it is used. In the driver only.
  void unpersist() const {
    if (driver_) detail::remove_broadcast(*driver_, id_, false);
  }

 private:
  static std::shared_ptr<const void> decode_shared(std::string_view bytes) {
    return std::make_shared<const T>(decode<T>(bytes));
  }

  detail::DriverPtr driver_;
  uint64_t id_ = 0;
  std::shared_ptr<const T> value_;
};

template <class T>
struct Codec<Broadcast<T>> {
  static void write(ByteWriter& out, const Broadcast<T>& value) { out.fixed(value.id()); }
  static Broadcast<T> read(ByteReader& in) {
    return Broadcast<T>(nullptr, in.fixed<uint64_t>(), nullptr);
  }
};

}  // namespace tenon
