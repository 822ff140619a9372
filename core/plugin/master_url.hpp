// Master URLs: scheme["[" args "]" | ":" arg]["://" authority [/path]]["?" k=v&...].
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/plugin/abi.h"

namespace tenon::host {

struct MasterUrl {
  std::string raw, scheme;
  std::string args;             // between the brackets, or after the colon
  std::string rest;             // all after "://", unchanged
  std::string authority, path;  // empty unless rest starts with host[:port][,host[:port]]...
  std::vector<std::pair<std::string, std::string>> query;  // likewise, or of a URL without "://"
};

// What the arguments mean is the plugin's. Throws Error(usage) that quotes the URL.
[[nodiscard]] MasterUrl parse_master_url(std::string_view url);

// The URL as a plugin gets it. Points into the URL that it was made from, which it keeps. Not
// movable.
class PluginMasterUrl {
 public:
  explicit PluginMasterUrl(MasterUrl url);
  PluginMasterUrl(const PluginMasterUrl&) = delete;
  PluginMasterUrl& operator=(const PluginMasterUrl&) = delete;

  [[nodiscard]] const MasterUrl& url() const { return url_; }
  [[nodiscard]] const tenon_master_url* raw() const { return &raw_; }

 private:
  MasterUrl url_;
  std::vector<tenon_pair> query_;
  tenon_master_url raw_;
};

}  // namespace tenon::host
