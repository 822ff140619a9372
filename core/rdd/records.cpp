// What the templates of the program API keep out of line.
#include <xxhash.h>

#include "tenon/accumulator.hpp"
#include "tenon/codec.hpp"
#include "tenon/context.hpp"
#include "tenon/detail/driver.hpp"
#include "tenon/detail/hash.hpp"
#include "tenon/detail/rdd_actions.hpp"
#include "tenon/error.hpp"

namespace tenon {

uint64_t hash_bytes(std::string_view bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void ByteReader::throw_short(uint64_t wanted) const {
  throw Error(ErrorKind::codec, "encoded value is cut short: it wants " + std::to_string(wanted) +
                                    " more bytes, " + std::to_string(left()) + " are left");
}
void ByteReader::throw_bad_size() {
  throw Error(ErrorKind::codec, "encoded value has a length that is no 64-bit number");
}
void ByteReader::throw_bad_flag(unsigned byte) {
  throw Error(ErrorKind::codec,
              "encoded value has a flag that is neither 0 nor 1 but " + std::to_string(byte));
}

namespace detail {

void throw_bad_count(uint64_t count) {
  throw Error(ErrorKind::codec,
              "encoded value has a count that its bytes cannot hold: " + std::to_string(count));
}
void throw_left_over(size_t bytes) {
  throw Error(ErrorKind::codec, "encoded value is followed by " + std::to_string(bytes) +
                                    " bytes that its Codec did not read");
}
void throw_bad_index(uint64_t index, size_t alternatives) {
  throw Error(ErrorKind::codec, "encoded variant names alternative " + std::to_string(index) +
                                    ", of " + std::to_string(alternatives));
}
void throw_bad_partitions(const char* operation, int32_t given) {
  throw Error(ErrorKind::invalid_argument, std::string(operation) +
                                               ": the number of partitions must be above 0, not " +
                                               std::to_string(given));
}
void throw_bad_partition(int32_t partition, int32_t partitions) {
  throw FatalError(ErrorKind::invalid_argument,
                   "the partitioner put a key into partition " + std::to_string(partition) +
                       ", but there are " + std::to_string(partitions) + " partitions, 0 to " +
                       std::to_string(partitions - 1) +
                       ": its function must give one of these for every key");
}
void throw_bad_argument(const char* operation, const std::string& why) {
  throw Error(ErrorKind::invalid_argument, std::string(operation) + ": " + why);
}
void throw_unequal_partitions(const char* operation, int32_t left, int32_t right) {
  throw_bad_argument(operation, "both sides need the same number of partitions, they have " +
                                    std::to_string(left) + " and " + std::to_string(right));
}
void throw_unequal_zip(int32_t partition) {
  throw_bad_argument("zip", "partition " + std::to_string(partition) +
                                " has another number of records on each side; zip_partitions can "
                                "walk partitions of different sizes");
}
void throw_empty(const char* operation) {
  throw Error(ErrorKind::invalid_argument, std::string(operation) + ": the Rdd has no record");
}
void throw_zero_step() {
  throw Error(ErrorKind::invalid_argument, "range: the step must not be 0");
}
void throw_accumulator_in_task() {
  throw Error(ErrorKind::invalid_argument,
              "an accumulator's value can be read in the driver only; tasks can only add to it");
}

}  // namespace detail
}  // namespace tenon
