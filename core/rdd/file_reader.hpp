// Reads one input file; its errors name it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/file_descriptor.hpp"

namespace tenon::rdd {

class FileReader {
 public:
  // Throws tenon::Error (input_output), as read() does.
  explicit FileReader(const std::string& path);
  // Fewer bytes than asked for only at the end of the file.
  size_t read(char* to, size_t size, uint64_t offset) const;

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  FileDescriptor file_;
};

}  // namespace tenon::rdd
