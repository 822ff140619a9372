// The one door to stderr: whole lines, and below them, on a terminal, a status line that is redrawn
// (the progress bar).
#pragma once

#include <string>
#include <string_view>

namespace tenon::console {

// Writes the text and a line end in one piece; a status line is taken away before it and drawn
// again after it. Never throws: what stderr does not take is dropped. [any-thread]
void write_line(std::string_view text);

// Shows the text in the last line of the terminal in place of the one before; empty: takes it away.
// Nothing off a terminal. [any-thread]
void set_status(std::string text);

// stderr is a terminal that can redraw a line (not TERM=dumb).
bool can_redraw();

}  // namespace tenon::console
