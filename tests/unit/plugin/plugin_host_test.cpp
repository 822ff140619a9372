#include "plugin/plugin_host.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "plugin/scheduler_backend.hpp"
#include "tenon/plugin/error.hpp"
#include "unit/plugin/fakes.hpp"

namespace tenon::host {
namespace {

using namespace testing;

const fs::path kPlugins = TENON_BAD_PLUGINS;
const fs::path kBad = kPlugins / "bad";
const fs::path kShipped = TENON_TEST_PLUGIN_DIR;

PluginHost host_of(const std::vector<fs::path>& folders, const std::string& path = "") {
  return PluginHost(PluginSearch::of({}, path, folders));
}

Error load_error(const PluginHost& host, const std::string& url) {
  return error_of([&] { (void)host.load(parse_master_url(url)); });
}

void expect_says(const Error& error, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    EXPECT_NE(error.message().find(text), std::string::npos) << "'" << text << "' is not in:\n"
                                                             << error.message();
  }
  EXPECT_LE(lines(error.message()), 12u) << error.message();
}

struct Refused {
  const char* scheme;
  std::vector<std::string> says;
};

// Each cause by its own text, with the file in front.
TEST(PluginHost, C19_8_ErrorsNameTheFileAndTheCause) {
  const Refused rows[] = {
      {"wrong-major",
       {"(bad-wrong-major 0.3.2)", "needs ABI 7.1, this tenon (0.1.0) offers 0.1; upgrade tenon"}},
      {"newer-minor",
       {"(bad-newer-minor 0.3.2)", "needs ABI 0.2, this tenon (0.1.0) offers 0.1; upgrade tenon"}},
      {"older-minor", {"needs ABI 0.0, this tenon (0.1.0) offers 0.1; build the plugin again"}},
      {"next-major",
       {"the plugin (bad-next-major 0.3.2) needs ABI 1, this tenon (0.1.0) offers ABI 0.1"}},
      {"no-symbol", {"has no entry function tenon_plugin_v0"}},
      {"null-entry", {"its entry function returned nothing"}},
      {"no-description", {"lacks the required interface tenon.description/1"}},
      {"no-launch", {"its tenon.scheduler-backend/1 lacks the required function launch_tasks"}},
      {"short-table", {"lacks the required functions launch_tasks, kill_task"}},
      {"other-scheme", {"it does not take scheme 'other-scheme', only another"}},
      {"undefined-symbol",
       {"undefined symbol: tenon_test_function_of_nobody", "-Wl,--no-undefined"}},
      {"missing-library",
       {"libtest_missing_library.so: cannot open shared object file",
        "a library that it needs is missing; ldd shows which"}},
      {"entry-throws", {"failed while it was loaded: the entry throws"}},
      {"not-elf", {"is not a shared object"}},
      {"empty", {"is not a shared object"}},
      {"folder", {"is not a file"}},
      {"dangling", {"no such file"}},
  };
  const PluginHost host = host_of({kBad});
  for (const Refused& row : rows) {
    SCOPED_TRACE(row.scheme);
    const Error error = load_error(host, std::string(row.scheme) + "[1]");
    EXPECT_EQ(error.kind(), ErrorKind::plugin);
    EXPECT_EQ(error.code(), 3);
    expect_says(error, row.says);
    const std::string file =
        "'" + (kBad / ("tenon-" + std::string(row.scheme) + ".so")).string() + "'";
    expect_says(error, {"cannot load plugin " + file});
  }
}

TEST(PluginHost, C19_8_WorldWritablePlacesAreRefused) {
  const Folder folder;
  const fs::path file = folder.path() / "tenon-local.so";
  fs::copy_file(kShipped / "tenon-local.so", file);
  const PluginHost host = host_of({folder.path()});
  EXPECT_EQ(host.load(parse_master_url("local")).file(), file);

  fs::permissions(folder.path(), fs::perms::others_write, fs::perm_options::add);
  const Error open_folder = load_error(host, "local");
  EXPECT_EQ(open_folder.code(), 3);
  expect_says(open_folder,
              {file.string(), "the folder '" + folder.path().string() + "' is world-writable"});
  // Also by a link from a folder that is well.
  const Folder links;
  fs::create_symlink(file, links.path() / "tenon-local.so");
  expect_says(load_error(host_of({links.path()}), "local"),
              {"the folder '" + folder.path().string() + "' is world-writable"});

  fs::permissions(folder.path(), fs::perms::others_write, fs::perm_options::remove);
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  expect_says(load_error(host, "local"), {"the file '" + file.string() + "' is world-writable"});
}

TEST(PluginHost, UnknownSchemeListsPlacesAndSchemes) {
  const Folder empty;
  const PluginHost host = host_of({kShipped, "/nowhere/plugins"}, empty.path().string());
  const Error error = load_error(host, "lcoal[2]");
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.code(), 2);
  expect_says(error, {"master URL 'lcoal[2]': no plugin for scheme 'lcoal'; did you mean 'local'?",
                      "looked for tenon-lcoal.so in",
                      empty.path().string() + " (TENON_PLUGIN_PATH)", kShipped.string(),
                      "/nowhere/plugins, which is no folder", "schemes that are there: local"});
  expect_says(load_error(host, "LOCAL[2]"), {"did you mean 'local'?"});
  expect_says(load_error(host, "spark-master:7077"), {"SCHEME://spark-master:7077"});
  expect_says(load_error(host_of({empty.path()}), "x"), {"schemes that are there: none"});

  // However many places and schemes there are.
  const Folder many;
  std::vector<fs::path> folders;
  for (int i = 0; i < 40; ++i) {
    folders.push_back(many.path() / std::to_string(i));
    fs::create_directory(folders.back());
    for (int j = 0; j < 20; ++j) {
      std::ofstream(folders.back() / ("tenon-s" + std::to_string(i * 100 + j) + ".so"));
    }
  }
  expect_says(load_error(host_of(folders), "zzzzzzzz"), {"and 34 more folders"});
}

TEST(PluginHost, SearchOrder) {
  const PluginSearch search = PluginSearch::of(
      {{"tenon.plugin.x.library", "/s/x.so"}, {"tenon.plugin.x.queue", "q"}, {"tenon.master", "m"}},
      "/a:/b/:/a::/c/../d", {"/b", "/e"});
  ASSERT_EQ(search.libraries.size(), 1u);
  EXPECT_EQ(search.libraries.at("x"), "/s/x.so");
  std::vector<std::string> places;
  for (const auto& place : search.places)
    places.push_back(place.folder.string() + "|" + place.origin);
  EXPECT_EQ(places, (std::vector<std::string>{"/a|TENON_PLUGIN_PATH", "/b|TENON_PLUGIN_PATH",
                                              "/d|TENON_PLUGIN_PATH", "/e|"}));
}

TEST(PluginHost, RelativePathsAreRefused) {
  const Error path = error_of([] { (void)PluginSearch::of({}, "/a:plugins", {}); });
  EXPECT_EQ(path.code(), 2);
  expect_says(path, {"TENON_PLUGIN_PATH", "'plugins'", "relative"});
  const Error setting =
      error_of([] { (void)PluginSearch::of({{"tenon.plugin.x.library", "x.so"}}, "", {}); });
  EXPECT_EQ(setting.code(), 2);
  expect_says(setting, {"tenon.plugin.x.library", "'x.so'", "absolute"});
}

// setenv in a test that nothing else runs beside.
TEST(PluginHost, ProcessReadsItsEnvironment) {
  const Folder folder;
  ASSERT_EQ(setenv("TENON_PLUGIN_PATH", folder.path().c_str(), 1), 0);
  const PluginSearch with = PluginSearch::of_process({});
  ASSERT_EQ(unsetenv("TENON_PLUGIN_PATH"), 0);
  const PluginSearch without = PluginSearch::of_process({});
  ASSERT_FALSE(with.places.empty());
  EXPECT_EQ(with.places[0].folder, folder.path());
  EXPECT_EQ(with.places.size(), without.places.size() + 1);
  ASSERT_EQ(without.places.size(), 2u);  // core is linked into this program
  EXPECT_TRUE(without.places[0].folder.string().ends_with("/lib/tenon/plugins"));
  EXPECT_EQ(without.places[0].origin, "");
}

TEST(PluginHost, SettingComesFirstAndMustLoad) {
  const fs::path second = kPlugins / "second/tenon-myclusterManager.so";
  PluginSearch search = PluginSearch::of(
      {{"tenon.plugin.myclusterManager.library", second.string()}}, "", {kPlugins / "first"});
  EXPECT_EQ(PluginHost(search).load(parse_master_url("myclusterManager")).name(), "second");
  search.libraries["myclusterManager"] = "/nowhere/tenon-x.so";
  const Error error = load_error(PluginHost(search), "myclusterManager");
  EXPECT_EQ(error.code(), 3);  // not passed over
  expect_says(
      error,
      {"'/nowhere/tenon-x.so' of setting tenon.plugin.myclusterManager.library: no such file"});
}

TEST(PluginHost, AddingASchemeIsDroppingAFile) {
  const Folder folder;
  const PluginHost host = host_of({kShipped}, folder.path().string());
  EXPECT_EQ(load_error(host, "my-alias").code(), 2);
  fs::copy_file(kPlugins / "first/tenon-myclusterManager.so", folder.path() / "tenon-my-alias.so");
  const LoadedPlugin plugin = host.load(parse_master_url("my-alias"));
  EXPECT_EQ(plugin.name(), "first");
  EXPECT_TRUE(plugin.has_scheme("myclusterManager"));
  EXPECT_TRUE(plugin.can(TENON_CAN_RESIZE));
  EXPECT_FALSE(plugin.can(TENON_IS_ONE_PROCESS));
  ASSERT_EQ(plugin.description().settings.size(), 1u);
  EXPECT_EQ(plugin.description().settings[0].key, "tenon.plugin.myclusterManager.queue");
  EXPECT_EQ(plugin.description().settings[0].default_value, "default");
}

TEST(PluginHost, AllSettingsAreThoseOfEveryPluginThatLoads) {
  const auto settings = host_of({kBad, kPlugins / "first"}).all_settings();
  ASSERT_EQ(settings.size(), 2u);  // by file and by link
  EXPECT_EQ(settings[0].key, "tenon.plugin.myclusterManager.queue");
}

TEST(PluginHost, MissingOptionalFunctionsAnswerUnsupported) {
  const LoadedPlugin loaded = host_of({kPlugins / "first"}).load(parse_master_url("my-alias"));
  const auto& api = loaded.scheduler_backend();
  EXPECT_EQ(api.struct_size, sizeof api);
  plugin::ErrorSink error;
  EXPECT_EQ(api.kill_executors(nullptr, {}, 0, 1, error.get()), TENON_UNSUPPORTED);
  EXPECT_EQ(error.message(), "the plugin does not support this");
  EXPECT_EQ(api.set_excluded_hosts(nullptr, {}, nullptr), TENON_UNSUPPORTED);
  EXPECT_EQ(api.get_extension(nullptr, "x"), nullptr);
  int32_t end = 1;
  EXPECT_EQ(loaded.executor_backend().exit_executor(nullptr, 1, 1, {}, &end, nullptr),
            TENON_UNSUPPORTED);
}

TEST(PluginHost, PluginWithoutABackendSaysSo) {
  const LoadedPlugin loaded = host_of({kBad}).load(parse_master_url("throwing"));
  EXPECT_TRUE(loaded.has_executor_backend());
  static const tenon_str kScheme = TENON_STR("bare");
  static tenon_description description = plugin::make<tenon_description>();
  description.schemes = {&kScheme, 1, sizeof kScheme};
  static const tenon_plugin kBare = {
      sizeof(tenon_plugin),
      TENON_ABI_MAJOR,
      TENON_ABI_MINOR,
      0,
      TENON_STR("bare"),
      TENON_STR("1"),
      [](const char* id) -> const void* {
        return std::string_view(id) == TENON_DESCRIPTION ? &description : nullptr;
      }};
  PluginSearch search;
  search.registry.add([] { return &kBare; });
  const LoadedPlugin bare = PluginHost(search).load(parse_master_url("bare"));
  EXPECT_FALSE(bare.has_scheduler_backend());
  const Error error = error_of([&] { (void)bare.scheduler_backend(); });
  EXPECT_EQ(error.code(), 3);
  expect_says(error, {"plugin bare 1 (linked in) has no tenon.scheduler-backend/1"});
  EXPECT_EQ(error_of([&] { (void)bare.executor_backend(); }).code(), 3);
}

// ExternalClusterManagerSuite: the plugin that the URL picks is used, create and start are called
// once; of two plugins for the URL the first file found wins, and the other is listed as shadowed
// (plugin_list_test).
TEST(PluginHost, T220_PluginOfTheUrlIsCreatedAndStartedOnce) {
  const PluginHost host = host_of({kPlugins / "first", kPlugins / "second"});
  const MasterUrl url = parse_master_url("myclusterManager");
  const LoadedPlugin plugin = host.load(url);
  EXPECT_EQ(plugin.name(), "first");
  Log log;
  RecordedEvents events;
  {
    SchedulerBackend backend({.plugin = plugin,
                              .host = HostServices::make({}, log.callbacks()),
                              .master = url,
                              .app = {},
                              .bootstrap = "",
                              .decoder = nullptr,
                              .stop_timeout = std::chrono::seconds(10)},
                             events);
    backend.start();
    EXPECT_EQ(events.names, (std::vector<std::string>{"registered", "ready"}));
    EXPECT_EQ(events.registrations[0].app_id, "outside-1");
    backend.revive_offers();
    ASSERT_EQ(events.offers.size(), 1u);
    ASSERT_EQ(events.offers[0].size(), 2u);
    EXPECT_EQ(events.offers[0][1].executor_id, "2");
    EXPECT_EQ(events.offers[0][1].free_cores, 2u);
    EXPECT_EQ(events.offers[0][1].queue_slots, 3u);
    backend.launch_tasks(1, {});
    backend.stop(3);
    backend.stop(3);
    EXPECT_EQ(events.names.back(), "stopped");
  }
  EXPECT_EQ(
      log.texts(TENON_LOG_INFO),
      (std::vector<std::string>{"outside: create first", "outside: start", "outside: launch 1 0",
                                "outside: stop 3", "outside: destroy"}));
}

// Two contexts one after another in a process may use the same plugin.
TEST(PluginHost, C19_8_SamePluginAgain) {
  const PluginHost host = host_of({kShipped});
  const LoadedPlugin first = host.load(parse_master_url("local"));
  const LoadedPlugin second = host_of({kShipped}).load(parse_master_url("local[2]"));
  EXPECT_EQ(first.scheduler_backend().create, second.scheduler_backend().create);
}

}  // namespace
}  // namespace tenon::host
