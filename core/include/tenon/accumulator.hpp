/// @file accumulator.hpp
/// Values that tasks add to and the driver reads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tenon/codec.hpp"
#include "tenon/detail/driver.hpp"
#include "tenon/detail/runtime.hpp"

namespace tenon {

namespace detail {
/// merge gets the encoded partial value of each attempt that counts, on the scheduler's thread.
TENON_API uint64_t add_accumulator(Driver& driver, std::string name,
                                   std::function<void(std::string_view bytes)> merge,
                                   std::function<std::string()> text);
/// Runs on the scheduler's thread all that was posted before, so that a value read next is up to
/// date.
TENON_API void settle(Driver& driver);
/// Guards the driver's value of all accumulators.
TENON_API void with_accumulator_lock(const std::function<void()>& work);
}  // namespace detail

/// A sum that tasks add to, for use as a bound value: `rdd.for_each([](int x, const
/// tenon::Accumulator<int64_t>& sum) { sum.add(x); }, sum)`. T has operator+= and a Codec, and T{}
/// is its zero. Tasks can only add; the driver reads value() after the action. Updates made in
/// actions count exactly once per partition; those made in transformations count once for each
/// successful attempt of a map task (contract C14.1).
template <class T>
class Accumulator {
 public:
  /// No accumulator; for Codec.
  Accumulator() = default;
  /// For Context::accumulator.
  explicit Accumulator(detail::DriverPtr driver, const std::string& name)
      : driver_(std::move(driver)), total_(std::make_shared<T>()) {
    id_ = detail::add_accumulator(
        *driver_, name,
        [total = total_](std::string_view bytes) {
          const T partial = decode<T>(bytes);
          detail::with_accumulator_lock([&] { *total += partial; });
        },
        [total = total_] {
          std::string text;
          if constexpr (std::is_arithmetic_v<T>)
            detail::with_accumulator_lock([&] { text = std::to_string(*total); });
          return text;
        });
  }
  /// For Codec.
  explicit Accumulator(uint64_t id) : id_(id) {}

  /// Adds to the running attempt's partial value; in the driver, to the value itself.
  void add(const T& value) const {
    if (auto* state = detail::task_accumulator(id_, &make_partial, nullptr)) {
      static_cast<Partial*>(state)->value += value;
    } else if (total_) {
      detail::with_accumulator_lock([&] { *total_ += value; });
    }
  }

  /// The sum so far. In the driver only. @throws Error (invalid_argument) in a task
  [[nodiscard]] T value() const {
    if (!total_) throw_not_readable();
    detail::settle(*driver_);
    T copy{};
    detail::with_accumulator_lock([&] { copy = *total_; });
    return copy;
  }
  [[nodiscard]] uint64_t id() const { return id_; }

 private:
  struct Partial final : detail::AccumulatorState {
    T value{};
    [[nodiscard]] std::string encode() const override { return tenon::encode(value); }
  };
  static std::unique_ptr<detail::AccumulatorState> make_partial(const void*) {
    return std::make_unique<Partial>();
  }
  [[noreturn]] static void throw_not_readable();

  detail::DriverPtr driver_;
  uint64_t id_ = 0;
  std::shared_ptr<T> total_;
};

namespace detail {
[[noreturn]] TENON_API void throw_accumulator_in_task();
}
template <class T>
void Accumulator<T>::throw_not_readable() {
  detail::throw_accumulator_in_task();
}

template <class T>
struct Codec<Accumulator<T>> {
  static void write(ByteWriter& out, const Accumulator<T>& value) { out.fixed(value.id()); }
  static Accumulator<T> read(ByteReader& in) { return Accumulator<T>(in.fixed<uint64_t>()); }
};

}  // namespace tenon
