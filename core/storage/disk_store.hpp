// Partitions of persisted Rdds in files of one executor (contract C15.2, C15.8).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/rdd_block.hpp"
#include "tenon/detail/runtime.hpp"

namespace tenon::storage {

// Functions are [any-thread]; one block is written or read by one thread at a time.
class DiskStore {
 public:
  // parents: the first in which a folder can be made gets one, at the first write (setting
  // tenon.local.dirs).
  explicit DiskStore(std::vector<std::string> parents);
  ~DiskStore();  // removes all files; what is being read stays readable
  DiskStore(const DiskStore&) = delete;
  DiskStore& operator=(const DiskStore&) = delete;

  // False, with a line in the log, when the disk refuses: nothing is kept then. What fill throws
  // goes to the caller.
  bool write(RddBlockId id, const std::function<void(const detail::ByteSink&)>& fill);
  // nullptr when it is not there. A file that is missing or damaged is forgotten, with a line in
  // the log.
  [[nodiscard]] detail::CachedPtr read(RddBlockId id);
  [[nodiscard]] bool contains(RddBlockId id) const;
  void remove(RddBlockId id);
  // The blocks that were there.
  std::vector<RddBlockId> remove_rdd(int32_t rdd);

  // Blocks with the bytes of their files.
  [[nodiscard]] std::vector<std::pair<RddBlockId, uint64_t>> blocks() const;
  [[nodiscard]] uint64_t used_bytes() const;

 private:
  void make_folder();  // unless it is there; throws FileError
  [[nodiscard]] std::string path_of(RddBlockId id) const;

  const std::vector<std::string> parents_;
  mutable std::mutex mutex_;                                        // guards all below
  std::string folder_;                                              // set once
  std::unordered_map<RddBlockId, uint64_t, HashRddBlockId> files_;  // bytes
};

}  // namespace tenon::storage
