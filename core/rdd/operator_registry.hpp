// Operator classes that the modules of this process registered before main(), and the modules
// themselves (design: closures.md).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tenon/detail/runtime.hpp"

namespace tenon::rdd {

// An ELF file that registered operators.
struct Module {
  std::string build_id;  // hexadecimal; empty when it has none
  std::string path;
  friend bool operator==(const Module&, const Module&) = default;
};

// The factory of an id; nullptr when nobody registered it. Stays valid. [any-thread]
[[nodiscard]] const detail::OperatorFactory* find_operator(uint64_t id);

// The mangled name behind an id, with "#1" and so on of names that several factories share; empty
// when unknown. [any-thread]
[[nodiscard]] std::string operator_name(uint64_t id);

// Makes an operator. Throws tenon::Error: internal for an id that nobody registered, else what the
// factory throws. [any-thread]
[[nodiscard]] std::unique_ptr<detail::OperatorBase> make_operator(uint64_t id,
                                                                  std::string_view bytes);

// All modules that registered an operator, in load order. [any-thread]
[[nodiscard]] std::vector<Module> registered_modules();

// The table behind the functions above. [any-thread]
class OperatorRegistry {
 public:
  using Hash = uint64_t (*)(std::string_view name);
  explicit OperatorRegistry(Hash hash);

  // Ends the process with a message when another name has the same hash.
  uint64_t add(std::string_view name, detail::OperatorFactory factory, const void* address);
  [[nodiscard]] const detail::OperatorFactory* find(uint64_t id) const;
  [[nodiscard]] std::string name(uint64_t id) const;
  // One address of each registration, in the order of the registrations.
  [[nodiscard]] std::vector<const void*> addresses() const;

 private:
  struct Entry {
    std::string name;
    detail::OperatorFactory factory = nullptr;
  };

  const Hash hash_;
  mutable std::mutex mutex_;  // guards all below
  std::unordered_map<uint64_t, Entry> entries_;
  std::map<std::string, std::vector<uint64_t>, std::less<>> ids_by_name_;
  std::vector<const void*> addresses_;
};

}  // namespace tenon::rdd
