#include "rdd/modules.hpp"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>
#include <utility>

#include "tenon/error.hpp"

namespace tenon::rdd {
namespace {

struct Segment {
  uintptr_t begin = 0, end = 0;
  bool executable = false;
  [[nodiscard]] bool holds(uintptr_t address) const { return address >= begin && address < end; }
};

struct Loaded {
  uintptr_t base = 0;
  Module module;
  std::vector<Segment> segments;
  [[nodiscard]] bool holds(uintptr_t address) const {
    for (const Segment& segment : segments) {
      if (segment.holds(address)) return true;
    }
    return false;
  }
  [[nodiscard]] bool holds_code(uintptr_t address) const {
    for (const Segment& segment : segments) {
      if (segment.executable && segment.holds(address)) return true;
    }
    return false;
  }
};

std::string hexadecimal(const unsigned char* bytes, size_t size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

// The build-id among the notes of one PT_NOTE segment; empty when it is not there.
std::string find_build_id(uintptr_t at, uintptr_t end) {
  const auto padded = [](size_t size) { return (size + 3) & ~size_t{3}; };
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, reinterpret_cast<const void*>(at), sizeof note);
    const uintptr_t name = at + sizeof note;
    const uintptr_t content = name + padded(note.n_namesz);
    if (content + note.n_descsz > end) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(reinterpret_cast<const void*>(name), "GNU", 4) == 0) {
      return hexadecimal(reinterpret_cast<const unsigned char*>(content), note.n_descsz);
    }
    at = content + padded(note.n_descsz);
  }
  return {};
}

std::string program_path() {
  std::array<char, 4096> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<size_t>(size)) : std::string();
}

Loaded describe(const dl_phdr_info& info) {
  Loaded loaded;
  loaded.base = info.dlpi_addr;
  loaded.module.path = info.dlpi_name;
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    const uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    const uintptr_t end = begin + header.p_memsz;
    if (header.p_type == PT_LOAD) {
      loaded.segments.push_back({begin, end, (header.p_flags & PF_X) != 0});
    } else if (header.p_type == PT_NOTE && loaded.module.build_id.empty()) {
      loaded.module.build_id = find_build_id(begin, end);
    }
  }
  return loaded;
}

// Visits the modules in load order until the function says true.
void visit_modules(const std::function<bool(const dl_phdr_info&)>& visit) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* context) {
        return (*static_cast<const std::function<bool(const dl_phdr_info&)>*>(context))(*info) ? 1
                                                                                               : 0;
      },
      const_cast<void*>(static_cast<const void*>(&visit)));
}

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::codec, what); }

}  // namespace

std::vector<Module> modules_of(const std::vector<const void*>& addresses) {
  std::vector<Module> modules;
  bool first = true;
  visit_modules([&](const dl_phdr_info& info) {
    Loaded loaded = describe(info);
    // The program comes first and has no name here.
    if (std::exchange(first, false) && loaded.module.path.empty()) {
      loaded.module.path = program_path();
    }
    for (const void* address : addresses) {
      if (!loaded.holds(reinterpret_cast<uintptr_t>(address))) continue;
      modules.push_back(std::move(loaded.module));
      break;
    }
    return false;
  });
  return modules;
}

}  // namespace tenon::rdd

namespace tenon::detail {

// 8 bytes of offset, little-endian, then the build-id in hexadecimal.
std::string encode_function_pointer(const void* function) {
  const auto address = reinterpret_cast<uintptr_t>(function);
  std::string bytes;
  bool found = false;
  rdd::visit_modules([&](const dl_phdr_info& info) {
    const rdd::Loaded loaded = rdd::describe(info);
    if (!loaded.holds_code(address)) return false;
    found = true;
    const uint64_t offset = address - loaded.base;
    bytes.assign(reinterpret_cast<const char*>(&offset), sizeof offset);
    bytes += loaded.module.build_id;
    return true;
  });
  if (!found) rdd::refuse("A function pointer does not point to code of a loaded module");
  if (bytes.size() == sizeof(uint64_t)) {
    rdd::refuse(
        "A function cannot be sent: its module has no build-id; link it with -Wl,--build-id=sha1");
  }
  return bytes;
}

const void* decode_function_pointer(std::string_view bytes) {
  uint64_t offset = 0;
  if (bytes.size() <= sizeof offset) rdd::refuse("A function pointer is cut short");
  std::memcpy(&offset, bytes.data(), sizeof offset);
  const std::string_view build_id = bytes.substr(sizeof offset);
  const void* function = nullptr;
  bool known = false;
  rdd::visit_modules([&](const dl_phdr_info& info) {
    const rdd::Loaded loaded = rdd::describe(info);
    if (loaded.module.build_id != build_id) return false;
    known = true;
    const uintptr_t address = loaded.base + offset;
    if (loaded.holds_code(address)) function = reinterpret_cast<const void*>(address);
    return true;
  });
  if (!known) {
    rdd::refuse("No loaded module has the build-id " + std::string(build_id) +
                " of a function that was sent");
  }
  if (function == nullptr) {
    rdd::refuse("Offset " + std::to_string(offset) +
                " of a function lies outside the code of module " + std::string(build_id));
  }
  return function;
}

}  // namespace tenon::detail
