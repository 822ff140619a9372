#include "tenon/status.hpp"

namespace tenon {

std::string CallSite::text() const {
  if (file.empty()) return operation;
  const size_t slash = file.find_last_of('/');
  const std::string name = slash == std::string::npos ? file : file.substr(slash + 1);
  return operation + " at " + name + ":" + std::to_string(line);
}

std::string_view to_string(Locality locality) noexcept {
  switch (locality) {
    case Locality::process_local: return "PROCESS_LOCAL";
    case Locality::node_local: return "NODE_LOCAL";
    case Locality::no_pref: return "NO_PREF";
    case Locality::rack_local: return "RACK_LOCAL";
    case Locality::any: return "ANY";
  }
  return "UNKNOWN";
}

}  // namespace tenon
