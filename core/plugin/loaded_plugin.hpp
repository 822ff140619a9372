// A plugin that has passed all checks, and what it says of itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/plugin/abi.h"

namespace tenon::host {

struct PluginSetting {
  std::string key, default_value, doc;
  std::string check;  // "", a range "1..65535" or "0..", or words "fifo|fair"
  int32_t type = TENON_SETTING_STRING;
  bool secret = false;
};

struct SubmitOption {
  std::string option, value_name, key, doc;
};

struct PluginDescription {
  std::string summary;
  std::vector<std::string> schemes;
  uint32_t deploy_modes = 0;
  uint64_t capabilities = 0;  // TENON_CAN_..., TENON_IS_ONE_PROCESS
  std::vector<PluginSetting> settings;
  std::vector<SubmitOption> submit_options;
};

// A cheap value. All functions [any-thread].
class LoadedPlugin {
 public:
  // Checks version, description and required functions. file: empty when it is linked in. Throws
  // Error(plugin) with the cause alone: the caller names the file.
  LoadedPlugin(const tenon_plugin* plugin, std::filesystem::path file);

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const std::string& version() const;
  [[nodiscard]] const std::filesystem::path& file() const;
  // Name, version and file, for messages.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const PluginDescription& description() const;
  [[nodiscard]] bool has_scheme(std::string_view scheme) const;
  // The capability TENON_IS_ONE_PROCESS and so on.
  [[nodiscard]] bool can(uint64_t capability) const;

  [[nodiscard]] bool has_scheduler_backend() const;
  [[nodiscard]] bool has_executor_backend() const;
  // Complete tables: in place of a function that is missing stands one that answers UNSUPPORTED.
  // Throw Error(plugin) when the plugin has no such interface.
  [[nodiscard]] const tenon_scheduler_backend_api& scheduler_backend() const;
  [[nodiscard]] const tenon_executor_backend_api& executor_backend() const;
  // Of another interface; nullptr when it is not offered.
  [[nodiscard]] const void* get_interface(const char* id) const;

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

// The table as this header knows it, whatever the size of the plugin's. Throws Error(plugin) that
// names the required functions which are missing.
[[nodiscard]] tenon_scheduler_backend_api complete(const tenon_scheduler_backend_api& table);
[[nodiscard]] tenon_executor_backend_api complete(const tenon_executor_backend_api& table);

// What can be told of a plugin file without throwing.
struct PluginFile {
  std::filesystem::path file;
  std::string name, version, abi;  // empty when the file has no readable entry
  std::optional<LoadedPlugin> plugin;
  std::string refusal;  // why there is no plugin
};
// file: absolute.
[[nodiscard]] PluginFile inspect_plugin(const std::filesystem::path& file);

}  // namespace tenon::host
