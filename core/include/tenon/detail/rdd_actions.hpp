/// @file rdd_actions.hpp
/// Rdd's actions. Included by tenon/rdd.hpp. Not for programs.
#pragma once

#include "tenon/detail/checks.hpp"
#include "tenon/rdd.hpp"

namespace tenon {

template <class T>
template <class F>
detail::JobSpec Rdd<T>::job(const CallSite& site, const F& f,
                            std::vector<int32_t> partitions) const {
  return {node_, detail::operator_of<detail::PartitionAction<F, T>>(detail::encode_function(f)),
          std::move(partitions), site};
}

template <class T>
template <class F>
auto Rdd<T>::values_of(const CallSite& site, const F& f, std::vector<int32_t> partitions) const {
  using Result = typename detail::PartitionAction<F, T>::Result;
  std::vector<Result> values(partitions.size());
  detail::run_job(*driver_, job(site, f, std::move(partitions)),
                  [&](int32_t position, std::string_view value) {
                    values[static_cast<size_t>(position)] = decode<Result>(value);
                  });
  return values;
}

template <class T>
std::vector<detail::owned_t<T>> RddActions<T>::collect(Location location) const {
  if constexpr (detail::check_result<detail::owned_t<T>>()) {
    return detail::concatenate(
        self().values_of(detail::call_site("collect", location), detail::CollectAll<T>{}));
  } else {
    return {};
  }
}

template <class T>
Future<std::vector<detail::owned_t<T>>> RddActions<T>::collect_async(Location location) const {
  using Result = std::vector<detail::owned_t<T>>;
  auto values = std::make_shared<std::vector<Result>>();
  std::shared_ptr<detail::JobHandle> handle;
  if constexpr (detail::check_result<detail::owned_t<T>>()) {
    auto partitions = detail::all_partitions(self().node_);
    values->resize(partitions.size());
    handle = detail::submit_job(*self().driver_,
                                self().job(detail::call_site("collect_async", location),
                                           detail::CollectAll<T>{}, std::move(partitions)),
                                detail::store_into(values));
  }
  return {std::move(handle), [values] { return detail::concatenate(std::move(*values)); }};
}

template <class T>
uint64_t RddActions<T>::count(Location location) const {
  uint64_t total = 0;
  for (const uint64_t n :
       self().values_of(detail::call_site("count", location), detail::CountAll<T>{}))
    total += n;
  return total;
}

template <class T>
Future<uint64_t> RddActions<T>::count_async(Location location) const {
  auto partitions = detail::all_partitions(self().node_);
  auto values = std::make_shared<std::vector<uint64_t>>(partitions.size());
  auto handle = detail::submit_job(*self().driver_,
                                   self().job(detail::call_site("count_async", location),
                                              detail::CountAll<T>{}, std::move(partitions)),
                                   detail::store_into(values));
  return {std::move(handle), [values] {
            uint64_t total = 0;
            for (const uint64_t n : *values) total += n;
            return total;
          }};
}

template <class T>
Future<std::vector<uint64_t>> RddActions<T>::map_stage_at(CallSite site) const {
  auto bytes = std::make_shared<std::vector<uint64_t>>();
  auto job = detail::submit_map_stage(
      *self().driver_, self().node_, std::move(site),
      [bytes](std::vector<uint64_t> of_partitions) { *bytes = std::move(of_partitions); });
  return {std::move(job), [bytes] { return std::move(*bytes); }};
}

template <class T>
std::vector<uint64_t> RddActions<T>::run_map_stage(Location location) const {
  return map_stage_at(detail::call_site("run_map_stage", location)).get();
}

template <class T>
Future<std::vector<uint64_t>> RddActions<T>::run_map_stage_async(Location location) const {
  return map_stage_at(detail::call_site("run_map_stage_async", location));
}

template <class T>
std::vector<detail::owned_t<T>> RddActions<T>::take(uint64_t n, Location location) const {
  std::vector<detail::owned_t<T>> taken;
  if constexpr (detail::check_result<detail::owned_t<T>>()) {
    if (n == 0) return taken;
    const CallSite site = detail::call_site("take", location);
    detail::in_waves(*self().driver_, self().node_, [&](std::vector<int32_t> partitions) {
      const uint64_t missing = n - taken.size();
      for (auto& part : self().values_of(site, detail::with_values(detail::TakeFirst<T>{}, missing),
                                         std::move(partitions))) {
        for (auto&& record : part) {
          if (taken.size() < n) taken.push_back(std::move(record));
        }
      }
      return taken.size() < n;
    });
  }
  return taken;
}

template <class T>
detail::owned_t<T> RddActions<T>::first(Location location) const {
  auto taken = take(1, location);
  if (taken.empty()) detail::throw_empty("first");
  return std::move(taken.front());
}

template <class T>
template <class F>
detail::owned_t<T> RddActions<T>::reduce(F f, Location location) const {
  using O = detail::owned_t<T>;
  TENON_CHECK_FUNCTION(F, "reduce");
  if constexpr (detail::is_shippable_v<F> && detail::check_result<O>()) {
    static_assert(std::is_invocable_r_v<O, const F&, O, O>,
                  "reduce: the function must be T(T, T) for element type T");
    if constexpr (std::is_invocable_r_v<O, const F&, O, O>) {
      std::optional<O> total;
      for (auto& value :
           self().values_of(detail::call_site("reduce", location), detail::ReduceAll<T, F>{f})) {
        if (!value) continue;
        total = total ? O(std::invoke(f, std::move(*total), std::move(*value))) : std::move(*value);
      }
      if (!total) detail::throw_empty("reduce");
      return std::move(*total);
    }
  }
  detail::throw_empty("reduce");
}

template <class T>
template <class U, class Add, class Merge>
U RddActions<T>::aggregate(U zero, Add add, Merge merge, Location location) const {
  TENON_CHECK_FUNCTION(Add, "aggregate");
  if constexpr (detail::is_shippable_v<Add> && detail::check_result<U>()) {
    static_assert(std::is_invocable_r_v<U, const Add&, U, T>,
                  "aggregate: the first function must be U(U, T) for zero's type U");
    static_assert(std::is_invocable_r_v<U, const Merge&, U, U>,
                  "aggregate: the second function must be U(U, U) for zero's type U");
    if constexpr (std::is_invocable_r_v<U, const Add&, U, T> &&
                  std::is_invocable_r_v<U, const Merge&, U, U>) {
      U total = zero;
      const detail::AggregateAll<T, U, Add> each{std::move(add), std::move(zero)};
      for (U& value : self().values_of(detail::call_site("aggregate", location), each)) {
        total = std::invoke(merge, std::move(total), std::move(value));
      }
      return total;
    }
  }
  return zero;
}

template <class T>
template <class F>
detail::owned_t<T> RddActions<T>::fold(detail::owned_t<T> zero, F f, Location location) const {
  using O = detail::owned_t<T>;
  TENON_CHECK_FUNCTION(F, "fold");
  if constexpr (detail::is_shippable_v<F> && detail::check_result<O>()) {
    static_assert(std::is_invocable_r_v<O, const F&, O, O>,
                  "fold: the function must be T(T, T) for element type T");
    if constexpr (std::is_invocable_r_v<O, const F&, O, O>) {
      O total = zero;
      const detail::AggregateAll<T, O, detail::OnOwned<F>> each{{f}, std::move(zero)};
      for (O& value : self().values_of(detail::call_site("fold", location), each)) {
        total = std::invoke(f, std::move(total), std::move(value));
      }
      return total;
    }
  }
  return zero;
}

template <class T>
template <class F>
void RddActions<T>::for_each_at(CallSite site, F f) const {
  TENON_CHECK_FUNCTION(F, "for_each");
  if constexpr (detail::is_shippable_v<F>) {
    static_assert(std::is_invocable_v<const F&, T&>,
                  "for_each: the function cannot be called with this Rdd's element type");
    if constexpr (std::is_invocable_v<const F&, T&>)
      self().values_of(site, detail::VisitAll<T, F>{std::move(f)});
  }
}

template <class T>
void RddActions<T>::save_as_text_file(const std::string& directory, Location location) const {
  static_assert(detail::TextLike<T>,
                "save_as_text_file: records must be text, numbers, or pairs and tuples of these; "
                "map them to a "
                "std::string first");
  if constexpr (detail::TextLike<T>) {
    detail::save_output(directory, self().partition_count(), [&] {
      self().values_of(detail::call_site("save_as_text_file", location),
                       detail::with_values(detail::SaveText<T>{}, directory));
    });
  }
}

template <class T>
void RddActions<T>::save_as_object_file(const std::string& directory, Location location) const {
  static_assert(Encodable<detail::owned_t<T>>,
                "save_as_object_file: the element type needs a tenon::Codec: add "
                "TENON_FIELDS(members...) to the class, or specialise tenon::Codec");
  if constexpr (Encodable<detail::owned_t<T>>) {
    using Action = detail::WriteRecordsAction<T, &detail::write_object_part>;
    detail::save_output(directory, self().partition_count(), [&] {
      detail::run_job(*self().driver_,
                      {self().node_, detail::operator_of<Action>(encode(directory)),
                       detail::all_partitions(self().node_),
                       detail::call_site("save_as_object_file", location)},
                      [](int32_t, std::string_view) {});
    });
  }
}

}  // namespace tenon
