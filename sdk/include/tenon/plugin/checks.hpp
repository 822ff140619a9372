// Checks on the caller: calls that overlap, or that come outside the order of the life cycle. On in
// debug builds.
#pragma once

#include <atomic>
#include <string>

#include "tenon/plugin/abi.h"
#include "tenon/plugin/host.hpp"

namespace tenon::plugin {

enum class Checks { none, life_cycle };
#ifdef NDEBUG
inline constexpr Checks kDefaultChecks = Checks::none;
#else
inline constexpr Checks kDefaultChecks = Checks::life_cycle;
#endif

// One for each instance; misbehaviour of core's goes to its log at level TENON_LOG_MISBEHAVING, and
// the call goes on.
class CallChecker {
 public:
  enum class Call { start, stop, other };

  class Scope {
   public:
    Scope(CallChecker& checker, Host host, Call call, const char* name) : inside_(checker.inside_) {
      if (inside_.exchange(true)) complain(host, name, "overlaps another call");
      if (call == Call::start && checker.started_.exchange(true)) {
        complain(host, name, "comes a second time");
      }
      if (call != Call::start && !checker.started_) complain(host, name, "comes before start");
      if (call == Call::other && checker.stopped_) complain(host, name, "comes after stop");
      if (call == Call::stop) checker.stopped_ = true;
    }
    ~Scope() { inside_ = false; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    static void complain(Host host, const char* name, const char* what) {
      host.log(TENON_LOG_MISBEHAVING, "plugin", std::string(name) + " " + what);
    }
    std::atomic<bool>& inside_;
  };

 private:
  std::atomic<bool> inside_ = false, started_ = false, stopped_ = false;
};

}  // namespace tenon::plugin
