// Arrays of the ABI, read element by element whatever the size of the writer's elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>
#include <type_traits>

#include "tenon/plugin/abi.h"
#include "tenon/plugin/text.hpp"

namespace tenon::plugin {

// Borrows the array. An element is a copy; fields that the writer does not know are zero.
template <class Array>
class View {
 public:
  using value_type = std::remove_cv_t<std::remove_pointer_t<decltype(Array::data)>>;
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = View::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = value_type;
    iterator() = default;
    iterator(const View* view, size_t index) noexcept : view_(view), index_(index) {}
    value_type operator*() const noexcept { return (*view_)[index_]; }
    iterator& operator++() noexcept {
      ++index_;
      return *this;
    }
    iterator operator++(int) noexcept { return {view_, index_++}; }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    const View* view_ = nullptr;
    size_t index_ = 0;
  };

  explicit View(const Array& raw) noexcept : raw_(raw) {}
  [[nodiscard]] size_t size() const noexcept { return raw_.count; }
  [[nodiscard]] bool empty() const noexcept { return raw_.count == 0; }
  [[nodiscard]] value_type operator[](size_t i) const noexcept {
    value_type element{};
    const char* const first = reinterpret_cast<const char*>(raw_.data);
    std::memcpy(&element, first + i * raw_.element_size,
                std::min(sizeof element, raw_.element_size));
    return element;
  }
  [[nodiscard]] iterator begin() const noexcept { return {this, 0}; }
  [[nodiscard]] iterator end() const noexcept { return {this, raw_.count}; }

 private:
  Array raw_;
};

using Strings = View<tenon_strs>;
using Pairs = View<tenon_pairs>;
using Resources = View<tenon_resources>;
using HostCounts = View<tenon_host_counts>;

// Borrows the elements as an array of the ABI: array<tenon_strs>(elements).
template <class Array, class Element>
[[nodiscard]] Array array(std::span<Element> elements) noexcept {
  return {elements.data(), elements.size(), sizeof(Element)};
}

// The value of a key in a list of pairs, a null text when it is not there.
[[nodiscard]] inline std::string_view find(const tenon_pairs& pairs,
                                           std::string_view key) noexcept {
  for (const tenon_pair pair : Pairs(pairs)) {
    if (view(pair.key) == key) return view(pair.value);
  }
  return {};
}

}  // namespace tenon::plugin
