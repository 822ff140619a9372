// Values of the ABI as core's, and back. What comes from a plugin is read defensively: a null text
// is an empty one.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "task/backend.hpp"
#include "tenon/error.hpp"
#include "tenon/plugin/abi.h"

namespace tenon::host {

using TextPairs = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] std::string text(tenon_str value);
[[nodiscard]] std::vector<std::string> texts(const tenon_strs& values);
[[nodiscard]] TextPairs text_pairs(const tenon_pairs& pairs);
[[nodiscard]] std::map<std::string, std::string> text_map(const tenon_pairs& pairs);
[[nodiscard]] std::vector<task::Resource> resources(const tenon_resources& resources);
// A kind that is not known is EXITED.
[[nodiscard]] task::LossReason loss_reason(const tenon_loss& loss);

// Borrowed: the result points into the argument.
[[nodiscard]] std::vector<tenon_str> borrow(std::span<const std::string> values);
[[nodiscard]] std::vector<tenon_pair> borrow(
    std::span<const std::pair<std::string, std::string>> pairs);
[[nodiscard]] std::vector<tenon_resource> borrow(std::span<const task::Resource> resources);

// "UNAVAILABLE"
[[nodiscard]] std::string_view status_name(tenon_status status);
// What a status means for the application: plugin-abi.md, "Errors and exit codes".
[[nodiscard]] ErrorKind error_kind(tenon_status status);

}  // namespace tenon::host
