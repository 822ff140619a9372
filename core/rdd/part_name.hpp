// How the files of an Rdd's partitions are called.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace tenon::rdd {

inline constexpr std::string_view kPartPrefix = "part-";

// "part-00042"
inline std::string part_name(int32_t partition) {
  char name[32];
  std::snprintf(name, sizeof name, "part-%05d", partition);
  return name;
}

// Where a part of an output lies until the job is done.
inline constexpr std::string_view kTemporaryFolder = "/_temporary";
inline std::string temporary_part(const std::string& directory, int32_t partition) {
  return directory + std::string(kTemporaryFolder) + "/" + part_name(partition);
}

}  // namespace tenon::rdd
