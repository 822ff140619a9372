// Resolves settings as a Context does, without a plugin, and prints those that are asked for:
//   settings_probe [--set KEY=VALUE] [--default KEY=VALUE] [--exit CODE] KEY...
// A key is printed as "KEY=VALUE (SOURCE WHERE)". What is wrong goes to stderr, with the documented
// exit code.
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "conf/settings.hpp"
#include "tenon/conf.hpp"
#include "tenon/error.hpp"

namespace {

std::pair<std::string, std::string> split(const std::string& text) {
  const size_t equals = text.find('=');
  return {text.substr(0, equals), text.substr(equals + 1)};
}

int probe(int argc, char** argv) {
  tenon::Conf code, defaults;
  std::vector<std::string> keys;
  int exit_code = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--set" || argument == "--default") {
      auto [key, value] = split(argv[++i]);
      (argument == "--set" ? code : defaults).set(std::move(key), std::move(value));
    } else if (argument == "--exit") {
      exit_code = std::atoi(argv[++i]);
    } else {
      keys.push_back(argument);
    }
  }
  tenon::conf::ResolveInput input;
  input.code = code.entries();
  input.program_defaults = defaults.entries();
  input.handover = tenon::conf::inherited_handover();
  input.program_name = "settings_probe";
  const auto settings = tenon::conf::Settings::resolve(input);
  for (const std::string& key : keys) {
    const tenon::conf::Value* value = settings.find(key);
    if (value == nullptr) {
      std::cout << key << " is not there\n";
    } else {
      std::cout << key << "=" << value->text << " (" << to_string(value->source) << " "
                << value->where << ")\n";
    }
  }
  if (std::getenv(tenon::conf::kHandoverVariable) != nullptr) std::cout << "variable left\n";
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return probe(argc, argv);
  } catch (const tenon::Error& error) {
    std::cerr << error.what() << "\n";
    return error.code();
  }
}
