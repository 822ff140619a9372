// How many CPUs this process may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace tenon::local {

// CPUs in the affinity mask of the calling thread; at least 1.
uint32_t affinity_cpus();

// The smallest CPU quota on the way from this process's control group to the root of its hierarchy,
// version 1 and 2, in whole CPUs rounded up, at least 1; nothing when none is set. root stands
// before /proc and the mount points: "/" but in tests.
std::optional<uint32_t> quota_cpus(const std::filesystem::path& root);

// The smaller of the two.
uint32_t usable_cpus(const std::filesystem::path& root = "/");

}  // namespace tenon::local
