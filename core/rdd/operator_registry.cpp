#include "rdd/operator_registry.hpp"

#include <xxhash.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "rdd/modules.hpp"
#include "tenon/error.hpp"

namespace tenon::rdd {
namespace {

uint64_t hash_name(std::string_view name) { return XXH3_64bits(name.data(), name.size()); }

// Made at the first registration, which may be in any static initialiser; never destroyed, as the
// last use may be in any static destructor.
OperatorRegistry& registry() {
  static auto* instance = new OperatorRegistry(&hash_name);
  return *instance;
}

}  // namespace

OperatorRegistry::OperatorRegistry(Hash hash) : hash_(hash) {}

uint64_t OperatorRegistry::add(std::string_view name, detail::OperatorFactory factory,
                               const void* address) {
  const std::lock_guard lock(mutex_);
  addresses_.push_back(address);
  std::vector<uint64_t>& ids = ids_by_name_[std::string(name)];
  for (const uint64_t id : ids) {
    if (entries_.at(id).factory == factory) return id;
  }
  std::string full(name);
  if (!ids.empty()) full.append("#").append(std::to_string(ids.size()));
  const uint64_t id = hash_(full);
  if (const auto found = entries_.find(id); found != entries_.end()) {
    std::fprintf(stderr,
                 "tenon: operators %s and %s have the same id %016llx; rename one of them\n",
                 found->second.name.c_str(), full.c_str(), static_cast<unsigned long long>(id));
    std::abort();
  }
  entries_.emplace(id, Entry{std::move(full), factory});
  ids.push_back(id);
  return id;
}

const detail::OperatorFactory* OperatorRegistry::find(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.factory;
}

std::string OperatorRegistry::name(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found == entries_.end() ? std::string() : found->second.name;
}

std::vector<const void*> OperatorRegistry::addresses() const {
  const std::lock_guard lock(mutex_);
  return addresses_;
}

const detail::OperatorFactory* find_operator(uint64_t id) { return registry().find(id); }

std::string operator_name(uint64_t id) { return registry().name(id); }

std::unique_ptr<detail::OperatorBase> make_operator(uint64_t id, std::string_view bytes) {
  const detail::OperatorFactory* factory = find_operator(id);
  if (factory == nullptr) {
    char text[32];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(id));
    throw Error(ErrorKind::internal,
                std::string("Operator ") + text +
                    " is not registered in this process: driver and executor must run the same "
                    "build of the program, and a job library must be loaded before its first task");
  }
  return (*factory)(bytes);
}

std::vector<Module> registered_modules() { return modules_of(registry().addresses()); }

}  // namespace tenon::rdd

namespace tenon::detail {

uint64_t register_operator(const char* mangled_name, OperatorFactory factory, const void* address) {
  return rdd::registry().add(mangled_name, factory, address);
}

std::unique_ptr<OperatorBase> make_registered(const Operator& op) {
  return rdd::make_operator(op.id, op.bytes);
}

}  // namespace tenon::detail
