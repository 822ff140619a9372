#include "common/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "tenon/detail/type_text.hpp"

namespace tenon {

std::string demangle(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  return status == 0 && name ? name.get() : mangled;
}

std::string detail::type_name(const std::type_info& type) { return demangle(type.name()); }

}  // namespace tenon
