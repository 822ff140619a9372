#include "tenon/status.hpp"

#include "tenon/storage_level.hpp"

namespace tenon {

std::string CallSite::text() const {
  if (file.empty()) return operation;
  const std::string_view name = std::string_view(file).substr(file.find_last_of('/') + 1);
  std::string text = operation;
  text.append(" at ").append(name);
  if (line != 0) text.append(":").append(std::to_string(line));
  return text;
}

std::string_view to_string(StorageLevel level) noexcept {
  switch (level) {
    case StorageLevel::none:
      return "none";
    case StorageLevel::memory:
      return "memory";
    case StorageLevel::memory_serialized:
      return "memory_serialized";
    case StorageLevel::disk:
      return "disk";
    case StorageLevel::memory_and_disk:
      return "memory_and_disk";
    case StorageLevel::memory_and_disk_serialized:
      return "memory_and_disk_serialized";
  }
  return "unknown";
}

std::string_view to_string(Locality locality) noexcept {
  switch (locality) {
    case Locality::process_local:
      return "PROCESS_LOCAL";
    case Locality::node_local:
      return "NODE_LOCAL";
    case Locality::no_pref:
      return "NO_PREF";
    case Locality::rack_local:
      return "RACK_LOCAL";
    case Locality::any:
      return "ANY";
  }
  return "ANY";
}

}  // namespace tenon
