// Which files a list of paths means, and how they are cut into splits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::rdd {

struct InputFile {
  std::string path;
  uint64_t size = 0;
};

// A file, a folder (with its sub-folders), a glob, or several with commas between; a name that
// exists as it stands is taken as it stands. In byte order of the paths within each folder and
// glob. Names that begin with '.' or '_' are left out within folders and globs. Throws tenon::Error
// (input_output) naming a path that is missing or unreadable, or a glob that matches nothing.
[[nodiscard]] std::vector<InputFile> list_input_files(const std::string& paths);
// The same for paths one by one, in which a comma is a character like any other.
[[nodiscard]] std::vector<InputFile> list_input_files(const std::vector<std::string>& paths);
// The same as the first; a folder with files in it, or with nothing at all, must have _SUCCESS.
[[nodiscard]] std::vector<InputFile> list_saved_files(const std::string& paths);

// A stretch of one file; the lines that begin in it belong to it.
struct FileRange {
  std::string path;
  uint64_t offset = 0, length = 0;
};

// Throws tenon::Error (input_output) naming the first file that is no row of records of this size.
void check_record_files(const std::vector<InputFile>& files, uint64_t record_bytes);

struct SplitRule {
  uint64_t min_splits = 1;  // where there are bytes enough
  uint64_t max_bytes = 0;   // of a split, where it can be cut
  uint64_t unit = 1;        // bytes that are not cut; 0: a file is not cut
  bool keep_empty = false;  // files without a byte belong to a split, too
};

// Small files share a split. Compressed files are not cut.
[[nodiscard]] std::vector<std::vector<FileRange>> make_splits(const std::vector<InputFile>& files,
                                                              const SplitRule& rule);

[[nodiscard]] std::string encode_split(const std::vector<FileRange>& split);
[[nodiscard]] std::vector<FileRange> decode_split(std::string_view bytes);

}  // namespace tenon::rdd
