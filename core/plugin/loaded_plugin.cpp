#include "plugin/loaded_plugin.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/text.hpp"
#include "plugin/library.hpp"
#include "plugin/quote.hpp"
#include "tenon/error.hpp"
#include "tenon/plugin/error.hpp"
#include "tenon/plugin/text.hpp"
#include "tenon/plugin/views.hpp"

namespace tenon::host {
namespace {

[[noreturn]] void refuse(const std::string& cause) { throw Error(ErrorKind::plugin, cause); }

std::string text_of(tenon_str text) { return std::string(plugin::view(text)); }

std::string abi_text(uint32_t major, uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

void check_abi(const tenon_plugin& plugin) {
  if (plugin.abi_major == TENON_ABI_MAJOR && plugin.abi_minor == TENON_ABI_MINOR) return;
  const bool newer =
      std::pair(plugin.abi_major, plugin.abi_minor) > std::pair(TENON_ABI_MAJOR, TENON_ABI_MINOR);
  refuse("needs ABI " + abi_text(plugin.abi_major, plugin.abi_minor) +
         ", this tenon (" TENON_VERSION ") offers " + abi_text(TENON_ABI_MAJOR, TENON_ABI_MINOR) +
         (newer ? "; upgrade tenon" : "; build the plugin again with this tenon's SDK"));
}

template <class Api>
Api copy_table(const Api& table) {
  Api copy{};
  std::memcpy(&copy, &table, std::min<size_t>(table.struct_size, sizeof copy));
  copy.struct_size = sizeof copy;
  return copy;
}

// Collects the names of required functions that are not there.
class Required {
 public:
  explicit Required(std::string interface) : interface_(std::move(interface)) {}
  template <class Function>
  Required& operator()(Function function, const char* name) {
    if (function == nullptr) missing_.emplace_back(name);
    return *this;
  }
  void check() const {
    if (missing_.empty()) return;
    refuse("its " + interface_ + " lacks the required function" +
           (missing_.size() == 1 ? " " : "s ") + join(missing_, ", "));
  }

 private:
  std::string interface_;
  std::vector<std::string> missing_;
};

template <class Function>
struct Stub;
// Takes the place of a function that a plugin does not have.
template <class... Args>
struct Stub<tenon_status (*)(Args...)> {
  static tenon_status call(Args... args) {
    tenon_error* const error = std::get<sizeof...(Args) - 1>(std::tuple(args...));
    return plugin::report(error, TENON_UNSUPPORTED, "the plugin does not support this");
  }
};
template <class... Args>
struct Stub<const void* (*)(Args...)> {
  static const void* call(Args...) { return nullptr; }
};
template <class Function>
void fill(Function& function) {
  if (function == nullptr) function = Stub<Function>::call;
}

PluginDescription read(const tenon_description& raw) {
  if (!TENON_HAS_FIELD(&raw, schemes)) refuse("its description is cut short");
  PluginDescription description;
  description.summary = text_of(raw.summary);
  description.deploy_modes = raw.deploy_modes;
  description.capabilities = raw.capabilities;
  for (const tenon_str scheme : plugin::Strings(raw.schemes)) {
    description.schemes.push_back(text_of(scheme));
  }
  if (description.schemes.empty()) refuse("its description names no scheme");
  if (TENON_HAS_FIELD(&raw, settings)) {
    for (const auto setting : plugin::View<tenon_settings>(raw.settings)) {
      description.settings.push_back({text_of(setting.key), text_of(setting.default_value),
                                      text_of(setting.doc), text_of(setting.check), setting.type,
                                      (setting.flags & TENON_SETTING_SECRET) != 0});
    }
  }
  if (TENON_HAS_FIELD(&raw, submit_options)) {
    for (const auto option : plugin::View<tenon_submit_options>(raw.submit_options)) {
      description.submit_options.push_back({text_of(option.option), text_of(option.value_name),
                                            text_of(option.key), text_of(option.doc)});
    }
  }
  return description;
}

}  // namespace

tenon_scheduler_backend_api complete(const tenon_scheduler_backend_api& table) {
  auto api = copy_table(table);
  Required(TENON_SCHEDULER_BACKEND)(api.create, "create")(api.destroy, "destroy")(
      api.start, "start")(api.stop, "stop")(api.revive_offers, "revive_offers")(
      api.launch_tasks, "launch_tasks")(api.kill_task, "kill_task")
      .check();
  fill(api.request_total_executors);
  fill(api.kill_executors);
  fill(api.decommission_executors);
  fill(api.set_excluded_hosts);
  fill(api.get_extension);
  return api;
}

tenon_executor_backend_api complete(const tenon_executor_backend_api& table) {
  auto api = copy_table(table);
  Required(TENON_EXECUTOR_BACKEND)(api.create, "create")(api.destroy, "destroy")(
      api.start, "start")(api.executor_ready, "executor_ready")(api.status_update, "status_update")(
      api.stop, "stop")
      .check();
  fill(api.exit_executor);
  fill(api.get_extension);
  return api;
}

struct LoadedPlugin::Data {
  const tenon_plugin* plugin = nullptr;
  std::filesystem::path file;
  std::string name, version;
  PluginDescription description;
  std::optional<tenon_scheduler_backend_api> scheduler;
  std::optional<tenon_executor_backend_api> executor;
};

LoadedPlugin::LoadedPlugin(const tenon_plugin* plugin, std::filesystem::path file) {
  check_abi(*plugin);
  if (!TENON_HAS_FUNCTION(plugin, get_interface)) refuse("its entry has no get_interface");
  const auto* const raw =
      static_cast<const tenon_description*>(plugin->get_interface(TENON_DESCRIPTION));
  if (raw == nullptr) refuse("lacks the required interface " TENON_DESCRIPTION);
  auto data = std::make_shared<Data>();
  data->plugin = plugin;
  data->file = std::move(file);
  data->name = text_of(plugin->name);
  data->version = text_of(plugin->version);
  data->description = read(*raw);
  if (const void* table = plugin->get_interface(TENON_SCHEDULER_BACKEND)) {
    data->scheduler = complete(*static_cast<const tenon_scheduler_backend_api*>(table));
  }
  if (const void* table = plugin->get_interface(TENON_EXECUTOR_BACKEND)) {
    data->executor = complete(*static_cast<const tenon_executor_backend_api*>(table));
  }
  data_ = std::move(data);
}

const std::string& LoadedPlugin::name() const { return data_->name; }
const std::string& LoadedPlugin::version() const { return data_->version; }
const std::filesystem::path& LoadedPlugin::file() const { return data_->file; }
const PluginDescription& LoadedPlugin::description() const { return data_->description; }

std::string LoadedPlugin::text() const {
  return name() + " " + version() + " (" +
         (file().empty() ? std::string("linked in") : file().string()) + ")";
}

bool LoadedPlugin::has_scheme(std::string_view scheme) const {
  const auto& schemes = description().schemes;
  return std::find(schemes.begin(), schemes.end(), scheme) != schemes.end();
}

bool LoadedPlugin::can(uint64_t capability) const {
  return (description().capabilities & capability) != 0;
}

bool LoadedPlugin::has_scheduler_backend() const { return data_->scheduler.has_value(); }
bool LoadedPlugin::has_executor_backend() const { return data_->executor.has_value(); }

const tenon_scheduler_backend_api& LoadedPlugin::scheduler_backend() const {
  if (!data_->scheduler) {
    throw Error(ErrorKind::plugin, "plugin " + text() + " has no " TENON_SCHEDULER_BACKEND);
  }
  return *data_->scheduler;
}

const tenon_executor_backend_api& LoadedPlugin::executor_backend() const {
  if (!data_->executor) {
    throw Error(ErrorKind::plugin, "plugin " + text() + " has no " TENON_EXECUTOR_BACKEND);
  }
  return *data_->executor;
}

const void* LoadedPlugin::get_interface(const char* id) const {
  return data_->plugin->get_interface(id);
}

PluginFile inspect_plugin(const std::filesystem::path& file) {
  PluginFile result;
  result.file = file;
  try {
    const tenon_plugin* const plugin = load_library(file);
    result.name = text_of(plugin->name);
    result.version = text_of(plugin->version);
    result.abi = abi_text(plugin->abi_major, plugin->abi_minor);
    result.plugin.emplace(plugin, file);
  } catch (const Error& e) {
    result.refusal = e.message();
  } catch (const std::exception& e) {
    result.refusal = std::string("failed while it was loaded: ") + e.what();
  } catch (...) {
    result.refusal = "failed while it was loaded: threw something that is no std::exception";
  }
  return result;
}

}  // namespace tenon::host
