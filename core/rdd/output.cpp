// The folders that jobs write, and the parts of save_as_text_file: parts are written under
// DIR/_temporary, get their names when the job is done, and _SUCCESS comes last.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "rdd/part_name.hpp"
#include "tenon/detail/driver.hpp"
#include "tenon/error.hpp"
#include "tenon/task_context.hpp"

namespace tenon::detail {
namespace {

namespace fs = std::filesystem;
using rdd::part_name;
using rdd::temporary_part;

std::string text(const std::string& path, const char* what, const std::string& why) {
  return "output " + path + " " + what + ": " + why;
}
[[noreturn]] void fail(const std::string& path, const char* what, const std::string& why) {
  throw Error(ErrorKind::input_output, text(path, what, why));
}
[[noreturn]] void fail_errno(const std::string& path, const char* what) {
  fail(path, what, std::strerror(errno));
}
// In a task: what stands in the way of the output does so for every attempt (contract C9.5).
[[noreturn]] void fail_attempt(const std::string& path, const char* what, int why) {
  if (why == EEXIST || why == ENOTEMPTY || why == EISDIR) {
    throw FatalError(ErrorKind::input_output, text(path, what, std::strerror(why)));
  }
  fail(path, what, std::strerror(why));
}

class Output {
 public:
  explicit Output(std::string directory);
  ~Output() { abort(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  void commit(int32_t partitions);
  // Removes all that was written and not committed. Idempotent.
  void abort() noexcept;

 private:
  [[nodiscard]] std::string temporary() const {
    return directory_ + std::string(rdd::kTemporaryFolder);
  }

  std::string directory_;
  std::vector<std::string> made_above_;  // folders that were not there, from below
  bool committed_ = false;
};

Output::Output(std::string directory) : directory_(std::move(directory)) {
  if (directory_.empty()) fail("directory", "cannot be written", "its name is empty");
  std::error_code error;
  if (fs::exists(fs::symlink_status(directory_, error))) {
    fail(directory_, "cannot be written",
         "it exists already; remove it or choose another directory");
  }
  for (fs::path above = fs::path(directory_).parent_path();
       !above.empty() && !fs::exists(above, error); above = above.parent_path()) {
    made_above_.push_back(above);
  }
  if (!fs::create_directories(temporary(), error) || error) {
    abort();
    fail(directory_, "cannot be made", error.message());
  }
}

void Output::abort() noexcept {
  if (std::exchange(committed_, true)) return;
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
  for (const std::string& above : made_above_) fs::remove(above, ignored);  // unless it is in use
}

void Output::commit(int32_t partitions) {
  for (int32_t p = 0; p < partitions; ++p) {
    const std::string to = directory_ + "/" + part_name(p);
    if (std::rename(temporary_part(directory_, p).c_str(), to.c_str()) != 0) {
      fail_errno(to, "cannot be committed");
    }
  }
  std::error_code error;
  fs::remove_all(temporary(), error);
  if (error) fail(temporary(), "cannot be removed", error.message());
  const std::string success = directory_ + "/_SUCCESS";
  const int fd = ::open(success.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) fail_errno(success, "cannot be written");
  ::close(fd);
  committed_ = true;
}

}  // namespace

void save_output(const std::string& directory, int32_t partitions,
                 const std::function<void()>& write_parts) {
  Output output(directory);
  try {
    write_parts();
    output.commit(partitions);
  } catch (...) {
    output.abort();  // an error that leaves main unwinds nothing
    throw;
  }
}

TextPart::TextPart(const std::string& directory, int32_t partition) {
  final_ = temporary_part(directory, partition);
  temporary_ = directory + std::string(rdd::kTemporaryFolder) + "/attempt-" +
               std::to_string(TaskContext::current()->task_id());
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) fail_attempt(temporary_, "cannot be opened", errno);
}

TextPart::~TextPart() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void TextPart::flush() {
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t n = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(final_, "cannot be written");
    done += static_cast<size_t>(n);
  }
  buffer_.clear();
}

void TextPart::commit() {
  flush();
  if (::close(std::exchange(fd_, -1)) != 0) fail_errno(final_, "cannot be written");
  if (std::rename(temporary_.c_str(), final_.c_str()) != 0) {
    const int why = errno;
    ::unlink(temporary_.c_str());
    fail_attempt(final_, "cannot be committed", why);
  }
}

}  // namespace tenon::detail
