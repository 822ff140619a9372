/// @file registry.hpp Naming an operator class anywhere in a program registers it before main() in
///   every process of the program. Not for programs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

#include "tenon/detail/operator.hpp"
#include "tenon/detail/runtime.hpp"

namespace tenon::detail {

template <class Op>
std::unique_ptr<OperatorBase> make_operator(std::string_view bytes) {
  return std::make_unique<Op>(bytes);
}

/// The id of an operator class; usable at any time, even in static initialisers.
template <class Op>
uint64_t op_id() {
  static const uint64_t id = register_operator(typeid(Op).name(), &make_operator<Op>,
                                               reinterpret_cast<const void*>(&make_operator<Op>));
  return id;
}
/// Runs before main(): see docs/closures.md.
template <class Op>
inline const uint64_t registered_op = op_id<Op>();

/// An operator of class Op, made on the other side as Op(bytes).
template <class Op>
Operator operator_of(std::string bytes = {}) {
  static_cast<void>(&registered_op<Op>);
  return {op_id<Op>(), std::move(bytes)};
}

}  // namespace tenon::detail
