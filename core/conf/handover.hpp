// How `tenon submit` hands settings to the program: a sealed memory file that the program inherits.
// They may hold secrets, so they are never in arguments or in the environment, which holds only the
// descriptor's number.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_descriptor.hpp"
#include "conf/tenon_conf_file.hpp"

namespace tenon::conf {

inline constexpr const char* kHandoverVariable = "TENON_SUBMIT_FD";

// What was said on the command line.
struct Handover {
  std::vector<Entry> options;          // in their order: the last of a key counts
  std::vector<Entry> properties_file;  // what --properties-file holds
  bool has_properties_file = false;    // then tenon.conf is not read ...
  bool load_defaults = false;          // ... unless this asks for it
  friend bool operator==(const Handover&, const Handover&) = default;
};

std::string encode_handover(const Handover& handover);
// Throws Error (usage) on anything that encode_handover() did not make.
Handover decode_handover(std::string_view bytes);

// The memory file with the settings; a child that is started from here inherits it. Throws Error
// (internal) when the system refuses one.
FileDescriptor make_handover(const Handover& handover);

// Reads the settings from the descriptor that the text names, then closes it. Throws Error (usage)
// when it is not one.
Handover read_handover(std::string_view descriptor);

// What this process was started with; an empty Handover when it was not started by `tenon submit`.
// The first call reads it and takes the variable out of the environment (so call it before there
// are threads); later ones give the same. Throws as above.
const Handover& inherited_handover();

}  // namespace tenon::conf
