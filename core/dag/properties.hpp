// The keys of a job's properties that scheduling reads.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "tenon/status.hpp"

namespace tenon::dag {

inline constexpr const char* kJobGroup = "tenon.jobGroup.id";
inline constexpr const char* kJobDescription = "tenon.job.description";
inline constexpr const char* kJobTags = "tenon.job.tags";  // separated by commas
inline constexpr const char* kInterruptOnCancel = "tenon.job.interruptOnCancel";

// Throws tenon::Error (invalid_argument) when the tag is empty or contains a comma.
void check_tag(std::string_view tag);

// The tags of a job; empty when it has none.
[[nodiscard]] std::set<std::string, std::less<>> tags_of(const Properties& properties);

}  // namespace tenon::dag
