#include "rdd/input_files.hpp"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "rdd/compressed_file.hpp"
#include "tenon/detail/bytes.hpp"
#include "tenon/error.hpp"

namespace tenon::rdd {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::input_output, "input path " + path + ": " + why);
}
[[noreturn]] void refuse_errno(const std::string& path) { refuse(path, std::strerror(errno)); }

bool hidden(std::string_view name) { return name.starts_with('.') || name.starts_with('_'); }

std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

class Lister {
 public:
  Lister(std::vector<InputFile>& files, bool saved) : files_(files), saved_(saved) {}

  void add(const std::string& path) {
    struct stat info{};
    if (stat(path.c_str(), &info) != 0) refuse_errno(path);
    if (S_ISDIR(info.st_mode)) {
      add_folder(path, info);
    } else if (S_ISREG(info.st_mode)) {
      if (access(path.c_str(), R_OK) != 0) refuse_errno(path);
      files_.push_back({path, static_cast<uint64_t>(info.st_size)});
    } else {
      refuse(path, "is neither a file nor a folder");
    }
  }

  void add_glob(const std::string& pattern) {
    glob_t found{};
    const int rc = glob(pattern.c_str(), GLOB_BRACE | GLOB_NOSORT | GLOB_ERR, nullptr, &found);
    std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
    if (rc == GLOB_NOMATCH) refuse(pattern, "matches no file");
    if (rc != 0) refuse(pattern, "cannot be read as a glob: " + std::string(std::strerror(errno)));
    std::sort(paths.begin(), paths.end());
    const bool asks_hidden = hidden(base_name(pattern));
    for (const std::string& path : paths) {
      if (asks_hidden || !hidden(base_name(path))) add(path);
    }
  }

 private:
  // A folder that is reached again through a link below itself is not walked again.
  void add_folder(const std::string& path, const struct stat& info) {
    const auto key = std::pair(info.st_dev, info.st_ino);
    if (!walking_.insert(key).second) return;
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      names.push_back(at->path().filename().string());
    }
    if (error) refuse(path, error.message());
    std::sort(names.begin(), names.end());
    if (saved_) check_saved(path, names);
    for (const std::string& name : names) {
      if (!hidden(name)) add(path.ends_with('/') ? path + name : path + "/" + name);
    }
    walking_.erase(key);
  }

  static void check_saved(const std::string& path, const std::vector<std::string>& names) {
    if (std::binary_search(names.begin(), names.end(), "_SUCCESS")) return;
    const auto is_folder = [&](const std::string& name) {
      return hidden(name) || fs::is_directory(fs::path(path) / name);
    };
    if (std::all_of(names.begin(), names.end(), is_folder) &&
        !std::all_of(names.begin(), names.end(), hidden)) {
      return;
    }
    refuse(path,
           "has no file _SUCCESS: what saved it has not come to its end, or failed; to read the "
           "files that are there all the same, name them, as " +
               path + "/part-*");
  }

  std::vector<InputFile>& files_;
  const bool saved_;
  std::set<std::pair<dev_t, ino_t>> walking_;
};

bool exists(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0;
}

bool is_glob(std::string_view path) { return path.find_first_of("*?[{") != std::string_view::npos; }

void add_path(Lister& lister, const std::string& path) {
  if (path.empty()) throw Error(ErrorKind::input_output, "input path is empty");
  if (!exists(path) && is_glob(path)) {
    lister.add_glob(path);
  } else {
    lister.add(path);
  }
}

// Commas within braces belong to a glob: "{a,b}.txt".
std::vector<std::string> cut_at_commas(const std::string& paths) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : paths) {
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == ',' && depth <= 0) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

std::vector<std::string> each_path(const std::string& paths) {
  return exists(paths) ? std::vector{paths} : cut_at_commas(paths);
}

std::vector<InputFile> list_files(const std::vector<std::string>& paths, bool saved) {
  if (paths.empty()) throw Error(ErrorKind::input_output, "no input path was given");
  std::vector<InputFile> files;
  Lister lister(files, saved);
  for (const std::string& path : paths) add_path(lister, path);
  return files;
}

}  // namespace

std::vector<InputFile> list_input_files(const std::string& paths) {
  return list_files(each_path(paths), false);
}
std::vector<InputFile> list_input_files(const std::vector<std::string>& paths) {
  return list_files(paths, false);
}
std::vector<InputFile> list_saved_files(const std::string& paths) {
  return list_files(each_path(paths), true);
}

void check_record_files(const std::vector<InputFile>& files, uint64_t record_bytes) {
  for (const InputFile& file : files) {
    if (is_compressed(file.path)) {
      refuse(file.path, "compressed files cannot be read as binary records");
    }
    if (file.size % record_bytes != 0) {
      refuse(file.path, "its size of " + std::to_string(file.size) +
                            " bytes is no multiple of the record's " +
                            std::to_string(record_bytes));
    }
  }
}

std::vector<std::vector<FileRange>> make_splits(const std::vector<InputFile>& files,
                                                const SplitRule& rule) {
  uint64_t total = 0;
  for (const InputFile& file : files) total += file.size;
  const uint64_t goal = std::clamp<uint64_t>(
      (total + rule.min_splits - 1) / std::max<uint64_t>(rule.min_splits, 1), 1, rule.max_bytes);
  std::vector<std::vector<FileRange>> splits;
  uint64_t room = 0;
  for (const InputFile& file : files) {
    const bool whole = rule.unit == 0 || is_compressed(file.path);
    uint64_t offset = 0;
    while (offset < file.size || (offset == 0 && rule.keep_empty)) {
      if (room == 0 || (offset == 0 && file.size > room && (whole || file.size <= goal))) {
        splits.emplace_back();
        room = goal;
      }
      // A rest that is hardly longer than the goal is not cut again (as Hadoop's SPLIT_SLOP 1.1).
      const uint64_t rest = file.size - offset;
      uint64_t length = rest;
      if (!whole && rest > room + goal / 10) {
        length = std::min(rest, (room + rule.unit - 1) / rule.unit * rule.unit);
      }
      splits.back().push_back({file.path, offset, length});
      offset += length;
      room -= std::min(room, length);
      if (file.size == 0) break;
    }
  }
  return splits;
}

std::string encode_split(const std::vector<FileRange>& split) {
  std::string bytes;
  ByteWriter out(bytes);
  for (const FileRange& range : split) {
    out.text(range.path);
    out.size(range.offset);
    out.size(range.length);
  }
  return bytes;
}

std::vector<FileRange> decode_split(std::string_view bytes) {
  std::vector<FileRange> split;
  for (ByteReader in(bytes); !in.at_end();) {
    FileRange range;
    range.path = in.text();
    range.offset = in.size();
    range.length = in.size();
    split.push_back(std::move(range));
  }
  return split;
}

}  // namespace tenon::rdd
