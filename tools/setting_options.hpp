// The options by which a person gives settings, as `tenon submit` has them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conf/handover.hpp"

namespace CLI {
class App;
}

namespace tenon::tool {

class SettingOptions {
 public:
  // All of them, or only those that may also stand after an example's name: --master and --conf.
  // *this outlives the app.
  void add_all(CLI::App& app);
  void add_few(CLI::App& app);

  // What was given, named options after --conf so that they win. Reads the properties file. Throws
  // Error (usage).
  [[nodiscard]] conf::Handover handover() const;

 private:
  std::optional<std::string> master_, name_, properties_file_, log_level_;
  std::vector<std::string> conf_;
  bool load_defaults_ = false, verbose_ = false, quiet_ = false;
};

// What `more` says comes after, and so wins.
void append(conf::Handover& handover, const conf::Handover& more);

}  // namespace tenon::tool
