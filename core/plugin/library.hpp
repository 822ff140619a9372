// Plugin files in the process: the one place that loads. A library is never unloaded.
#pragma once

#include <filesystem>
#include <vector>

#include "tenon/plugin/abi.h"

namespace tenon::host {

using EntryFunction = const tenon_plugin* (*)();

// Loads the file, or takes it as it was loaded before, and calls its entry function. Refuses what
// lies in a folder that anybody may write. Throws Error(plugin) with the cause alone: the caller
// names the file. [any-thread]
[[nodiscard]] const tenon_plugin* load_library(const std::filesystem::path& file);

// Plugins that are linked into the program, for tests. They come before all files. A value type;
// one thread.
class Registry {
 public:
  void add(EntryFunction entry) { entries_.push_back(entry); }
  [[nodiscard]] const std::vector<EntryFunction>& entries() const { return entries_; }

 private:
  std::vector<EntryFunction> entries_;
};

}  // namespace tenon::host
