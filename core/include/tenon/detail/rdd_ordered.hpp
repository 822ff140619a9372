/// @file rdd_ordered.hpp
/// Rdd's operations in which a record's place matters. Included by tenon/rdd.hpp. Not for programs.
#pragma once

#include "tenon/detail/checks.hpp"
#include "tenon/detail/ordered.hpp"
#include "tenon/rdd.hpp"

namespace tenon {

template <class T>
Rdd<T> Rdd<T>::sample(bool with_replacement, double fraction, uint64_t seed,
                      Location location) const {
  if (!(fraction >= 0) || (!with_replacement && fraction > 1)) {
    detail::throw_bad_argument(
        "sample", "the fraction must be " +
                      std::string(with_replacement ? "at least 0" : "0 to 1") + ", not " +
                      std::to_string(fraction));
  }
  CallSite site = detail::call_site("sample", location);
  if constexpr (std::is_copy_constructible_v<T>) {
    if (with_replacement) {
      using Op = detail::FlatMapOperator<detail::SampleOften, T>;
      return narrow<T>(std::move(site),
                       detail::operator_of<Op>(encode(detail::SampleOften{fraction, seed})), true);
    }
  }
  using Op = detail::FilterOperator<detail::SampleOnce, T>;
  return narrow<T>(std::move(site),
                   detail::operator_of<Op>(encode(detail::SampleOnce{fraction, seed})), true);
}

template <class T>
auto Rdd<T>::zip_with_index(Location location) const {
  const CallSite site = detail::call_site("zip_with_index", location);
  const auto n = static_cast<size_t>(partition_count());
  detail::NumberFrom<T> number{std::vector<uint64_t>(n)};
  if (n > 1) {
    const std::vector<uint64_t> counts = values_of(site, detail::CountAll<T>{});
    for (size_t p = 1; p < n; ++p) number.first[p] = number.first[p - 1] + counts[p - 1];
  }
  using Op = detail::MapOperator<detail::NumberFrom<T>, T>;
  return narrow<typename Op::U>(site, detail::operator_of<Op>(encode(number)), false);
}

template <class T>
auto Rdd<T>::window(uint64_t n, Location location) const {
  using O = detail::owned_t<T>;
  if (n == 0) detail::throw_bad_argument("window", "the number of records must be above 0");
  if constexpr (detail::check_result<O>()) {
    const CallSite site = detail::call_site("window", location);
    const auto partitions = static_cast<size_t>(partition_count());
    detail::Windows<O> windows{n, std::vector<std::vector<O>>(partitions)};
    if (partitions > 1 && n > 1) {
      auto tails = values_of(site, detail::with_values(detail::TakeLast<T>{}, n - 1));
      for (size_t p = 1; p < partitions; ++p) {
        std::vector<O>& before = windows.before[p] = windows.before[p - 1];
        before.insert(before.end(), tails[p - 1].begin(), tails[p - 1].end());
        if (before.size() >= n) {
          before.erase(before.begin(), before.end() - static_cast<std::ptrdiff_t>(n - 1));
        }
      }
    }
    using Op = detail::FlatMapOperator<detail::Windows<O>, T>;
    return narrow<typename Op::U>(site, detail::operator_of<Op>(encode(windows)), false);
  }
}

template <class T>
template <class F>
auto Rdd<T>::prefix_sum(F f, Location location) const {
  using O = detail::owned_t<T>;
  TENON_CHECK_FUNCTION(F, "prefix_sum");
  if constexpr (detail::is_shippable_v<F> && detail::check_result<O>()) {
    static_assert(std::is_invocable_r_v<O, const F&, O, O>,
                  "prefix_sum: the function must be T(T, T) for element type T");
    if constexpr (std::is_invocable_r_v<O, const F&, O, O>) {
      const CallSite site = detail::call_site("prefix_sum", location);
      const auto partitions = static_cast<size_t>(partition_count());
      detail::RunningTotal<O, F> running{f, std::vector<std::optional<O>>(partitions)};
      if (partitions > 1) {
        const auto totals = values_of(site, detail::ReduceAll<T, F>{f});
        for (size_t p = 1; p < partitions; ++p) {
          const std::optional<O>& before = running.before[p - 1];
          const std::optional<O>& own = totals[p - 1];
          running.before[p] = before && own ? O(std::invoke(f, *before, *own)) : own ? own : before;
        }
      }
      using Op = detail::MapOperator<detail::RunningTotal<O, F>, T>;
      return narrow<O>(site, detail::operator_of<Op>(detail::encode_function(running)), false);
    }
  }
}

}  // namespace tenon
