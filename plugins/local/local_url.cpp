#include "local_url.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "tenon/plugin/error.hpp"
#include "tenon/plugin/text.hpp"

namespace tenon::local {
namespace {

using plugin::view;

[[noreturn]] void refuse(const tenon_master_url& url, const std::string& why) {
  throw plugin::Error(TENON_INVALID_ARGUMENT,
                      "master URL '" + std::string(view(url.raw)) + "': " + why +
                          "; write local, local[4], local[*] or local[4,2]");
}

uint32_t number(const tenon_master_url& url, std::string_view text, const char* what,
                uint32_t most) {
  const auto value = plugin::whole_number(text);
  const std::string shown = std::string(what) + " is '" + std::string(text) + "'";
  if (!value) {
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    if (!digits) refuse(url, shown + ", which is no whole number above 0");
  }
  if (!value || *value > most) refuse(url, shown + ", the most is " + std::to_string(most));
  if (*value == 0) refuse(url, shown + ", but must be at least 1");
  return *value;
}

}  // namespace

LocalUrl parse_local_url(const tenon_master_url& url, uint32_t cpus) {
  // rest alone cannot tell "local://" from "local": an empty address is refused by the text.
  if (view(url.raw).find("://") != std::string_view::npos) {
    refuse(url, "local mode takes no address");
  }
  if (view(url.raw).find('?') != std::string_view::npos) refuse(url, "local mode takes no query");
  const auto args = plugin::arguments(url.args);
  if (args.size() > 2) {
    refuse(url, "has " + std::to_string(args.size()) + " arguments, at most 2 are possible");
  }
  LocalUrl parsed;
  if (!args.empty()) {
    parsed.threads =
        args[0] == "*" ? cpus : number(url, args[0], "the number of threads", kMaxThreads);
  }
  if (args.size() > 1) {
    parsed.max_task_failures = number(url, args[1], "the number of task failures", INT32_MAX);
  }
  return parsed;
}

}  // namespace tenon::local
