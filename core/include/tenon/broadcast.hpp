/// @file broadcast.hpp
/// A read-only value that every executor gets once.
#pragma once

#include <atomic>
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

/// What all handles of one broadcast share in the driver. [any-thread]
class TENON_API BroadcastOwner {
 public:
  BroadcastOwner(DriverPtr driver, uint64_t id) : driver_(std::move(driver)), id_(id) {}

  /// Executors drop their copies.
  void unpersist() const;
  /// The same, and nobody can fetch it any more. Only the first call counts.
  void destroy(CallSite site);
  /// Throws Error (invalid_argument) that says where it was destroyed.
  void check_usable() const {
    if (destroyed_.load(std::memory_order_acquire)) throw_destroyed();
  }

 private:
  [[noreturn]] void throw_destroyed() const;

  const DriverPtr driver_;
  const uint64_t id_;
  std::atomic<bool> destroying_{false}, destroyed_{false};
  CallSite destroyed_at_;  // written before destroyed_ is set
};

/// What only the handle of the driver can do (invalid_argument).
[[noreturn]] TENON_API void throw_not_in_driver(const char* operation);
}  // namespace detail

/// A handle that travels as an id, for use as a bound value: `rdd.map([](int x, const
/// tenon::Broadcast<Table>& t) { return t->at(x); }, table)`. In a task the value is fetched and
/// decoded by the first that asks, once per executor process, and shared by its tasks. Copies of a
/// handle stand for the same value; it lives until destroy() or the end of the Context.
template <class T>
class Broadcast {
 public:
  /// No value; for Codec.
  Broadcast() = default;
  /// For Context::broadcast.
  Broadcast(const detail::DriverPtr& driver, uint64_t id, std::shared_ptr<const T> value)
      : id_(id), value_(std::move(value)) {
    if (driver) owner_ = std::make_shared<detail::BroadcastOwner>(driver, id);
  }

  /// The value. @throws Error when it was destroyed: the text says where
  [[nodiscard]] const T& value() const {
    if (owner_) owner_->check_usable();
    if (value_) return *value_;
    // The executor's copy, which outlives the task: several tasks share the operator that holds
    // this handle.
    return *static_cast<const T*>(detail::task_broadcast(id_, &decode_shared).get());
  }
  const T* operator->() const { return &value(); }
  const T& operator*() const { return value(); }
  [[nodiscard]] uint64_t id() const { return id_; }

  /// Drops the executors' copies; they fetch it again when it is used.
  /// @throws Error (invalid_argument) when it was destroyed, and within a task
  void unpersist() const {
    if (!owner_) detail::throw_not_in_driver("Broadcast::unpersist()");
    owner_->unpersist();
  }

  /// Forgets the value everywhere. Each use from now on is an error that says where this was
  /// called: in the driver, when a function gets it as a bound value, and in tasks of Rdds that
  /// have it already. A second call does nothing. @throws Error (invalid_argument) within a task
  void destroy(detail::Location location = detail::Location::current()) const {
    if (!owner_) detail::throw_not_in_driver("Broadcast::destroy()");
    owner_->destroy(detail::call_site("destroy", location));
  }

 private:
  friend struct Codec<Broadcast<T>>;

  static std::shared_ptr<const void> decode_shared(std::string_view bytes) {
    return std::make_shared<const T>(decode<T>(bytes));
  }

  std::shared_ptr<detail::BroadcastOwner> owner_;  // in the driver only
  uint64_t id_ = 0;
  std::shared_ptr<const T> value_;
};

template <class T>
struct Codec<Broadcast<T>> {
  static void write(ByteWriter& out, const Broadcast<T>& value) {
    if (value.owner_) value.owner_->check_usable();
    out.fixed(value.id());
  }
  static Broadcast<T> read(ByteReader& in) {
    return Broadcast<T>(nullptr, in.fixed<uint64_t>(), nullptr);
  }
};

}  // namespace tenon
