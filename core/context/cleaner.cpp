#include "context/cleaner.hpp"

#include <exception>

namespace tenon::context {

void Cleaner::add(std::vector<int32_t> Ended::* list, int32_t id) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (!wake_) return;
    const bool first = ended_.rdds.empty() && ended_.shuffles.empty();
    (ended_.*list).push_back(id);
    if (first) wake_();
  } catch (const std::exception&) {
  }
}

}  // namespace tenon::context
