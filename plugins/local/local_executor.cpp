#include <utility>

#include "local_backends.hpp"

namespace tenon::local {

void LocalExecutor::start() { core.registered(); }

void LocalExecutor::executor_ready() { driver().executor_ready(core); }

void LocalExecutor::status_update(plugin::Statuses statuses) {
  driver().status_update(std::move(statuses));
}

void LocalExecutor::stop() {
  core.stopped();
  driver().executor_stopped();
}

// The process is the driver's and stays.
bool LocalExecutor::exit_executor(int32_t exit_code, bool tell_driver, std::string_view reason,
                                  bool /*end_process*/) {
  driver().executor_exits(exit_code, tell_driver, reason);
  return false;
}

}  // namespace tenon::local
