#include "plugin/plugin_list.hpp"

#include <gtest/gtest.h>

#include "unit/plugin/fakes.hpp"

namespace tenon::host {
namespace {

using namespace testing;

const fs::path kPlugins = TENON_BAD_PLUGINS;

// The fields of a line, blanks between them taken as one.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == '\n') {
      out.emplace_back();
    } else if (c != ' ' || (!out.back().empty() && out.back().back() != ' ')) {
      out.back() += c;
    }
  }
  out.pop_back();
  return out;
}

TEST(PluginList, T220_SecondFileOfASchemeIsShadowed) {
  const fs::path first = kPlugins / "first", second = kPlugins / "second";
  const PluginHost host(PluginSearch::of({}, first.string(), {second}));
  const std::string shown = "/tenon-myclusterManager.so";
  EXPECT_EQ(
      lines_of(format_plugin_list(host, true)),
      (std::vector<std::string>{
          "SCHEME NAME VERSION ABI STATUS FILE",
          "my-alias first 1.2.3 0.1 ok " + (first / "tenon-my-alias.so").string() +
              " -> tenon-myclusterManager.so (TENON_PLUGIN_PATH)",
          "myclusterManager first 1.2.3 0.1 ok " + first.string() + shown + " (TENON_PLUGIN_PATH)",
          "myclusterManager second 1.2.3 0.1 shadowed " + second.string() + shown,
      }));
  EXPECT_EQ(lines_of(format_plugin_list(host, false)).size(), 3u);
}

TEST(PluginList, ColumnsStandBelowEachOther) {
  const PluginHost host(PluginSearch::of({}, "", {kPlugins / "first"}));
  const std::string text = format_plugin_list(host, false);
  const size_t file = text.find("FILE");
  const size_t line = text.find('\n') + 1;
  EXPECT_EQ(text.substr(line + file, 1), "/");
}

TEST(PluginList, RefusedOnesSayWhy) {
  const PluginHost host(PluginSearch::of({}, "", {kPlugins / "bad"}));
  std::map<std::string, PluginRow> rows;
  for (const PluginRow& row : list_plugins(host)) rows[row.scheme] = row;
  EXPECT_EQ(rows.at("newer-minor").status, PluginRow::Status::refused);
  EXPECT_EQ(rows.at("newer-minor").name, "bad-newer-minor");
  EXPECT_EQ(rows.at("newer-minor").version, "0.3.2");
  EXPECT_EQ(rows.at("newer-minor").abi, "0.2");
  EXPECT_NE(rows.at("newer-minor").file.find(".so: needs ABI 0.2"), std::string::npos);
  EXPECT_EQ(rows.at("not-elf").name, "-");
  EXPECT_NE(rows.at("not-elf").file.find("is not a shared object"), std::string::npos);
  EXPECT_NE(rows.at("other-scheme").file.find("takes another only"), std::string::npos);
  EXPECT_EQ(rows.at("throwing").status, PluginRow::Status::ok);
  for (const auto& [scheme, row] : rows) EXPECT_EQ(lines(row.file), 1u) << scheme;
}

TEST(PluginList, NoneAtAll) {
  const Folder empty;
  const PluginHost host(PluginSearch::of({}, "", {empty.path()}));
  EXPECT_EQ(lines_of(format_plugin_list(host, false)),
            (std::vector<std::string>{"SCHEME NAME VERSION ABI STATUS FILE",
                                      "no plugins; looked in", empty.path().string()}));
}

TEST(PluginInfo, EverythingThePluginSays) {
  const fs::path file = kPlugins / "first/tenon-myclusterManager.so";
  EXPECT_EQ(
      lines_of(format_plugin_info(file)),
      (std::vector<std::string>{
          "name first", "version 1.2.3", "ABI 0.1", "file " + file.string(),
          "summary comes from outside", "schemes myclusterManager, my-alias",
          "deploy modes client, cluster", "capabilities resize, give logs",
          "interfaces tenon.description/1, tenon.scheduler-backend/1, tenon.executor-backend/1",
          "settings", "tenon.plugin.myclusterManager.queue string default - queue to ask in",
          "submit options", "--queue NAME tenon.plugin.myclusterManager.queue queue to ask in"}));
}

TEST(PluginInfo, ErrorNamesTheFile) {
  const Error error = error_of([] { (void)format_plugin_info(kPlugins / "bad/tenon-not-elf.so"); });
  EXPECT_EQ(error.code(), 3);
  EXPECT_NE(error.message().find("tenon-not-elf.so': is not a shared object"), std::string::npos);
  EXPECT_EQ(error_of([] { (void)format_plugin_info("no-such-file.so"); }).code(), 3);
}

}  // namespace
}  // namespace tenon::host
