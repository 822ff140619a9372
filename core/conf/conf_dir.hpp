// Where the files tenon.conf and pools.toml are looked for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tenon::conf {

// Value of an environment variable, which may be empty; nothing when it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> process_environment(const char* name);
// Nothing for an empty one: to whom an empty variable is as good as none.
std::optional<std::string> not_empty(std::optional<std::string> value);

// TENON_CONF_DIR alone when it is set (Error usage when it is no folder); else $TENON_HOME/conf,
// conf/ of the source tree (a program of the build tree) or of the install tree, and /etc/tenon.
std::vector<std::string> conf_dirs(const Environment& environment);

// The first of conf_dirs() that has the file: its path.
std::optional<std::string> find_conf_file(const Environment& environment, const std::string& name);

}  // namespace tenon::conf
