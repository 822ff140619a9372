// The end of an instance of a plugin, bounded in time.
#pragma once

#include <chrono>
#include <functional>

namespace tenon::host {

// Runs work on a thread of its own and waits for it, at most for the timeout. False: it goes on by
// itself; what it uses must be kept by the work.
bool run_bounded(std::chrono::nanoseconds timeout, std::function<void()> work);

}  // namespace tenon::host
