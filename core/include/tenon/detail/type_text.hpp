/// @file type_text.hpp
/// What a record is made of, as text: the tag of files that hold records. Not for programs.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/detail/fields.hpp"
#include "tenon/detail/kept.hpp"
#include "tenon/export.hpp"

namespace tenon::detail {

/// The name that the program gave a type.
TENON_API std::string type_name(const std::type_info& type);

/// Builds the text of a type; a class with fields shows them the first time it comes.
class TypeText {
 public:
  template <class T>
  void add() {
    if constexpr (std::is_same_v<T, bool>) {
      text_ += "bool";
    } else if constexpr (std::is_integral_v<T>) {
      add_sized<T>(std::is_signed_v<T> ? "int" : "uint");
    } else if constexpr (std::is_floating_point_v<T>) {
      add_sized<T>("float");
    } else if constexpr (std::is_same_v<T, std::string>) {
      text_ += "string";
    } else if constexpr (HasFields<T>) {
      add_fields<T>();
    } else if constexpr (IsVariant<T>::value) {
      text_ += "variant<";
      add_all(static_cast<T*>(nullptr));
      text_ += '>';
    } else if constexpr (is_array_v<T>) {
      text_ += "array<";
      add<typename ArrayElement<T>::Type>();
      text_ += "," + std::to_string(std::tuple_size_v<T>) + ">";
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
      text_ += '(';
      add_all(static_cast<T*>(nullptr));
      text_ += ')';
    } else {
      add_class<T>();
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <class T>
  void add_sized(const char* kind) {
    text_ += kind + std::to_string(8 * sizeof(T));
  }
  template <template <class...> class Many, class... Ts>
  void add_all(Many<Ts...>*) {
    bool first = true;
    ((text_ += std::exchange(first, false) ? "" : ",", add<Ts>()), ...);
  }
  template <class T>
  void add_class() {
    if constexpr (requires {
                    typename T::mapped_type;
                    typename T::allocator_type;
                  }) {
      add_of<typename T::key_type, typename T::mapped_type>("map");
    } else if constexpr (requires {
                           typename T::value_type;
                           typename T::allocator_type;
                         }) {
      add_of<typename T::value_type>("list");
    } else if constexpr (requires {
                           typename T::element_type;
                           typename T::deleter_type;
                         }) {
      add_of<typename T::element_type>("optional");
    } else if constexpr (requires(const T& value) {
                           typename T::value_type;
                           value.has_value();
                         }) {
      add_of<typename T::value_type>("optional");
    } else {
      text_ += type_name(typeid(T));
      if constexpr (is_plain_v<T>) text_ += "[" + std::to_string(sizeof(T)) + "]";
    }
  }
  template <class... Ts>
  void add_of(const char* kind) {
    text_ += kind;
    text_ += '<';
    add_all(static_cast<std::tuple<Ts...>*>(nullptr));
    text_ += '>';
  }

  template <class T>
  void add_fields() {
    const std::string name = type_name(typeid(T));
    text_ += name;
    if (std::find(shown_.begin(), shown_.end(), name) != shown_.end()) return;
    shown_.push_back(name);
    text_ += '{';
    std::string_view names = T::tenon_field_names();
    add_members(names, static_cast<decltype(std::declval<const T&>().tenon_fields())*>(nullptr));
    text_ += '}';
  }
  template <class... Ts>
  void add_members(std::string_view& names, std::tuple<Ts...>*) {
    (add_member<std::remove_cvref_t<Ts>>(names), ...);
  }
  template <class T>
  void add_member(std::string_view& names) {
    const size_t end = std::min(names.find(','), names.size());
    text_ += names.substr(0, end);
    text_ += ':';
    add<T>();
    names.remove_prefix(end);
    if (names.empty()) return;
    text_ += ',';
    names.remove_prefix(std::min(names.find_first_not_of(", "), names.size()));
  }

  std::string text_;
  std::vector<std::string> shown_;
};

/// "(string,int64)", "User{name:string,age:int32}": equal for types whose Codec writes the same,
/// as far as it can be seen from outside, in every process and build.
template <class T>
std::string type_text() {
  TypeText text;
  text.add<T>();
  return text.text();
}

}  // namespace tenon::detail
