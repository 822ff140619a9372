// Stacks for stages of many nested steps: the streams of a stage call each other, one step inside
// the next.
#pragma once

#include <cstddef>
#include <functional>

namespace tenon::executor {

// Stages of up to this many nested steps run on the task's own thread, with the usual 8 MiB.
inline constexpr size_t kDepthOfTaskThread = 2'000;
// A stage of more nested steps than this is refused.
inline constexpr size_t kMaxDepth = 250'000;

// Runs work for a stage of `depth` nested steps: here, or on a thread with a stack for that depth
// while this one waits. Address space is taken for it; memory only as the steps use it. Throws what
// work throws; FatalError, which says to checkpoint, when the stage is too deep.
void run_at_depth(size_t depth, const std::function<void()>& work);

}  // namespace tenon::executor
