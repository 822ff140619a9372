/// @file statistics.hpp
/// Count, mean, variance and extremes of numbers, which merge.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tenon/codec.hpp"

namespace tenon {

/// Running statistics of numbers. Two of them merge into that of both sets (Chan, Golub, LeVeque:
/// Updating Formulae and a Pairwise Algorithm for Computing Sample Variances, 1979).
struct Statistics {
  uint64_t count = 0;
  double mean = 0;     ///< 0 when count is 0
  double squares = 0;  ///< sum of the squared distances from the mean
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  TENON_FIELDS(count, mean, squares, min, max)

  void add(double value) {
    ++count;
    const double distance = value - mean;
    mean += distance / static_cast<double>(count);
    squares += distance * (value - mean);
    min = std::min(min, value);
    max = std::max(max, value);
  }
  void merge(const Statistics& other) {
    if (other.count == 0) return;
    const auto own = static_cast<double>(count), others = static_cast<double>(other.count);
    const double distance = other.mean - mean;
    mean += distance * others / (own + others);
    squares += other.squares + distance * distance * own * others / (own + others);
    count += other.count;
    min = std::min(min, other.min);
    max = std::max(max, other.max);
  }
  [[nodiscard]] double sum() const { return mean * static_cast<double>(count); }
  /// Of the whole population; NaN when count is 0.
  [[nodiscard]] double variance() const { return squares / static_cast<double>(count); }
  /// The estimate from a sample, with count - 1; NaN when count is below 2.
  [[nodiscard]] double sample_variance() const {
    return count < 2 ? std::numeric_limits<double>::quiet_NaN()
                     : squares / static_cast<double>(count - 1);
  }
  [[nodiscard]] double standard_deviation() const { return std::sqrt(variance()); }
};

}  // namespace tenon
