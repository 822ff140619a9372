#include "cpu_limit.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tenon/plugin/text.hpp"

namespace tenon::local {
namespace {

namespace fs = std::filesystem;

// One hierarchy of control groups that may limit the CPU.
struct Hierarchy {
  fs::path mount_point;
  std::string mounted;  // the group that stands at the mount point
  bool unified = false;
};

// The kernel writes blanks in paths as octal escapes.
std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 3)), nullptr, 8));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool in_list(std::string_view list, std::string_view word) {
  const auto words = plugin::split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// "36 35 98:0 /group /mount/point rw - cgroup2 cgroup rw"
std::vector<Hierarchy> hierarchies(const fs::path& mountinfo) {
  std::vector<Hierarchy> found;
  std::ifstream file(mountinfo);
  for (std::string line; std::getline(file, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash)), after(line.substr(dash + 3));
    std::string skip, group, point, type, source, options;
    before >> skip >> skip >> skip >> group >> point;
    after >> type >> source >> options;
    const bool unified = type == "cgroup2";
    if (unified || (type == "cgroup" && in_list(options, "cpu"))) {
      found.push_back({unescaped(point), unescaped(group), unified});
    }
  }
  return found;
}

// This process's group in the hierarchy: "0::/a/b" of version 2, "4:cpu,cpuacct:/a/b" of version 1.
std::optional<std::string> own_group(const fs::path& cgroups, bool unified) {
  std::ifstream file(cgroups);
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (unified ? controllers.empty() : in_list(controllers, "cpu")) return line.substr(second + 1);
  }
  return std::nullopt;
}

std::optional<double> quota_of(const fs::path& folder, bool unified) {
  double quota = 0, period = 0;
  if (unified) {
    std::ifstream file(folder / "cpu.max");
    if (!(file >> quota >> period)) return std::nullopt;  // also "max 100000"
  } else {
    std::ifstream quota_file(folder / "cpu.cfs_quota_us");
    std::ifstream period_file(folder / "cpu.cfs_period_us");
    if (!(quota_file >> quota) || !(period_file >> period)) return std::nullopt;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

// Below the mount point; a group that the mount does not show is taken for the mount point itself.
fs::path relative_group(const std::string& group, const std::string& mounted) {
  const fs::path below = fs::path(group).lexically_relative(mounted);
  return below.empty() || *below.begin() == ".." ? fs::path(".") : below;
}

}  // namespace

uint32_t affinity_cpus() {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<size_t>(cpus));
    if (set == nullptr) break;
    const size_t size = CPU_ALLOC_SIZE(static_cast<size_t>(cpus));
    const bool known = sched_getaffinity(0, size, set) == 0;
    const int count = known ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count > 0) return static_cast<uint32_t>(count);
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

std::optional<uint32_t> quota_cpus(const fs::path& root) {
  std::optional<double> smallest;
  for (const Hierarchy& hierarchy : hierarchies(root / "proc/self/mountinfo")) {
    const auto group = own_group(root / "proc/self/cgroup", hierarchy.unified);
    if (!group) continue;
    const fs::path mount = root / hierarchy.mount_point.relative_path();
    fs::path below = relative_group(*group, hierarchy.mounted);
    for (;; below = below.parent_path()) {
      const auto quota = quota_of(mount / below, hierarchy.unified);
      if (quota) smallest = std::min(*quota, smallest.value_or(*quota));
      if (below.empty() || below == ".") break;
    }
  }
  if (!smallest) return std::nullopt;
  // A quota of 150 ms in 100 ms is 2 CPUs; the small slack keeps 0.3 / 0.1 at 3.
  return static_cast<uint32_t>(std::clamp(std::ceil(*smallest - 1e-9), 1.0, 1e6));
}

uint32_t usable_cpus(const fs::path& root) {
  const uint32_t cpus = affinity_cpus();
  return std::min(cpus, quota_cpus(root).value_or(cpus));
}

}  // namespace tenon::local
