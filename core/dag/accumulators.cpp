#include "dag/accumulators.hpp"

#include <exception>

namespace tenon::dag {

void Accumulators::add(Accumulator accumulator) {
  const uint64_t id = accumulator.id;
  accumulators_.insert_or_assign(id, std::move(accumulator));
}

void Accumulators::merge(const std::vector<task::AccumulatorUpdate>& updates,
                         std::set<uint64_t>& named) {
  for (const task::AccumulatorUpdate& update : updates) {
    const auto found = accumulators_.find(update.id);
    std::string problem = "it exists no more";
    try {
      if (found != accumulators_.end()) {
        found->second.merge(update.bytes);
        if (!found->second.name.empty()) named.insert(update.id);
        continue;
      }
    } catch (const std::exception& error) {
      problem = error.what();
    } catch (...) {
      problem = "its merge threw something that is no std::exception";
    }
    on_error_("An update of accumulator " + std::to_string(update.id) +
              " was left out: " + problem);
  }
}

std::map<std::string, std::string> Accumulators::values(const std::set<uint64_t>& ids) const {
  std::map<std::string, std::string> values;
  for (const uint64_t id : ids) {
    const auto found = accumulators_.find(id);
    if (found != accumulators_.end() && found->second.text) {
      values[found->second.name] = found->second.text();
    }
  }
  return values;
}

}  // namespace tenon::dag
