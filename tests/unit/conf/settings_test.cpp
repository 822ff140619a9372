#include "conf/settings.hpp"

#include <filesystem>
#include <fstream>

#include "tenon/conf.hpp"
#include "unit/conf/expect_error.hpp"

namespace tenon::conf {
namespace {

namespace fs = std::filesystem;

class SettingsTest : public ::testing::Test {
 protected:
  SettingsTest() {
    fs::create_directories(dir_);
    variables_["TENON_CONF_DIR"] = dir_;
    input_.environment = [this](const char* name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return std::nullopt;
      return found->second;
    };
    input_.program_name = "prog";
  }
  ~SettingsTest() override { fs::remove_all(dir_); }

  void write_conf(const std::string& text) const { std::ofstream(dir_ + "/tenon.conf") << text; }
  void option(const std::string& key, const std::string& value) {
    input_.handover.options.push_back({key, value, "--conf"});
  }
  void properties(const std::string& key, const std::string& value) {
    input_.handover.has_properties_file = true;
    input_.handover.properties_file.push_back({key, value, "p.conf:1"});
  }
  [[nodiscard]] Settings resolve() const { return Settings::resolve(input_); }
  void expect_value(const char* key, const char* text, Source source,
                    const std::string& where) const {
    const Settings settings = resolve();
    const Value* value = settings.find(key);
    ASSERT_NE(value, nullptr) << key;
    EXPECT_EQ(value->text, text);
    EXPECT_EQ(to_string(value->source), to_string(source));
    EXPECT_EQ(value->where, where);
  }
  void expect_refused(const std::string& message) const {
    expect_error(ErrorKind::usage, message, [this] { (void)resolve(); });
  }

  const std::string dir_ = ::testing::TempDir() + "conf" + std::to_string(::getpid());
  std::map<std::string, std::string> variables_;
  ResolveInput input_;
};

constexpr const char* kMaster = "tenon.master";

TEST_F(SettingsTest, C29_16_EachLayerBeatsTheOnesBelowIt) {
  expect_value(kMaster, find_core_setting(kMaster)->default_value.c_str(), Source::built_in, "");
  input_.program_defaults["tenon.master"] = "x:1";
  expect_value(kMaster, "x:1", Source::program, "the program's defaults");
  write_conf("tenon.master x:2\n");
  expect_value(kMaster, "x:2", Source::file, dir_ + "/tenon.conf:1");
  properties("tenon.master", "x:3");
  expect_value(kMaster, "x:3", Source::file, "p.conf:1");
  variables_["TENON_MASTER"] = "x:4";
  expect_value(kMaster, "x:4", Source::environment, "TENON_MASTER");
  option("tenon.master", "x:5");
  expect_value(kMaster, "x:5", Source::command_line, "--conf");
  option("tenon.master", "x:6");  // the last of a key counts
  expect_value(kMaster, "x:6", Source::command_line, "--conf");
  Conf conf;
  conf.set("tenon.master", "x:7");
  input_.code = conf.entries();
  expect_value(kMaster, "x:7", Source::code, "Conf::set");
}

TEST_F(SettingsTest, APropertiesFileStandsInPlaceOfTenonConf) {
  write_conf("tenon.task.cpus 2\ntenon.task.maxFailures 7\n");
  properties("tenon.task.cpus", "3");
  EXPECT_EQ(resolve().get_int("tenon.task.cpus"), 3);
  EXPECT_EQ(resolve().get_int("tenon.task.maxFailures"), 4);
  input_.handover.load_defaults = true;
  EXPECT_EQ(resolve().get_int("tenon.task.cpus"), 3);
  EXPECT_EQ(resolve().get_int("tenon.task.maxFailures"), 7);
}

TEST_F(SettingsTest, EmptyVariablesCountAsNotSet) {
  write_conf("tenon.log.level info\n");
  variables_["TENON_LOG"] = variables_["TENON_LOCAL_DIRS"] = variables_["TMPDIR"] = "";
  variables_["TENON_HOME"] = "";
  expect_value("tenon.log.level", "info", Source::file, dir_ + "/tenon.conf:1");
  EXPECT_EQ(resolve().get_string("tenon.local.dirs"), "/tmp");
}

TEST_F(SettingsTest, AnEmptyMasterIsRefusedWhereverItComesFrom) {
  const auto refused = [this](const std::string& where) {
    expect_refused("setting tenon.master has '' (" + where +
                   "): a master URL must not be empty; leave it out for the default, " +
                   find_core_setting(kMaster)->default_value);
  };
  variables_["TENON_MASTER"] = "";
  refused("TENON_MASTER");
  variables_["TENON_MASTER"] = "x:1";
  option(kMaster, " ");
  refused("--conf");
  input_.handover.options.clear();
  input_.code[kMaster] = "";
  refused("Conf::set");
}

TEST_F(SettingsTest, NamedVariables) {
  variables_ = {{"TENON_CONF_DIR", dir_},
                {"TENON_LOCAL_DIRS", "/a, /b"},
                {"TENON_LOG", "info,scheduler=debug"}};
  EXPECT_EQ(resolve().get_list("tenon.local.dirs"), (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(resolve().get_string("tenon.log.level"), "info,scheduler=debug");
  variables_["TENON_LOG"] = "loud";
  expect_refused(
      "setting tenon.log.level has 'loud' (TENON_LOG): it must be a level (trace, debug, info, "
      "warn, error, off), then any component=level, such as info,scheduler=debug");
}

TEST_F(SettingsTest, C29_16_DefaultsThatAreWorkedOut) {
  EXPECT_EQ(resolve().get_string("tenon.app.name"), "prog");
  EXPECT_EQ(resolve().get_string("tenon.local.dirs"), "/tmp");
  EXPECT_EQ(resolve().get_string("tenon.rpc.askTimeout"), "120s");
  variables_["TMPDIR"] = "/var/tmp";
  option("tenon.app.name", "given");
  option("tenon.network.timeout", "300");
  EXPECT_EQ(resolve().get_string("tenon.app.name"), "given");
  EXPECT_EQ(resolve().get_list("tenon.local.dirs"), std::vector<std::string>{"/var/tmp"});
  EXPECT_EQ(resolve().get_duration("tenon.rpc.askTimeout"), std::chrono::seconds(300));
}

TEST_F(SettingsTest, TypedGetters) {
  option("tenon.logLineage", "TRUE");
  option("tenon.executor.memory", "1.5g");
  const Settings settings = resolve();
  EXPECT_TRUE(settings.get_bool("tenon.logLineage"));
  EXPECT_EQ(settings.get_size("tenon.executor.memory"), 3ull << 29);
  EXPECT_EQ(settings.get_duration("tenon.scheduler.maxWait"), std::chrono::minutes(10));
  EXPECT_EQ(settings.get_double("tenon.memory.fraction"), 0.6);
  EXPECT_EQ(settings.get_int("tenon.stage.maxAttempts"), 2147483647);
  EXPECT_FALSE(settings.has("tenon.default.parallelism"));
  EXPECT_TRUE(settings.has("tenon.task.cpus"));
}

TEST_F(SettingsTest, ReadingWhatIsNotRegisteredIsAFaultOfOurs) {
  const Settings settings = resolve();
  expect_error(ErrorKind::internal, "setting tenon.no.such is read but not registered",
               [&] { (void)settings.get_int("tenon.no.such"); });
  expect_error(ErrorKind::internal, "setting tenon.no.such is read but not registered",
               [&] { (void)settings.get_string("tenon.no.such"); });
  expect_error(ErrorKind::internal, "setting tenon.task.cpus is a int but read as a bool",
               [&] { (void)settings.get_bool("tenon.task.cpus"); });
  expect_error(ErrorKind::internal, "setting tenon.executor.cores is read but has no value",
               [&] { (void)settings.get_int("tenon.executor.cores"); });
}

TEST_F(SettingsTest, C29_11_UnknownKeysAreRefusedWhereverTheyCameFrom) {
  const std::string rest =
      "; did you mean tenon.executor.cores? 'tenon config list' shows all settings";
  option("tenon.executor.core", "4");
  expect_refused("unknown setting 'tenon.executor.core' (--conf)" + rest);
  input_.handover = {};
  write_conf("# x\ntenon.executor.core 4\n");
  expect_refused("unknown setting 'tenon.executor.core' (" + dir_ + "/tenon.conf:2)" + rest);
  write_conf("");
  input_.code["tenon.executor.core"] = "4";
  expect_refused("unknown setting 'tenon.executor.core' (Conf::set)" + rest);
  input_.code.clear();
  input_.program_defaults["tenon.executor.core"] = "4";
  expect_refused("unknown setting 'tenon.executor.core' (the program's defaults)" + rest);
  input_.program_defaults.clear();
  option("tenon.xyzzy", "4");
  expect_refused("unknown setting 'tenon.xyzzy' (--conf) 'tenon config list' shows all settings");
}

TEST_F(SettingsTest, C29_11_KeysWithoutThePrefixPassThrough) {
  option("my.app.key", " kept as it is ");
  write_conf("spark.executor.cores 4\ntenonlike.key 1\n");
  const Settings settings = resolve();
  EXPECT_EQ(settings.find("my.app.key")->text, " kept as it is ");
  EXPECT_EQ(settings.find("spark.executor.cores")->text, "4");
  EXPECT_EQ(settings.find("tenonlike.key")->text, "1");
  EXPECT_EQ(settings.find("other"), nullptr);
}

TEST_F(SettingsTest, ABadValueIsRefusedThoughAStrongerLayerOverrulesIt) {
  write_conf("tenon.task.cpus four\n");
  option("tenon.task.cpus", "2");
  expect_refused("setting tenon.task.cpus has 'four' (" + dir_ +
                 "/tenon.conf:1): it must be a whole number, 1 or more");
}

TEST_F(SettingsTest, AnEmptyValueTakesTheDefaultBack) {
  write_conf("tenon.executor.cores 4\n");
  option("tenon.executor.cores", "");
  EXPECT_FALSE(resolve().has("tenon.executor.cores"));
}

TEST_F(SettingsTest, C18_12_IntervalsAreAtMostTheTimeout) {
  option("tenon.network.timeoutInterval", "200s");
  expect_refused(
      "tenon.network.timeoutInterval=200s (--conf) is more than tenon.network.timeout=120s "
      "(default): it must be at most that");
  input_.handover = {};
  option("tenon.executor.heartbeatInterval", "121s");
  expect_refused(
      "tenon.executor.heartbeatInterval=121s (--conf) is more than tenon.network.timeout=120s "
      "(default): it must be at most that");
  option("tenon.network.timeout", "121s");
  EXPECT_EQ(resolve().get_duration("tenon.executor.heartbeatInterval"), std::chrono::seconds(121));
}

TEST_F(SettingsTest, UR12_CpusOfATaskAreAtMostCoresOfAnExecutor) {
  option("tenon.task.cpus", "4");
  EXPECT_EQ(resolve().get_int("tenon.task.cpus"), 4);
  option("tenon.executor.cores", "2");
  expect_refused(
      "tenon.task.cpus=4 (--conf) is more than tenon.executor.cores=2 (--conf): no executor could "
      "run a task");
}

TEST_F(SettingsTest, TheConfFolderMustExist) {
  variables_["TENON_CONF_DIR"] = "/no/such";
  expect_refused("TENON_CONF_DIR is /no/such, which is not a folder");
}

TEST_F(SettingsTest, TheConfFolderOfTenonHome) {
  variables_ = {{"TENON_HOME", dir_}};
  fs::create_directories(dir_ + "/conf");
  std::ofstream(dir_ + "/conf/tenon.conf") << "tenon.task.cpus 2\n";
  EXPECT_EQ(resolve().get_int("tenon.task.cpus"), 2);
  EXPECT_EQ(find_conf_file(input_.environment, "tenon.conf"), dir_ + "/conf/tenon.conf");
}

TEST_F(SettingsTest, SecretsAreNotShown) {
  option("my.secret", "x");
  option("my.key", "y");
  const Settings settings = resolve();
  EXPECT_EQ(settings.shown("my.secret"), "(redacted)");
  EXPECT_EQ(settings.shown("my.key"), "y");
  EXPECT_EQ(settings.shown("tenon.task.cpus"), "1");
}

// ---- plugins

std::vector<SettingSpec> plugin_specs() {
  return {
      {.key = "tenon.plugin.x.depth", .type = Type::integer, .default_value = "3", .check = "1..9"},
      {.key = "tenon.task.maxFailures", .default_value = "1"},
      {.key = "tenon.worker.pin", .secret = true}};
}

TEST_F(SettingsTest, KeysOfTheChosenPluginAreChecked) {
  std::string master;
  input_.chosen_plugin = [&](const Settings& so_far) {
    master = so_far.get_string("tenon.master");
    return plugin_specs();
  };
  option("tenon.master", "x:1");
  EXPECT_EQ(resolve().get_int("tenon.plugin.x.depth"), 3);
  EXPECT_EQ(master, "x:1");
  option("tenon.plugin.x.depth", "4");
  option("tenon.worker.pin", "1234");
  const Settings settings = resolve();
  EXPECT_EQ(settings.get_int("tenon.plugin.x.depth"), 4);
  EXPECT_FALSE(settings.find("tenon.plugin.x.depth")->unused);
  EXPECT_EQ(settings.shown("tenon.worker.pin"), "(redacted)");
  option("tenon.plugin.x.depth", "10");
  expect_refused(
      "setting tenon.plugin.x.depth has '10' (--conf): it must be a whole number, from 1 to 9");
}

TEST_F(SettingsTest, AMistypedPluginKeyGetsTheNearestOfThePlugin) {
  input_.chosen_plugin = [](const Settings&) { return plugin_specs(); };
  option("tenon.plugin.x.dept", "4");
  expect_refused(
      "unknown setting 'tenon.plugin.x.dept' (--conf); did you mean tenon.plugin.x.depth? 'tenon "
      "config list' shows all settings");
}

TEST_F(SettingsTest, APluginsDefaultForAKeyOfCoreCountsBelowTheProgramsOwn) {
  input_.chosen_plugin = [](const Settings&) { return plugin_specs(); };
  expect_value("tenon.task.maxFailures", "1", Source::plugin, "");
  input_.program_defaults["tenon.task.maxFailures"] = "2";
  expect_value("tenon.task.maxFailures", "2", Source::program, "the program's defaults");
}

TEST_F(SettingsTest, UR50_KeysOfOtherPluginsAreAcceptedAndUnused) {
  int asked = 0;
  input_.chosen_plugin = [](const Settings&) { return std::vector<SettingSpec>{}; };
  input_.other_plugins = [&](const Settings&) {
    ++asked;
    return plugin_specs();
  };
  EXPECT_EQ(resolve().get_int("tenon.task.maxFailures"), 4) << "only the chosen one has defaults";
  EXPECT_EQ(asked, 0) << "other plugin files are not touched without need";
  option("tenon.plugin.x.depth", "4");
  const Settings settings = resolve();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(settings.find("tenon.plugin.x.depth")->text, "4");
  EXPECT_TRUE(settings.find("tenon.plugin.x.depth")->unused);
  option("tenon.plugin.x.depth", "x");
  expect_refused(
      "setting tenon.plugin.x.depth has 'x' (--conf): it must be a whole number, from 1 to 9");
}

TEST_F(SettingsTest, WhereAPluginIsLoadedFromIsKnownForEveryScheme) {
  option("tenon.plugin.mine.library", "/x/tenon-mine.so");
  EXPECT_EQ(resolve().get_string("tenon.plugin.mine.library"), "/x/tenon-mine.so");
}

// ---- tenon::Conf

TEST(Conf, IsAValue) {
  Conf conf;
  conf.set("a", "1").set("b", "2").set("a", "3");
  Conf copy = conf;
  copy.set("a", "4");
  EXPECT_EQ(conf.get("a"), "3");
  EXPECT_EQ(copy.get("a"), "4");
  EXPECT_EQ(conf.get("c"), std::nullopt);
  EXPECT_EQ(conf.entries().size(), 2u);
}

}  // namespace
}  // namespace tenon::conf
