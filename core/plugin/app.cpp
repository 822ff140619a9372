#include "plugin/app.hpp"

#include <span>
#include <utility>

#include "tenon/plugin/text.hpp"
#include "tenon/plugin/views.hpp"

namespace tenon::host {
namespace {

template <class Array, class Element>
Array array_of(const std::vector<Element>& elements) {
  return plugin::array<Array>(std::span<const Element>(elements));
}

}  // namespace

PluginApp::BorrowedShape::BorrowedShape(const Shape& shape)
    : resources(borrow(shape.resources)),
      task_resources(borrow(shape.task_resources)),
      raw(plugin::make<tenon_shape>()) {
  raw.profile = shape.profile;
  raw.cores = shape.cores;
  raw.task_cpus = shape.task_cpus;
  raw.memory_bytes = shape.memory_bytes;
  raw.overhead_bytes = shape.overhead_bytes;
  raw.resources = array_of<tenon_resources>(resources);
  raw.task_resources = array_of<tenon_resources>(task_resources);
}

PluginApp::PluginApp(AppDescription description)
    : description_(std::move(description)),
      argv_(borrow(description_.argv)),
      executor_argv_(borrow(description_.executor_argv)),
      env_(borrow(description_.env)),
      executor_(description_.executor),
      driver_(description_.driver),
      raw_(plugin::make<tenon_app>()) {
  for (const auto& [path, build_id] : description_.modules) {
    modules_.push_back({plugin::str(path), plugin::str(build_id)});
  }
  for (const AppFile& file : description_.files) {
    files_.push_back({plugin::str(file.path), plugin::str(file.name), plugin::str(file.hash),
                      file.size, file.kind, 0});
  }
  raw_.deploy_mode = description_.deploy_mode;
  raw_.name = plugin::str(description_.name);
  raw_.user = plugin::str(description_.user);
  raw_.ui_address = plugin::str(description_.ui_address);
  raw_.program = plugin::str(description_.program);
  raw_.argv = array_of<tenon_strs>(argv_);
  raw_.executor_argv = array_of<tenon_strs>(executor_argv_);
  raw_.env = array_of<tenon_pairs>(env_);
  raw_.modules = array_of<tenon_modules>(modules_);
  raw_.files = array_of<tenon_files>(files_);
  raw_.executor = &executor_.raw;
  raw_.driver = &driver_.raw;
  raw_.instances = description_.instances;
  raw_.flags = description_.flags;
}

}  // namespace tenon::host
