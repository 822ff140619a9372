#include "cpu_limit.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <fstream>
#include <thread>

namespace tenon::local {
namespace {

namespace fs = std::filesystem;

// A root folder with /proc and control groups of its own.
class CpuLimit : public ::testing::Test {
 protected:
  CpuLimit() {
    std::string name = (fs::temp_directory_path() / "tenon-root-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    root_ = name;
  }
  ~CpuLimit() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    const fs::path file = root_ / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void version_2(const std::string& group, const std::string& mounted = "/") {
    write("proc/self/cgroup", "0::" + group + "\n");
    write("proc/self/mountinfo",
          "22 1 0:20 / /proc rw - proc proc rw\n"
          "30 23 0:26 " +
              mounted + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  }
  void version_1(const std::string& group, const std::string& mounted = "/") {
    write("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:" + group + "\n1:name=systemd:/s\n");
    write("proc/self/mountinfo",
          "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
          "32 30 0:28 " +
              mounted + " /sys/fs/cgroup/cpu\\040acct rw - cgroup cgroup rw,cpu,cpuacct\n");
  }
  fs::path root_;
};

struct Quota {
  const char* max;
  std::optional<uint32_t> cpus;
};

TEST_F(CpuLimit, C19_1_QuotaOfVersion2IsRoundedUp) {
  version_2("/a");
  const Quota rows[] = {
      {"max 100000\n", std::nullopt}, {"100000 100000\n", 1},      {"150000 100000\n", 2},
      {"50000 100000\n", 1},          {"1000 100000\n", 1},        {"300000 100000\n", 3},
      {"800000 100000\n", 8},         {"", std::nullopt},          {"junk\n", std::nullopt},
      {"0 100000\n", std::nullopt},   {"100000 0\n", std::nullopt}};
  for (const Quota& row : rows) {
    write("sys/fs/cgroup/a/cpu.max", row.max);
    EXPECT_EQ(quota_cpus(root_), row.cpus) << row.max;
  }
}

TEST_F(CpuLimit, SmallestOnTheWayToTheRoot) {
  version_2("/a/b/c");
  write("sys/fs/cgroup/a/b/c/cpu.max", "max 100000");
  write("sys/fs/cgroup/a/b/cpu.max", "600000 100000");
  EXPECT_EQ(quota_cpus(root_), 6u);
  write("sys/fs/cgroup/a/cpu.max", "250000 100000");
  EXPECT_EQ(quota_cpus(root_), 3u);
  write("sys/fs/cgroup/cpu.max", "200000 100000");  // the root of a container's own view
  EXPECT_EQ(quota_cpus(root_), 2u);
}

TEST_F(CpuLimit, GroupInsideAContainer) {
  version_2("/docker/x/job", "/docker/x");  // the mount shows /docker/x as its root
  write("sys/fs/cgroup/job/cpu.max", "400000 100000");
  EXPECT_EQ(quota_cpus(root_), 4u);
  version_2("/elsewhere", "/docker/x");  // not shown: the mount point stands for it
  write("sys/fs/cgroup/cpu.max", "500000 100000");
  EXPECT_EQ(quota_cpus(root_), 5u);
  version_2("/../../up", "/");
  EXPECT_EQ(quota_cpus(root_), 5u);
}

TEST_F(CpuLimit, QuotaOfVersion1) {
  version_1("/a/b");
  EXPECT_EQ(quota_cpus(root_), std::nullopt);
  const std::string cpu = "sys/fs/cgroup/cpu acct/";
  write(cpu + "a/b/cpu.cfs_quota_us", "-1\n");
  write(cpu + "a/b/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota_cpus(root_), std::nullopt);
  write(cpu + "a/cpu.cfs_quota_us", "150000\n");
  write(cpu + "a/cpu.cfs_period_us", "50000\n");
  EXPECT_EQ(quota_cpus(root_), 3u);
}

TEST_F(CpuLimit, NothingToReadIsNoLimit) {
  EXPECT_EQ(quota_cpus(root_), std::nullopt);
  write("proc/self/cgroup", "junk\n::\n:\n");
  write("proc/self/mountinfo", "junk\n - \n - cgroup2\n");
  EXPECT_EQ(quota_cpus(root_), std::nullopt);
  EXPECT_EQ(usable_cpus(root_), affinity_cpus());
}

TEST_F(CpuLimit, QuotaBelowAffinityWins) {
  version_2("/");
  write("sys/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_EQ(usable_cpus(root_), 1u);
  write("sys/fs/cgroup/cpu.max", "100000000 1000");
  EXPECT_EQ(usable_cpus(root_), affinity_cpus());
}

TEST_F(CpuLimit, AffinityOfTheThread) {
  std::thread([&] {
    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    EXPECT_EQ(affinity_cpus(), static_cast<uint32_t>(CPU_COUNT(&all)));
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &all)) {
        CPU_SET(cpu, &one);
        break;
      }
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(affinity_cpus(), 1u);
    EXPECT_EQ(usable_cpus(root_), 1u);
  }).join();
}

}  // namespace
}  // namespace tenon::local
