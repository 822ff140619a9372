// The one door to stderr for lines of text: each is written in one piece.
#pragma once

#include <functional>
#include <string_view>

namespace tenon::console {

// Writes the text and a line end. Never throws: what stderr does not take is dropped. [any-thread]
void write_line(std::string_view text);

// Whoever draws in the last line of the terminal (the progress bar) sets a function that makes
// room, calls `write`, and may draw again; it must write no line itself. Empty: lines are written
// straight. No call is under way once this has returned. [any-thread]
using Frame = std::function<void(const std::function<void()>& write)>;
void set_frame(Frame frame);

}  // namespace tenon::console
