// Starts a program in place of the tool, so that its exit code, its signals and its terminal are
// its own.
#pragma once

#include <string>

#include "command.hpp"
#include "conf/handover.hpp"

namespace tenon::tool {

// The path of a program that can be run: with a slash in it, so that no search path plays in.
// Throws Error (usage) that names it when it is not there, is a folder or is not executable.
std::string checked_program(const std::string& path);

// Does not return unless it throws Error (usage). program: from checked_program(). The settings go
// by an inherited descriptor.
[[noreturn]] void launch(const std::string& program, const Arguments& arguments,
                         const conf::Handover& handover);

}  // namespace tenon::tool
