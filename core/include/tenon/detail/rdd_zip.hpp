/// @file rdd_zip.hpp
/// Rdd's operations on two Rdds partition by partition. Included by tenon/rdd.hpp. Not for
/// programs.
#pragma once

#include "tenon/detail/zip.hpp"
#include "tenon/rdd.hpp"

namespace tenon {

namespace detail {

/// Two Rdds whose numbers of partitions differ cannot be walked side by side (invalid_argument).
[[noreturn]] TENON_API void throw_unequal_partitions(const char* operation, int32_t left,
                                                     int32_t right);

inline rdd::NodePtr side_by_side(Driver& driver, const char* operation, CallSite site, Operator op,
                                 const rdd::NodePtr& left, const rdd::NodePtr& right) {
  const int32_t n = partition_count(left), other = partition_count(right);
  if (n != other) throw_unequal_partitions(operation, n, other);
  rdd::NodeSpec spec;
  spec.call_site = std::move(site);
  spec.op = std::move(op);
  spec.dependencies.emplace_back(rdd::NarrowDependency{left, {}});
  spec.dependencies.emplace_back(rdd::NarrowDependency{right, {}});
  spec.partitions = [n] { return rdd::Partitions(static_cast<size_t>(n)); };
  return add_node(driver, std::move(spec));
}

}  // namespace detail

template <class T>
template <class U>
auto Rdd<T>::zip(const Rdd<U>& other, Location location) const {
  return Rdd<std::pair<T, U>>(
      driver_,
      detail::side_by_side(*driver_, "zip", detail::call_site("zip", location),
                           detail::operator_of<detail::ZipOperator<T, U>>(), node_, other.node()));
}

template <class T>
template <class U, class F>
auto Rdd<T>::zip_partitions(const Rdd<U>& other, F f, Location location) const {
  TENON_CHECK_FUNCTION(F, "zip_partitions");
  if constexpr (detail::is_shippable_v<F>) {
    static_assert(std::is_invocable_v<const F&, Records<T>&, Records<U>&>,
                  "zip_partitions: the function must take tenon::Records<T>& and "
                  "tenon::Records<U>& of the two Rdds' element types");
    if constexpr (std::is_invocable_v<const F&, Records<T>&, Records<U>&>) {
      static_assert(detail::RangeLike<detail::zip_range_t<F, T, U>>,
                    "zip_partitions: the function must return a range, such as std::vector");
      if constexpr (detail::RangeLike<detail::zip_range_t<F, T, U>>) {
        using Op = detail::ZipPartitionsOperator<F, T, U>;
        return Rdd<typename Op::V>(
            driver_, detail::side_by_side(
                         *driver_, "zip_partitions", detail::call_site("zip_partitions", location),
                         detail::operator_of<Op>(detail::encode_function(f)), node_, other.node()));
      }
    }
  }
}

template <class T>
template <class U>
auto Rdd<T>::cartesian(const Rdd<U>& other, Location location) const {
  using Op = detail::CartesianOperator<T, U>;
  const int32_t lefts = partition_count(), rights = other.partition_count();
  rdd::NodeSpec spec;
  spec.call_site = detail::call_site("cartesian", location);
  spec.op = detail::operator_of<Op>(encode(rights));
  spec.dependencies.emplace_back(rdd::NarrowDependency{
      node_, [rights](int32_t p) { return std::vector<int32_t>{p / rights}; }});
  spec.dependencies.emplace_back(rdd::NarrowDependency{
      other.node(), [rights](int32_t p) { return std::vector<int32_t>{p % rights}; }});
  const auto n = static_cast<size_t>(lefts) * static_cast<size_t>(rights);
  if (n > INT32_MAX)
    detail::throw_bad_argument("cartesian", std::to_string(n) + " partitions are too many");
  spec.partitions = [n] { return rdd::Partitions(n); };
  return Rdd<typename Op::Out>(driver_, detail::add_node(*driver_, std::move(spec)));
}

}  // namespace tenon
