/// @file hyper_log_log.hpp
/// An estimate of how many distinct hashes there were. Not for programs.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tenon/codec.hpp"

namespace tenon::detail {

/// HyperLogLog (Flajolet, Fusy, Gandouet, Meunier, 2007) over 64-bit hashes, which need no
/// correction for large counts; small ones are counted by empty registers.
struct HyperLogLog {
  uint8_t bits = 4;  // log2 of the number of registers
  std::vector<uint8_t> registers;
  TENON_FIELDS(bits, registers)

  static HyperLogLog with_bits(uint8_t bits) {
    return {bits, std::vector<uint8_t>(size_t{1} << bits)};
  }
  /// Registers enough for a relative standard deviation, which is 1.04 / sqrt(registers).
  static uint8_t bits_for(double relative_deviation) {
    const double bits = std::ceil(2 * std::log2(1.04 / relative_deviation));
    return static_cast<uint8_t>(std::clamp(bits, 4.0, 24.0));
  }

  void add(uint64_t hash) {
    const size_t at = hash >> (64 - bits);
    const uint64_t rest = hash << bits | (uint64_t{1} << (bits - 1));
    registers[at] = std::max(registers[at], static_cast<uint8_t>(std::countl_zero(rest) + 1));
  }
  void merge(const HyperLogLog& other) {
    for (size_t i = 0; i < registers.size(); ++i) {
      registers[i] = std::max(registers[i], other.registers[i]);
    }
  }
  [[nodiscard]] uint64_t estimate() const {
    const auto m = static_cast<double>(registers.size());
    const double alpha = registers.size() == 16   ? 0.673
                         : registers.size() == 32 ? 0.697
                         : registers.size() == 64 ? 0.709
                                                  : 0.7213 / (1 + 1.079 / m);
    double sum = 0;
    for (const uint8_t rank : registers) sum += std::ldexp(1.0, -rank);
    const double raw = alpha * m * m / sum;
    const auto empty = static_cast<double>(std::count(registers.begin(), registers.end(), 0));
    const double best = raw <= 2.5 * m && empty > 0 ? m * std::log(m / empty) : raw;
    return static_cast<uint64_t>(std::llround(best));
  }
};

}  // namespace tenon::detail
