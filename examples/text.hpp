// What the examples do with text: numbers, and the end of what is printed.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/tenon.hpp"

// True when all of the text is a number of this type.
template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

inline std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (const std::string_view word : tenon::words(line)) words.emplace_back(word);
  return words;
}

// The numbers of a line, with blanks between. Another word ends the job.
inline std::vector<double> numbers(std::string_view line) {
  std::vector<double> numbers;
  for (const std::string_view word : tenon::words(line)) {
    if (!parse(word, numbers.emplace_back()) || !std::isfinite(numbers.back())) {
      throw tenon::FatalError("'" + std::string(word) + "' is no number, in the line " +
                              std::string(line));
    }
  }
  return numbers;
}

// The exit code of a program that has printed all: 1 when it could not be written.
inline int printed() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? 0 : 1; }
