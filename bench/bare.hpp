// What the yardsticks share: two threads, and files in memory.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tenon_bench {

// As many as local[2] has.
inline constexpr size_t kThreads = 2;

// work(t) for each t below kThreads, on threads of their own.
template <class Work>
void in_parallel(const Work& work) {
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (size_t t = 0; t < kThreads; ++t) threads.emplace_back([&work, t] { work(t); });
  for (auto& thread : threads) thread.join();
}

// Where part t of n things begins; it ends where part t + 1 begins.
constexpr uint64_t part_begin(uint64_t n, size_t t) { return n * t / kThreads; }

class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info{};
    if (fd < 0 || ::fstat(fd, &info) != 0) throw std::runtime_error("cannot open " + path);
    size_ = static_cast<size_t>(info.st_size);
    data_ =
        size_ == 0 ? nullptr : ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    ::close(fd);
    if (data_ == MAP_FAILED) throw std::runtime_error("cannot map " + path);
  }
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  [[nodiscard]] const char* data() const { return static_cast<const char*>(data_); }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace tenon_bench
