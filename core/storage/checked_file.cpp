#include "storage/checked_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "common/file_descriptor.hpp"
#include "tenon/detail/hash.hpp"

namespace tenon::storage {
namespace {

constexpr size_t kChecksumBytes = sizeof(uint64_t);

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw FileError("file " + path + " " + why);
}
[[noreturn]] void fail_errno(const std::string& path, const char* what) {
  fail(path, std::string(what) + ": " + std::strerror(errno));
}

struct FreeHash {
  void operator()(XXH3_state_t* hash) const { XXH3_freeState(hash); }
};

// A file under a name of its own until commit().
class NewFile {
 public:
  explicit NewFile(std::string path) : path_(std::move(path)) {
    do {  // until the name is free
      temporary_ = path_ + "." + std::to_string(::getpid()) + "-" + std::to_string(next_++);
      fd_ =
          FileDescriptor(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    } while (!fd_ && errno == EEXIST);
    if (!fd_) fail_errno(path_, "cannot be created");
    if (!hash_) throw std::bad_alloc();
    XXH3_64bits_reset(hash_.get());
  }
  ~NewFile() {
    if (!committed_) ::unlink(temporary_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void append(std::string_view bytes) {
    XXH3_64bits_update(hash_.get(), bytes.data(), bytes.size());
    write(bytes);
  }
  // Bytes of the file.
  uint64_t commit() {
    const uint64_t checksum = XXH3_64bits_digest(hash_.get());
    write({reinterpret_cast<const char*>(&checksum), sizeof checksum});
    if (::close(fd_.release()) != 0) fail_errno(path_, "cannot be written");
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_errno(path_, "cannot be made");
    committed_ = true;
    return size_;
  }

 private:
  void write(std::string_view bytes) {
    size_ += bytes.size();
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_errno(path_, "cannot be written");
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }

  static inline std::atomic<uint64_t> next_{0};
  const std::string path_;
  std::string temporary_;
  FileDescriptor fd_;
  std::unique_ptr<XXH3_state_t, FreeHash> hash_{XXH3_createState()};
  uint64_t size_ = 0;
  bool committed_ = false;
};

class MappedFile final : public detail::EncodedPartition {
 public:
  explicit MappedFile(const std::string& path) {
    const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) fail_errno(path, "cannot be opened");
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0) fail_errno(path, "cannot be read");
    size_ = static_cast<size_t>(status.st_size);
    if (size_ < kChecksumBytes) fail(path, "is damaged: it is cut short");
    data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (data_ == MAP_FAILED) fail_errno(path, "cannot be read");
  }
  ~MappedFile() override {
    if (data_ != MAP_FAILED) ::munmap(data_, size_);
  }
  [[nodiscard]] uint64_t bytes() const override { return sizeof *this; }
  [[nodiscard]] std::string_view records() const override {
    return {static_cast<const char*>(data_), size_ - kChecksumBytes};
  }
  [[nodiscard]] bool intact() const {
    uint64_t expected = 0;
    std::memcpy(&expected, records().data() + records().size(), sizeof expected);
    return hash_bytes(records()) == expected;
  }

 private:
  size_t size_ = 0;
  void* data_ = MAP_FAILED;
};

}  // namespace

uint64_t write_checked_file(const std::string& path,
                            const std::function<void(const detail::ByteSink&)>& fill) {
  NewFile file(path);
  fill([&file](std::string_view bytes) { file.append(bytes); });
  return file.commit();
}

std::shared_ptr<const detail::EncodedPartition> read_checked_file(
    const std::string& path, const std::function<void(std::string_view)>& look) {
  auto file = std::make_shared<const MappedFile>(path);
  if (look) look(file->records());
  if (!file->intact()) fail(path, "is damaged: its checksum does not fit");
  return file;
}

}  // namespace tenon::storage
