#include "conf/handover.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "conf/value.hpp"
#include "tenon/error.hpp"

namespace tenon::conf {
namespace {

// "TENONSET1" NUL, then NUL-terminated texts: flags, then kind, key, value, where of each entry.
constexpr std::string_view kMagic{"TENONSET1\0", 10};
constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
constexpr int kLowestDescriptor = 100;
constexpr off_t kMaxSize = 64 << 20;

void append(std::string& out, std::string_view text) {
  out.append(text);
  out.push_back('\0');
}

void append(std::string& out, std::string_view kind, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    append(out, kind);
    append(out, entry.key);
    append(out, entry.value);
    append(out, entry.where);
  }
}

[[noreturn]] void broken() {
  throw Error(ErrorKind::usage,
              "the settings of 'tenon submit' did not arrive whole; start the program again");
}

std::string take_text(std::string_view& bytes) {
  const size_t end = bytes.find('\0');
  if (end == std::string_view::npos) broken();
  std::string text(bytes.substr(0, end));
  bytes.remove_prefix(end + 1);
  return text;
}

std::string read_all(int fd, size_t size) {
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done <
         size) {  // pread: processes that share the descriptor do not move each other's place
    const ssize_t count = ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) broken();
    done += static_cast<size_t>(count);
  }
  return bytes;
}

}  // namespace

std::string encode_handover(const Handover& handover) {
  std::string bytes(kMagic);
  append(bytes, std::string(handover.has_properties_file ? "p" : "") +
                    (handover.load_defaults ? "d" : ""));
  append(bytes, "o", handover.options);
  append(bytes, "f", handover.properties_file);
  return bytes;
}

Handover decode_handover(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) broken();
  bytes.remove_prefix(kMagic.size());
  Handover handover;
  const std::string flags = take_text(bytes);
  handover.has_properties_file = flags.find('p') != std::string::npos;
  handover.load_defaults = flags.find('d') != std::string::npos;
  while (!bytes.empty()) {
    const std::string kind = take_text(bytes);
    Entry entry;
    entry.key = take_text(bytes);
    entry.value = take_text(bytes);
    entry.where = take_text(bytes);
    if (kind != "o" && kind != "f") broken();
    (kind == "o" ? handover.options : handover.properties_file).push_back(std::move(entry));
  }
  return handover;
}

FileDescriptor make_handover(const Handover& handover) {
  const auto refuse = [] {
    throw Error(ErrorKind::internal,
                std::string("cannot make a memory file for the settings: ") + std::strerror(errno));
  };
  const FileDescriptor low(::memfd_create("tenon-settings", MFD_ALLOW_SEALING | MFD_CLOEXEC));
  if (!low) refuse();
  // Shell scripts use the low numbers themselves.
  FileDescriptor file(::fcntl(low.get(), F_DUPFD, kLowestDescriptor));
  if (!file) refuse();
  const std::string bytes = encode_handover(handover);
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t count = ::write(file.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) refuse();
    rest.remove_prefix(static_cast<size_t>(count));
  }
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) refuse();
  return file;
}

Handover read_handover(std::string_view descriptor) {
  const std::optional<int64_t> number = parse_int(descriptor);
  const int fd = number && *number > 2 && *number < 1 << 20 ? static_cast<int>(*number) : -1;
  struct stat info{};
  // The seals tell our memory file from whatever else may have this number by now.
  if (fd < 0 || ::fcntl(fd, F_GET_SEALS) != kSeals || ::fstat(fd, &info) != 0 ||
      info.st_size > kMaxSize) {
    throw Error(ErrorKind::usage,
                "the settings of 'tenon submit' did not arrive: descriptor " +
                    std::string(descriptor) + " of " + kHandoverVariable +
                    " is not open; whatever starts the program must let it inherit descriptors");
  }
  const FileDescriptor file(fd);
  return decode_handover(read_all(fd, static_cast<size_t>(info.st_size)));
}

const Handover& inherited_handover() {
  static const Handover handover = [] {
    const char* descriptor = std::getenv(kHandoverVariable);
    if (descriptor == nullptr) return Handover{};
    Handover read = read_handover(descriptor);
    ::unsetenv(kHandoverVariable);
    return read;
  }();
  return handover;
}

}  // namespace tenon::conf
