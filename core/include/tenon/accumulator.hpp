/// @file accumulator.hpp
/// Values that tasks add to and the driver reads.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/codec.hpp"
#include "tenon/detail/accumulator_text.hpp"
#include "tenon/detail/driver.hpp"
#include "tenon/detail/runtime.hpp"

namespace tenon {

/// How an accumulator gathers: a class with `using Value`, which has a Codec; `static Value
/// zero()`; `static void add(Value& into, const X& added)` for what tasks may add; and `static void
/// merge(Value& into, Value&& partial)`, in which the order of the partial values must not matter.
/// The program's own classes serve like the ready ones below.
template <class G>
concept Gathering = requires(typename G::Value& into, typename G::Value&& partial) {
  { G::zero() } -> std::same_as<typename G::Value>;
  G::merge(into, std::move(partial));
} && Encodable<typename G::Value>;

/// The sum of what is added, by operator+=; from T{}.
template <class T>
struct Sum {
  using Value = T;
  static T zero() { return T{}; }
  static void add(T& into, const T& added) { into += added; }
  static void merge(T& into, T&& partial) { into += partial; }
};

/// How often something was added, whatever it was.
struct Count {
  using Value = uint64_t;
  static uint64_t zero() { return 0; }
  template <class T>
  static void add(uint64_t& into, const T&) {
    ++into;
  }
  static void merge(uint64_t& into, uint64_t&& partial) { into += partial; }
};

/// The first of what is added, by Less; nothing when nothing was.
template <class T, class Less = std::less<T>>
struct Min {
  using Value = std::optional<T>;
  static Value zero() { return std::nullopt; }
  static void add(Value& into, const T& added) {
    if (!into || Less{}(added, *into)) into = added;
  }
  static void merge(Value& into, Value&& partial) {
    if (partial) add(into, *partial);
  }
};

/// The greatest of what is added; nothing when nothing was.
template <class T>
struct Max : Min<T, std::greater<T>> {};

/// All that is added, in no order. It must fit into the driver's memory.
template <class T>
struct List {
  using Value = std::vector<T>;
  static Value zero() { return {}; }
  static void add(Value& into, const T& added) { into.push_back(added); }
  static void merge(Value& into, Value&& partial) {
    into.insert(into.end(), std::make_move_iterator(partial.begin()),
                std::make_move_iterator(partial.end()));
  }
};

/// The distinct ones of what is added. They must fit into the driver's memory.
template <class T>
struct Set {
  using Value = std::set<T>;
  static Value zero() { return {}; }
  static void add(Value& into, const T& added) { into.insert(added); }
  static void merge(Value& into, Value&& partial) { into.merge(partial); }
};

namespace detail {
template <class T>
struct GatheringOf {
  using type = Sum<T>;
};
template <Gathering G>
struct GatheringOf<G> {
  using type = G;
};

/// merge gets the encoded partial value of each attempt that counts, on the scheduler's thread.
TENON_API uint64_t add_accumulator(Driver& driver, std::string name,
                                   std::function<void(std::string_view bytes)> merge,
                                   std::function<std::string()> text);
/// Runs on the scheduler's thread all that was posted before, so that a value read next is up to
/// date.
TENON_API void settle(Driver& driver);
/// Guards the driver's value of all accumulators.
TENON_API void with_accumulator_lock(const std::function<void()>& work);
[[noreturn]] TENON_API void throw_accumulator_in_task();
}  // namespace detail

/// What tasks add to, for use as a bound value: `rdd.for_each([](int x, const
/// tenon::Accumulator<int64_t>& sum) { sum.add(x); }, sum)`. A: a Gathering, such as
/// tenon::Max<int>; any other type stands for its Sum. Tasks can only add; the driver reads value()
/// after the action. Updates made in actions count exactly once per partition; those made in
/// transformations count once for each successful attempt of a map task (contract C14.1). An update
/// whose merge throws is logged and left out.
template <class A>
class Accumulator {
  using How = typename detail::GatheringOf<A>::type;

 public:
  using Value = typename How::Value;

  /// No accumulator; for Codec.
  Accumulator() = default;
  /// For Context::accumulator.
  explicit Accumulator(detail::DriverPtr driver, const std::string& name)
      : driver_(std::move(driver)), total_(std::make_shared<Value>(How::zero())) {
    id_ = detail::add_accumulator(
        *driver_, name,
        [total = total_](std::string_view bytes) {
          auto partial = decode<Value>(bytes);
          detail::with_accumulator_lock([&] { How::merge(*total, std::move(partial)); });
        },
        [total = total_] {
          std::string text;
          detail::with_accumulator_lock([&] { text = detail::accumulator_text(*total); });
          return text;
        });
  }
  /// For Codec.
  explicit Accumulator(uint64_t id) : id_(id) {}

  /// Adds to the running attempt's partial value; in the driver, to the value itself.
  template <class X = Value>
  void add(const X& value) const {
    if (auto* state = detail::task_accumulator(id_, &make_partial, nullptr)) {
      How::add(static_cast<Partial*>(state)->value, value);
    } else if (total_) {
      detail::with_accumulator_lock([&] { How::add(*total_, value); });
    }
  }

  /// What was gathered so far. In the driver only. @throws Error (invalid_argument) in a task
  [[nodiscard]] Value value() const {
    if (!total_) detail::throw_accumulator_in_task();
    detail::settle(*driver_);
    std::optional<Value> copy;
    detail::with_accumulator_lock([&] { copy = *total_; });
    return *std::move(copy);
  }
  [[nodiscard]] uint64_t id() const { return id_; }

 private:
  struct Partial final : detail::AccumulatorState {
    Value value = How::zero();
    [[nodiscard]] std::string encode() const override { return tenon::encode(value); }
  };
  static std::unique_ptr<detail::AccumulatorState> make_partial(const void*) {
    return std::make_unique<Partial>();
  }

  detail::DriverPtr driver_;
  uint64_t id_ = 0;
  std::shared_ptr<Value> total_;
};

template <class A>
struct Codec<Accumulator<A>> {
  static void write(ByteWriter& out, const Accumulator<A>& value) { out.fixed(value.id()); }
  static Accumulator<A> read(ByteReader& in) { return Accumulator<A>(in.fixed<uint64_t>()); }
};

}  // namespace tenon
