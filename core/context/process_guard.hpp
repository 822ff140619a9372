// What a context changes for the whole process: one active context, an error that leaves main,
// Ctrl-C.
#pragma once

#include <memory>
#include <string>

#include "tenon/detail/driver.hpp"

namespace tenon::context {

// Claims the one place of an active context for its lifetime. Throws Error (invalid_argument) that
// says where the active one was made.
class ActiveContext {
 public:
  explicit ActiveContext(const CallSite& made_at);
  ~ActiveContext();
  ActiveContext(const ActiveContext&) = delete;
  ActiveContext& operator=(const ActiveContext&) = delete;

  // The driver that terminate handler and signals act upon; until then there is none.
  void set(const detail::DriverPtr& driver);
};

// From now on: an error that leaves main is printed and ends the process with its exit code, after
// the active context was stopped; the first SIGINT or SIGTERM cancels all jobs, stops the context
// and ends the process with 130 or 143, a second one ends it at once. A signal that the program
// handles or ignores is left alone. exit() stops the active context, too. Idempotent.
void install_process_handlers();

// SIGINT or SIGTERM, when one came; 0: none.
[[nodiscard]] int received_signal();

}  // namespace tenon::context
