#include "conf/registry.hpp"

#include <set>

#include "conf/redaction.hpp"
#include "tenon/error.hpp"
#include "unit/conf/expect_error.hpp"

namespace tenon::conf {
namespace {

TEST(Registry, EverySettingIsDocumentedAndItsDefaultPassesItsCheck) {
  std::set<std::string> keys;
  std::string last;
  for (const SettingSpec& spec : core_settings()) {
    EXPECT_TRUE(spec.key.starts_with("tenon.")) << spec.key;
    EXPECT_TRUE(keys.insert(spec.key).second) << spec.key << " twice";
    EXPECT_LT(last, spec.key);
    last = spec.key;
    EXPECT_GT(spec.doc.size(), 20u) << spec.key;
    EXPECT_TRUE(spec.doc.ends_with(".")) << spec.key;
    EXPECT_EQ(checked_value(spec, spec.default_value, "the table"), spec.default_value) << spec.key;
    EXPECT_EQ(find_core_setting(spec.key), &spec);
  }
}

TEST(Registry, DefaultsAreThoseOfSpark) {
  const std::map<std::string, std::string> expected = {
      {"tenon.task.cpus", "1"},
      {"tenon.task.maxFailures", "4"},
      {"tenon.stage.maxConsecutiveAttempts", "4"},
      {"tenon.scheduler.mode", "FIFO"},
      {"tenon.scheduler.revive.interval", "1s"},
      {"tenon.scheduler.maxRegisteredResourcesWaitingTime", "30s"},
      {"tenon.scheduler.listenerbus.eventqueue.capacity", "10000"},
      {"tenon.starvation.timeout", "15s"},
      {"tenon.driver.maxResultSize", "1g"},
      {"tenon.task.maxDirectResultSize", "1m"},
      {"tenon.rpc.message.maxSize", "128m"},
      {"tenon.network.timeout", "120s"},
      {"tenon.network.timeoutInterval", "60s"},
      {"tenon.executor.heartbeatInterval", "10s"},
      {"tenon.executor.heartbeat.maxFailures", "60"},
      {"tenon.executor.memory", "1g"},
      {"tenon.memory.fraction", "0.6"},
      {"tenon.files.fetchFailure.unRegisterOutputOnHost", "false"},
      {"tenon.shuffle.reduceLocality.enabled", "true"},
      {"tenon.logLineage", "false"},
      {"tenon.rdd.limit.scaleUpFactor", "4"},
      {"tenon.ui.retainedJobs", "1000"},
      {"tenon.ui.retainedStages", "1000"},
      {"tenon.resultGetter.threads", "4"},
      {"tenon.scheduler.maxWait", "10m"},  // ours: C29.0
  };
  for (const auto& [key, value] : expected) {
    const SettingSpec* spec = find_core_setting(key);
    ASSERT_NE(spec, nullptr) << key;
    EXPECT_EQ(spec->default_value, value) << key;
  }
}

TEST(Registry, OneKeyStandsForEveryScheme) {
  const SettingSpec* spec = find_core_setting("tenon.plugin.my-scheme.library");
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->key, "tenon.plugin.<scheme>.library");
  EXPECT_EQ(find_core_setting("tenon.plugin..library"), nullptr);
  EXPECT_EQ(find_core_setting("tenon.plugin.library"), nullptr);
  EXPECT_EQ(find_core_setting("tenon.plugin.a.b.library"), nullptr);
  EXPECT_EQ(find_core_setting("tenon.plugin.x.librar"), nullptr);
  EXPECT_NE(find_core_setting("tenon.task.resource.gpu.amount"), nullptr);
}

struct BadValue {
  const char* key;
  const char* value;
  const char* rule;
};

TEST(Registry, C26_2_ABadValueNamesKeyValueOriginAndAllowedForm) {
  const BadValue cases[] = {
      {"tenon.task.cpus", "four", "it must be a whole number, 1 or more"},
      {"tenon.task.cpus", "0", "it must be a whole number, 1 or more"},
      {"tenon.task.cpus", "1.5", "it must be a whole number, 1 or more"},
      {"tenon.task.maxFailures", "99999999999", "it must be a whole number, 1 or more"},
      {"tenon.task.maxFailures", "", "it must be a whole number, 1 or more"},
      {"tenon.resultGetter.threads", "1025", "it must be a whole number, from 1 to 1024"},
      {"tenon.scheduler.seed", "-1", "it must be a whole number, 0 or more"},
      {"tenon.memory.fraction", "1.1", "it must be a number, from 0 to 1"},
      {"tenon.logLineage", "yes", "it must be true or false"},
      {"tenon.scheduler.mode", "RANDOM", "it must be one of FIFO, FAIR"},
      {"tenon.executor.memory", "lots",
       "it must be a size such as 512m or 2g, 1m or more (a number alone means MiB)"},
      {"tenon.rpc.message.maxSize", "3g",
       "it must be a size such as 512m or 2g, from 1m to 2047m (a number alone means MiB)"},
      {"tenon.driver.maxResultSize", "1x",
       "it must be a size such as 512m or 2g (a number alone means bytes)"},
      {"tenon.network.timeout", "soon",
       "it must be a duration such as 10s, 100ms or 1h, 1ms or more (a number alone means "
       "seconds)"},
      {"tenon.starvation.timeout", "-1s",
       "it must be a duration such as 10s, 100ms or 1h, 1ms or more (a number alone means "
       "milliseconds)"},
      {"tenon.log.level", "loud",
       "it must be a level (trace, debug, info, warn, error, off), then any component=level, such "
       "as info,scheduler=debug"},
      {"tenon.master", "",
       "a master URL must not be empty; leave it out for the default, local[*]"},
  };
  for (const BadValue& bad : cases) {
    const SettingSpec* spec = find_core_setting(bad.key);
    ASSERT_NE(spec, nullptr) << bad.key;
    expect_error(
        ErrorKind::usage,
        std::string("setting ") + bad.key + " has '" + bad.value + "' (--conf): " + bad.rule,
        [&] { checked_value(*spec, bad.value, "--conf"); });
  }
}

TEST(Registry, ABadRegularExpressionIsRefused) {
  const SettingSpec& spec = *find_core_setting("tenon.redaction.regex");
  EXPECT_THROW(checked_value(spec, "(unclosed", "--conf"), Error);
  EXPECT_EQ(checked_value(spec, "(?i)pin", "--conf"), "(?i)pin");
}

TEST(Registry, ErrorsNeitherShowSecretsNorLongValues) {
  const SettingSpec secret = {.key = "tenon.x.pin", .type = Type::integer, .secret = true};
  expect_error(ErrorKind::usage,
               "setting tenon.x.pin has a hidden value (--conf): it must be a whole number",
               [&] { checked_value(secret, "12e4", "--conf"); });
  expect_error(ErrorKind::usage,
               "setting tenon.task.cpus has '" + std::string(200, 'x') +
                   "...' (--conf): it must be a whole number, 1 or more",
               [] {
                 checked_value(*find_core_setting("tenon.task.cpus"), std::string(5000, 'x'),
                               "--conf");
               });
}

TEST(Registry, ValuesComeInTheirPlainForm) {
  EXPECT_EQ(checked_value(*find_core_setting("tenon.scheduler.mode"), " fair ", ""), "FAIR");
  EXPECT_EQ(checked_value(*find_core_setting("tenon.task.cpus"), " 2 ", ""), "2");
  EXPECT_EQ(checked_value(*find_core_setting("tenon.executor.cores"), "", ""), "");
}

TEST(Registry, ACheckThatAPluginWroteBadlyIsOpenAtThatEnd) {
  const SettingSpec odd = {.key = "tenon.x", .type = Type::integer, .check = "low..9"};
  EXPECT_EQ(checked_value(odd, "-5", ""), "-5");
  EXPECT_THROW(checked_value(odd, "10", ""), Error);
}

TEST(Redaction, HidesByKeyAndByValue) {
  const Redaction redaction("(?i)secret|password|token|access[.]?key");
  EXPECT_EQ(redaction.shown("my.Secret", "x"), "(redacted)");
  EXPECT_EQ(redaction.shown("url", "http://h/?TOKEN=1"), "(redacted)");
  EXPECT_EQ(redaction.shown("tenon.task.cpus", "1"), "1");
  EXPECT_EQ(redaction.shown("k", std::string(100'000, 'a')), "(redacted)");
  EXPECT_EQ(Redaction("").shown("my.secret", "x"), "x");
  EXPECT_EQ(Redaction("pin").shown("PIN", "1"), "1");
}

}  // namespace
}  // namespace tenon::conf
