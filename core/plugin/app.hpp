// The application, as a plugin gets it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/convert.hpp"
#include "task/backend.hpp"
#include "tenon/plugin/abi.h"

namespace tenon::host {

struct Shape {
  uint32_t profile = 0, cores = 1, task_cpus = 1;
  uint64_t memory_bytes = 0, overhead_bytes = 0;
  std::vector<task::Resource> resources{}, task_resources{};
};

struct AppFile {
  std::string path{}, name{}, hash{};
  uint64_t size = 0;
  int32_t kind = TENON_FILE_PLAIN;
};

struct AppDescription {
  int32_t deploy_mode = TENON_DEPLOY_CLIENT;
  std::string name{}, user{}, ui_address{}, program{};
  std::vector<std::string> argv{}, executor_argv{};
  TextPairs env{};
  TextPairs modules{};  // path, build id
  std::vector<AppFile> files{};
  Shape executor{}, driver{};
  uint32_t instances = 0, flags = 0;
};

// Points into the description that it was made from, which it keeps. Not movable.
class PluginApp {
 public:
  explicit PluginApp(AppDescription description);
  PluginApp(const PluginApp&) = delete;
  PluginApp& operator=(const PluginApp&) = delete;

  [[nodiscard]] const tenon_app* raw() const { return &raw_; }

 private:
  struct BorrowedShape {
    explicit BorrowedShape(const Shape& shape);
    std::vector<tenon_resource> resources, task_resources;
    tenon_shape raw;
  };

  AppDescription description_;
  std::vector<tenon_str> argv_, executor_argv_;
  std::vector<tenon_pair> env_;
  std::vector<tenon_module> modules_;
  std::vector<tenon_file> files_;
  BorrowedShape executor_, driver_;
  tenon_app raw_;
};

}  // namespace tenon::host
