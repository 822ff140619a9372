/// @file rdd_reductions.hpp
/// Rdd's actions that send the driver little of each partition. Included by tenon/rdd.hpp. Not for
/// programs.
#pragma once

#include "tenon/detail/checks.hpp"
#include "tenon/detail/rdd_actions.hpp"
#include "tenon/detail/rdd_wide.hpp"
#include "tenon/detail/reductions.hpp"

namespace tenon {

namespace detail {

/// Groups of the next level of a tree of n nodes (Spark's treeAggregate); 0: the driver can take
/// them as they are.
TENON_API int32_t tree_groups(int32_t n, int32_t scale);
/// Nodes that one node of the tree brings together. @throws Error (invalid_argument) for a depth
/// below 1
TENON_API int32_t tree_scale(const char* operation, int32_t n, int32_t depth);

}  // namespace detail

// ------------------------------------------------------------------------------- trees

template <class T>
template <class Each, class Merge>
auto RddActions<T>::tree_values(const char* operation, const CallSite& site, Each each, Merge merge,
                                int32_t depth) const {
  using U = std::remove_cvref_t<std::invoke_result_t<const Each&, Records<T>&>>;
  int32_t n = self().partition_count();
  const int32_t scale = detail::tree_scale(operation, n, depth);
  int32_t groups = detail::tree_groups(n, scale);
  if (groups == 0) return self().values_of(site, each);
  using Leaves = detail::Leaf<T, Each>;
  auto nodes = self()
                   .template narrow<std::pair<uint32_t, U>>(
                       site,
                       detail::operator_of<detail::MapPartitionsOperator<Leaves, T>>(
                           detail::encode_function(Leaves{std::move(each), groups})),
                       false)
                   .reduce_by_key(merge, groups);
  for (n = groups; (groups = detail::tree_groups(n, scale)) != 0; n = groups) {
    nodes = nodes.map_at(site, detail::Regroup{static_cast<uint32_t>(groups)})
                .reduce_by_key(merge, groups);
  }
  std::vector<U> values;
  for (auto& node :
       detail::concatenate(nodes.values_of(site, detail::CollectAll<std::pair<uint32_t, U>>{}))) {
    values.push_back(std::move(node.second));
  }
  return values;
}

template <class T>
template <class F>
detail::owned_t<T> RddActions<T>::tree_reduce(F f, int32_t depth, Location location) const {
  using O = detail::owned_t<T>;
  TENON_CHECK_FUNCTION(F, "tree_reduce");
  if constexpr (detail::is_shippable_v<F> && detail::check_result<O>()) {
    static_assert(std::is_invocable_r_v<O, const F&, O, O>,
                  "tree_reduce: the function must be T(T, T) for element type T");
    if constexpr (std::is_invocable_r_v<O, const F&, O, O>) {
      const detail::OnPresent<F> merge{f};
      std::optional<O> total;
      for (auto& value : tree_values("tree_reduce", detail::call_site("tree_reduce", location),
                                     detail::ReduceAll<T, F>{f}, merge, depth)) {
        total = merge(std::move(total), std::move(value));
      }
      if (!total) detail::throw_empty("tree_reduce");
      return std::move(*total);
    }
  }
  detail::throw_empty("tree_reduce");
}

template <class T>
template <class U, class Add, class Merge>
U RddActions<T>::tree_aggregate(U zero, Add add, Merge merge, int32_t depth,
                                Location location) const {
  TENON_CHECK_FUNCTION(Add, "tree_aggregate");
  if constexpr (detail::is_shippable_v<Add> && detail::is_shippable_v<Merge> &&
                detail::check_result<U>()) {
    static_assert(std::is_invocable_r_v<U, const Add&, U, T>,
                  "tree_aggregate: the first function must be U(U, T) for zero's type U");
    static_assert(std::is_invocable_r_v<U, const Merge&, U, U>,
                  "tree_aggregate: the second function must be U(U, U) for zero's type U");
    if constexpr (std::is_invocable_r_v<U, const Add&, U, T> &&
                  std::is_invocable_r_v<U, const Merge&, U, U>) {
      std::optional<U> total;
      for (U& value :
           tree_values("tree_aggregate", detail::call_site("tree_aggregate", location),
                       detail::AggregateAll<T, U, Add>{std::move(add), zero}, merge, depth)) {
        total =
            total ? U(std::invoke(merge, std::move(*total), std::move(value))) : std::move(value);
      }
      return total ? std::move(*total) : std::move(zero);
    }
  } else {
    static_assert(detail::is_shippable_v<Merge>,
                  "tree_aggregate: the second function runs in the executors and cannot travel; "
                  "see docs/closures.md");
  }
  return zero;
}

// ------------------------------------------------------------------------------- order

template <class T>
bool RddActions<T>::is_empty(Location location) const {
  const CallSite site = detail::call_site("is_empty", location);
  bool empty = true;
  detail::in_waves(*self().driver_, self().node_, [&](std::vector<int32_t> partitions) {
    for (const bool any : self().values_of(site, detail::HasAny<T>{}, std::move(partitions))) {
      if (any) empty = false;
    }
    return empty;
  });
  return empty;
}

template <class T>
template <class Less>
std::vector<detail::owned_t<T>> RddActions<T>::take_ordered(uint64_t n, Less less,
                                                            Location location) const {
  return ordered("take_ordered", n, std::move(less), location);
}

template <class T>
template <class Less>
std::vector<detail::owned_t<T>> RddActions<T>::top(uint64_t n, Less less, Location location) const {
  return ordered("top", n, detail::Exchanged<Less>{std::move(less)}, location);
}

template <class T>
template <class Less>
std::vector<detail::owned_t<T>> RddActions<T>::ordered(const char* operation, uint64_t n, Less less,
                                                       Location location) const {
  using O = detail::owned_t<T>;
  std::vector<O> all;
  if constexpr (detail::check_order<Less, O>() && detail::check_result<O>()) {
    if (n == 0) return all;
    all = detail::concatenate(self().values_of(detail::call_site(operation, location),
                                               detail::TakeOrdered<T, Less>{less, n}));
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min<uint64_t>(n, all.size()));
    std::partial_sort(all.begin(), end, all.end(), less);
    all.erase(end, all.end());
  }
  return all;
}

template <class T>
template <class Less>
detail::owned_t<T> RddActions<T>::min(Less less, Location location) const {
  return extreme("min", detail::Smaller<Less>{std::move(less)}, location);
}
template <class T>
template <class Less>
detail::owned_t<T> RddActions<T>::max(Less less, Location location) const {
  using Greater = detail::Exchanged<Less>;
  return extreme("max", detail::Smaller<Greater>{Greater{std::move(less)}}, location);
}
template <class T>
template <class Choose>
detail::owned_t<T> RddActions<T>::extreme(const char* operation, Choose choose,
                                          Location location) const {
  using O = detail::owned_t<T>;
  if constexpr (detail::check_order<decltype(choose.f), O>() && detail::check_result<O>()) {
    std::optional<O> best;
    for (auto& value : self().values_of(detail::call_site(operation, location),
                                        detail::ReduceAll<T, Choose>{choose})) {
      if (!value) continue;
      best = best ? choose(std::move(*best), std::move(*value)) : std::move(*value);
    }
    if (best) return std::move(*best);
  }
  detail::throw_empty(operation);
}

// ------------------------------------------------------------------------------- samples

namespace detail {

/// n positions among the records of partitions of these sizes, in order in each partition.
TENON_API std::vector<std::vector<uint64_t>> sample_positions(const std::vector<uint64_t>& sizes,
                                                              bool with_replacement, uint64_t n,
                                                              uint64_t seed);
/// The values in an order that the seed gives.
template <class T>
void shuffle(std::vector<T>& values, uint64_t seed) {
  Random random(seed);
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
}

}  // namespace detail

template <class T>
std::vector<detail::owned_t<T>> RddActions<T>::take_sample(bool with_replacement, uint64_t n,
                                                           uint64_t seed, Location location) const {
  using O = detail::owned_t<T>;
  std::vector<O> taken;
  if constexpr (detail::check_result<O>()) {
    if (n == 0) return taken;
    const CallSite site = detail::call_site("take_sample", location);
    const std::vector<uint64_t> sizes = self().values_of(site, detail::CountAll<T>{});
    auto positions = detail::sample_positions(sizes, with_replacement, n, seed);
    auto once = positions;
    for (auto& some : once) some.erase(std::unique(some.begin(), some.end()), some.end());
    const auto parts = self().values_of(site, detail::TakeAt<T>{std::move(once)});
    for (size_t p = 0; p < parts.size(); ++p) {
      size_t at = 0;
      for (size_t i = 0; i < positions[p].size(); ++i) {
        if (i > 0 && positions[p][i] != positions[p][i - 1]) ++at;
        taken.push_back(parts[p].at(at));
      }
    }
    detail::shuffle(taken, seed);
  }
  return taken;
}

// ------------------------------------------------------------------------------- counts

template <class T>
HashMap<detail::owned_t<T>, uint64_t> RddActions<T>::count_by_value(Location location) const {
  HashMap<detail::owned_t<T>, uint64_t> counts;
  if constexpr (detail::check_key<detail::owned_t<T>>()) {
    const CallSite site = detail::call_site("count_by_value", location);
    const auto reduced =
        self().map_at(site, detail::WithOne<T>{}).reduce_by_key(std::plus<>{}, 0, location);
    for (auto& [value, n] : reduced.collect(location)) counts.emplace(std::move(value), n);
  }
  return counts;
}

template <class T>
uint64_t RddActions<T>::count_approx_distinct(double relative_deviation, Location location) const {
  static_assert(Hashable<T>, "count_approx_distinct: the element type needs a tenon::Hash");
  if (!(relative_deviation >= 0.00026 && relative_deviation <= 0.26)) {
    detail::throw_bad_argument("count_approx_distinct",
                               "the relative deviation must be 0.00026 to 0.26, not " +
                                   std::to_string(relative_deviation));
  }
  if constexpr (Hashable<T>) {
    const uint8_t bits = detail::HyperLogLog::bits_for(relative_deviation);
    detail::HyperLogLog all = detail::HyperLogLog::with_bits(bits);
    for (const auto& sketch :
         self().values_of(detail::call_site("count_approx_distinct", location),
                          detail::with_values(detail::DistinctSketch<T>{}, bits))) {
      all.merge(sketch);
    }
    return all.estimate();
  }
  return 0;
}

// ------------------------------------------------------------------------------- numbers

template <class T>
auto RddActions<T>::sum(Location location) const
  requires std::is_arithmetic_v<T>
{
  detail::sum_t<T> total = 0;
  for (const auto value :
       self().values_of(detail::call_site("sum", location), detail::SumAll<T>{})) {
    total += value;
  }
  return total;
}

template <class T>
Statistics RddActions<T>::stats(Location location) const
  requires std::is_arithmetic_v<T>
{
  Statistics all;
  for (const Statistics& some :
       self().values_of(detail::call_site("stats", location), detail::StatisticsAll<T>{})) {
    all.merge(some);
  }
  return all;
}

template <class T>
std::vector<uint64_t> RddActions<T>::histogram(std::vector<double> bounds, Location location) const
  requires std::is_arithmetic_v<T>
{
  if (bounds.size() < 2) detail::throw_bad_argument("histogram", "needs two bounds or more");
  for (size_t i = 1; i < bounds.size(); ++i) {
    if (!(bounds[i - 1] < bounds[i])) {
      detail::throw_bad_argument("histogram", "each bound must be above the one before");
    }
  }
  std::vector<uint64_t> counts(bounds.size() - 1);
  for (const auto& some :
       self().values_of(detail::call_site("histogram", location),
                        detail::with_values(detail::HistogramAll<T>{}, std::move(bounds)))) {
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += some[i];
  }
  return counts;
}

template <class T>
std::pair<std::vector<double>, std::vector<uint64_t>> RddActions<T>::histogram(
    uint64_t n, Location location) const
  requires std::is_arithmetic_v<T>
{
  if (n == 0) detail::throw_bad_argument("histogram", "the number of buckets must be above 0");
  const Statistics all = stats(location);
  if (all.count == 0) detail::throw_empty("histogram");
  if (!std::isfinite(all.min) || !std::isfinite(all.max) || std::isnan(all.mean)) {
    detail::throw_bad_argument("histogram", "the numbers must be finite");
  }
  if (all.min == all.max) return {{all.min, all.max}, {all.count}};
  std::vector<double> bounds(n + 1);
  for (uint64_t i = 0; i < n; ++i) {
    bounds[i] = all.min + (all.max - all.min) * static_cast<double>(i) / static_cast<double>(n);
  }
  bounds[n] = all.max;
  auto counts = histogram(bounds, location);
  return {std::move(bounds), std::move(counts)};
}

// ------------------------------------------------------------------------------- one by one

template <class T>
template <class F>
void RddActions<T>::for_each_partition_at(CallSite site, F f) const {
  TENON_CHECK_FUNCTION(F, "for_each_partition");
  if constexpr (detail::is_shippable_v<F>) {
    static_assert(std::is_invocable_v<const F&, Records<T>&>,
                  "for_each_partition: the function must take tenon::Records<T>& of this Rdd's "
                  "element type T");
    if constexpr (std::is_invocable_v<const F&, Records<T>&>) {
      self().values_of(site, detail::VisitPartition<T, F>{std::move(f)});
    }
  }
}

template <class T>
LocalRecords<T> RddActions<T>::to_local_iterator(Location location) const {
  if constexpr (detail::check_result<detail::owned_t<T>>()) {
    const CallSite site = detail::call_site("to_local_iterator", location);
    return LocalRecords<T>(self().partition_count(), [rdd = self(), site](int32_t partition) {
      return std::move(rdd.values_of(site, detail::CollectAll<T>{}, {partition}).front());
    });
  } else {
    return LocalRecords<T>(0, {});
  }
}

// ------------------------------------------------------------------------------- while the caller
// goes on

template <class T>
template <class F>
Future<detail::owned_t<T>> RddActions<T>::reduce_async(F f, Location location) const {
  using O = detail::owned_t<T>;
  TENON_CHECK_FUNCTION(F, "reduce_async");
  auto values = std::make_shared<std::vector<std::optional<O>>>();
  std::shared_ptr<detail::JobHandle> handle;
  if constexpr (detail::is_shippable_v<F> && detail::check_result<O>()) {
    static_assert(std::is_invocable_r_v<O, const F&, O, O>,
                  "reduce_async: the function must be T(T, T) for element type T");
    if constexpr (std::is_invocable_r_v<O, const F&, O, O>) {
      auto partitions = detail::all_partitions(self().node_);
      values->resize(partitions.size());
      handle = detail::submit_job(*self().driver_,
                                  self().job(detail::call_site("reduce_async", location),
                                             detail::ReduceAll<T, F>{f}, std::move(partitions)),
                                  detail::store_into(values));
    }
  }
  return {std::move(handle), [values, merge = detail::OnPresent<F>{std::move(f)}] {
            std::optional<O> total;
            for (auto& value : *values) total = merge(std::move(total), std::move(value));
            if (!total) detail::throw_empty("reduce_async");
            return std::move(*total);
          }};
}

template <class T>
template <class F>
Future<void> RddActions<T>::run_async(const CallSite& site, const F& f) const {
  return {
      detail::submit_job(*self().driver_, self().job(site, f, detail::all_partitions(self().node_)),
                         [](int32_t, std::string_view) {}),
      [] {}};
}

template <class T>
template <class F>
Future<void> RddActions<T>::for_each_async(F f, Location location) const {
  TENON_CHECK_FUNCTION(F, "for_each_async");
  if constexpr (detail::is_shippable_v<F>) {
    static_assert(std::is_invocable_v<const F&, T&>,
                  "for_each_async: the function cannot be called with this Rdd's element type");
    if constexpr (std::is_invocable_v<const F&, T&>) {
      return run_async(detail::call_site("for_each_async", location),
                       detail::VisitAll<T, F>{std::move(f)});
    }
  }
  return {nullptr, [] {}};
}

template <class T>
template <class F>
Future<void> RddActions<T>::for_each_partition_async(F f, Location location) const {
  TENON_CHECK_FUNCTION(F, "for_each_partition_async");
  if constexpr (detail::is_shippable_v<F>) {
    static_assert(std::is_invocable_v<const F&, Records<T>&>,
                  "for_each_partition_async: the function must take tenon::Records<T>& of this "
                  "Rdd's element type T");
    if constexpr (std::is_invocable_v<const F&, Records<T>&>) {
      return run_async(detail::call_site("for_each_partition_async", location),
                       detail::VisitPartition<T, F>{std::move(f)});
    }
  }
  return {nullptr, [] {}};
}

}  // namespace tenon
