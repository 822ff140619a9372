/// @file words.hpp
/// The words of a text, without copying.
#pragma once

#include <iterator>
#include <string_view>

namespace tenon {

/// The words of a text, lazily: runs of bytes other than the six space, \t, \n, \v, \f, \r. The
/// views look into the text.
class Words {
 public:
  explicit constexpr Words(std::string_view text) : text_(text) {}

  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;

    constexpr iterator() = default;
    explicit constexpr iterator(std::string_view text)
        : next_(text.data()), end_(text.data() + text.size()) {
      ++*this;
    }
    constexpr std::string_view operator*() const { return word_; }
    constexpr iterator& operator++() {
      const char* from = next_;
      while (from != end_ && is_space(*from)) ++from;
      const char* to = from;
      while (to != end_ && !is_space(*to)) ++to;
      word_ = std::string_view(from, static_cast<size_t>(to - from));
      next_ = to;
      return *this;
    }
    constexpr void operator++(int) { ++*this; }
    friend constexpr bool operator==(const iterator& it, std::default_sentinel_t) {
      return it.word_.empty();
    }

   private:
    static constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

    std::string_view word_;
    const char* next_ = nullptr;
    const char* end_ = nullptr;
  };

  [[nodiscard]] constexpr iterator begin() const { return iterator(text_); }
  [[nodiscard]] static constexpr std::default_sentinel_t end() { return {}; }

 private:
  std::string_view text_;
};

/// The words of a line: `text_file<std::string_view>(path).flat_map(tenon::fn<tenon::words>)`.
[[nodiscard]] constexpr Words words(std::string_view text) { return Words(text); }

}  // namespace tenon
