#include "rdd/file_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tenon/error.hpp"

namespace tenon::rdd {

FileReader::FileReader(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!file_) fail("cannot be opened");
}

size_t FileReader::read(char* to, size_t size, uint64_t offset) const {
  size_t done = 0;
  while (done < size) {
    const ssize_t n =
        ::pread(file_.get(), to + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be read");
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

void FileReader::fail(const char* what) const {
  throw Error(ErrorKind::input_output,
              "input file " + path_ + " " + what + ": " + std::strerror(errno));
}

}  // namespace tenon::rdd
