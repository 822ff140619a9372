#include "plugin/convert.hpp"

#include <array>

#include "tenon/plugin/text.hpp"
#include "tenon/plugin/views.hpp"

namespace tenon::host {

std::string text(tenon_str value) { return std::string(plugin::view(value)); }

std::vector<std::string> texts(const tenon_strs& values) {
  std::vector<std::string> out;
  for (const tenon_str value : plugin::Strings(values)) out.push_back(text(value));
  return out;
}

TextPairs text_pairs(const tenon_pairs& pairs) {
  TextPairs out;
  for (const tenon_pair pair : plugin::Pairs(pairs)) {
    out.emplace_back(text(pair.key), text(pair.value));
  }
  return out;
}

std::map<std::string, std::string> text_map(const tenon_pairs& pairs) {
  std::map<std::string, std::string> out;
  for (auto& pair : text_pairs(pairs)) out.insert(std::move(pair));
  return out;
}

std::vector<task::Resource> resources(const tenon_resources& resources) {
  std::vector<task::Resource> out;
  for (const tenon_resource resource : plugin::Resources(resources)) {
    out.push_back({text(resource.name), text(resource.address), resource.amount});
  }
  return out;
}

task::LossReason loss_reason(const tenon_loss& loss) {
  using Kind = task::LossReason::Kind;
  static constexpr std::array kKinds = {Kind::exited,    Kind::unreachable,    Kind::killed,
                                        Kind::preempted, Kind::decommissioned, Kind::start_failed};
  task::LossReason reason;
  if (loss.kind >= TENON_LOSS_EXITED && loss.kind <= TENON_LOSS_START_FAILED) {
    reason.kind = kKinds[static_cast<size_t>(loss.kind - TENON_LOSS_EXITED)];
  }
  reason.has_exit_code = loss.exit_code != TENON_NO_EXIT_CODE;
  reason.exit_code = reason.has_exit_code ? loss.exit_code : 0;
  reason.app_caused = loss.app_caused != 0;
  reason.host_lost = loss.host_lost != 0;
  reason.host = text(loss.host);
  reason.message = text(loss.message);
  if (loss.signal != 0) {
    reason.message += (reason.message.empty() ? "ended by signal " : ", ended by signal ") +
                      std::to_string(loss.signal);
  }
  return reason;
}

std::vector<tenon_str> borrow(std::span<const std::string> values) {
  std::vector<tenon_str> out;
  out.reserve(values.size());
  for (const std::string& value : values) out.push_back(plugin::str(value));
  return out;
}

std::vector<tenon_pair> borrow(std::span<const std::pair<std::string, std::string>> pairs) {
  std::vector<tenon_pair> out;
  out.reserve(pairs.size());
  for (const auto& [key, value] : pairs) out.push_back({plugin::str(key), plugin::str(value)});
  return out;
}

std::vector<tenon_resource> borrow(std::span<const task::Resource> resources) {
  std::vector<tenon_resource> out;
  out.reserve(resources.size());
  for (const task::Resource& resource : resources) {
    out.push_back({plugin::str(resource.name), plugin::str(resource.address), resource.amount});
  }
  return out;
}

std::string_view status_name(tenon_status status) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "OK",          "UNKNOWN", "UNSUPPORTED", "INVALID_ARGUMENT", "INVALID_STATE", "NOT_FOUND",
      "UNAVAILABLE", "TIMEOUT", "CANCELLED",   "PERMISSION",       "INTERNAL",      "EXHAUSTED"};
  const auto index = static_cast<size_t>(status);
  return status >= 0 && index < kNames.size() ? kNames[index] : "UNKNOWN";
}

ErrorKind error_kind(tenon_status status) {
  switch (status) {
    case TENON_UNAVAILABLE:
    case TENON_TIMEOUT:
    case TENON_PERMISSION:
      return ErrorKind::unreachable;
    case TENON_EXHAUSTED:
      return ErrorKind::executors_lost;
    case TENON_CANCELLED:
      return ErrorKind::cancelled;
    default:
      return ErrorKind::job_failed;
  }
}

}  // namespace tenon::host
