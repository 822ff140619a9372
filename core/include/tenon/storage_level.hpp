/// @file storage_level.hpp
/// Where and how the executors keep the partitions of an Rdd.
#pragma once

#include <cstdint>
#include <string_view>

#include "tenon/export.hpp"

namespace tenon {

/// What Rdd::persist() takes. Serialized: as the bytes of the element's Codec, which take less
/// memory and are decoded at each use. Bytes in memory count against tenon.memory.storageLimit, and
/// the least recently used partition goes first; files lie in tenon.local.dirs.
enum class StorageLevel : uint8_t {
  none,                        ///< not kept
  memory,                      ///< as objects; what does not fit is computed again
  memory_serialized,           ///< as bytes; what does not fit is computed again
  disk,                        ///< in files
  memory_and_disk,             ///< as objects; what does not fit is in files
  memory_and_disk_serialized,  ///< as bytes; what does not fit is in files
};

/// The level's name: "memory_and_disk".
TENON_API std::string_view to_string(StorageLevel level) noexcept;

/// Partitions lie in memory as long as they fit.
constexpr bool uses_memory(StorageLevel level) noexcept {
  return level != StorageLevel::none && level != StorageLevel::disk;
}
/// Partitions lie in files, at once or when they do not fit into memory.
constexpr bool uses_disk(StorageLevel level) noexcept {
  return level == StorageLevel::disk || level == StorageLevel::memory_and_disk ||
         level == StorageLevel::memory_and_disk_serialized;
}
/// Partitions lie in memory as bytes.
constexpr bool is_serialized(StorageLevel level) noexcept {
  return level == StorageLevel::memory_serialized ||
         level == StorageLevel::memory_and_disk_serialized;
}

}  // namespace tenon
