#include "storage/disk_store.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "common/log.hpp"
#include "storage/checked_file.hpp"

namespace tenon::storage {
namespace {

const log::Logger kLog = log::logger("storage");

std::string name_of(RddBlockId id) {
  return "rdd_" + std::to_string(id.rdd) + "_" + std::to_string(id.partition);
}

}  // namespace

DiskStore::DiskStore(std::vector<std::string> parents) : parents_(std::move(parents)) {}

DiskStore::~DiskStore() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void DiskStore::make_folder() {
  const std::lock_guard lock(mutex_);
  if (!folder_.empty()) return;
  std::string why = "tenon.local.dirs names no folder";
  for (const std::string& parent : parents_) {
    std::string made = std::filesystem::path(parent) / "tenon-blocks-XXXXXX";
    if (::mkdtemp(made.data()) != nullptr) {
      folder_ = std::move(made);
      return;
    }
    why = "no folder can be made in " + parent + ": " + std::strerror(errno);
  }
  throw FileError(why);
}

std::string DiskStore::path_of(RddBlockId id) const { return folder_ + "/" + name_of(id); }

bool DiskStore::write(RddBlockId id, const std::function<void(const detail::ByteSink&)>& fill) {
  try {
    make_folder();
    const uint64_t bytes = write_checked_file(path_of(id), fill);
    const std::lock_guard lock(mutex_);
    files_[id] = bytes;
    return true;
  } catch (const FileError& error) {
    kLog.warn("block " + name_of(id) + " is not kept: " + error.message());
    return false;
  }
}

detail::CachedPtr DiskStore::read(RddBlockId id) {
  if (!contains(id)) return nullptr;
  try {
    return read_checked_file(path_of(id));
  } catch (const FileError& error) {
    kLog.warn("block " + name_of(id) + " is forgotten: " + error.message());
    remove(id);
    return nullptr;
  }
}

bool DiskStore::contains(RddBlockId id) const {
  const std::lock_guard lock(mutex_);
  return files_.contains(id);
}

void DiskStore::remove(RddBlockId id) {
  const std::lock_guard lock(mutex_);
  if (files_.erase(id) != 0) ::unlink(path_of(id).c_str());
}

std::vector<RddBlockId> DiskStore::remove_rdd(int32_t rdd) {
  const std::lock_guard lock(mutex_);
  std::vector<RddBlockId> removed;
  for (auto at = files_.begin(); at != files_.end();) {
    const auto here = at++;
    if (here->first.rdd != rdd) continue;
    ::unlink(path_of(here->first).c_str());
    removed.push_back(here->first);
    files_.erase(here);
  }
  return removed;
}

std::vector<std::pair<RddBlockId, uint64_t>> DiskStore::blocks() const {
  const std::lock_guard lock(mutex_);
  return {files_.begin(), files_.end()};
}

uint64_t DiskStore::used_bytes() const {
  uint64_t sum = 0;
  for (const auto& [id, bytes] : blocks()) sum += bytes;
  return sum;
}

}  // namespace tenon::storage
