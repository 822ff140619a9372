// The table of core's settings. Spark's tail names and defaults where Spark has the setting.
#include <algorithm>
#include <cmath>
#include <exception>
#include <regex>
#include <vector>

#include "common/log.hpp"
#include "conf/redaction.hpp"
#include "conf/registry.hpp"
#include "conf/value.hpp"

namespace tenon::conf {
namespace {

std::optional<std::string> master_given(std::string_view text) {
  if (!text.empty()) return std::nullopt;
  return "a master URL must not be empty; leave it out for the default, " TENON_DEFAULT_MASTER;
}

// Resources are counted in thousandths of an address.
std::optional<std::string> resource_amount(std::string_view text) {
  const double amount = parse_double(text).value_or(-1);
  const bool part = amount >= 0.001 && amount < 1;
  const bool whole = amount >= 0 && amount <= 1e6 && amount == std::floor(amount);
  if (text.empty() || part || whole) return std::nullopt;
  return "it must be a whole number of addresses, 1000000 at most, or a part of one address, from "
         "0.001 to below 1";
}

std::optional<std::string> log_levels(std::string_view text) {
  if (log::parse_levels(text)) return std::nullopt;
  return "it must be a level (trace, debug, info, warn, error, off), then any component=level, "
         "such as info,scheduler=debug";
}

std::optional<std::string> regular_expression(std::string_view text) {
  try {
    const Redaction compiled{std::string(text)};
    return std::nullopt;
  } catch (const std::regex_error& error) {
    return std::string("it must be a regular expression: ") + error.what();
  }
}

std::vector<SettingSpec> application() {
  return {
      {.key = "tenon.app.name",
       .doc = "Name of the application. Default: the program's file name."},
      {.key = "tenon.master",
       .default_value = TENON_DEFAULT_MASTER,
       .doc = "Master URL: where the program runs. Its scheme picks the plugin.",
       .rule = master_given},
      {.key = "tenon.local.dirs",
       .type = Type::list,
       .doc = "Folders for temporary files, by commas. Default: TMPDIR, else /tmp."},
      {.key = "tenon.default.parallelism",
       .type = Type::integer,
       .check = "1..2147483647",
       .doc = "Partitions of a data set when neither the call nor a parent says how many. Default: "
              "what the plugin says, mostly all cores."},
      {.key = "tenon.rdd.limit.scaleUpFactor",
       .type = Type::integer,
       .default_value = "4",
       .check = "1..2147483647",
       .doc = "take(n) tries one partition first, then this many times as many at each try."},
      {.key = "tenon.driver.maxResultSize",
       .type = Type::size,
       .default_value = "1g",
       .check = "0..",
       .doc = "A job whose results exceed this in all is aborted. 0: no limit.",
       .bare_unit = "b"},
      {.key = "tenon.task.maxDirectResultSize",
       .type = Type::size,
       .default_value = "1m",
       .check = "0..",
       .doc = "A task's result above this goes by block instead of in its status message.",
       .bare_unit = "b"},
      {.key = "tenon.resultGetter.threads",
       .type = Type::integer,
       .default_value = "4",
       .check = "1..1024",
       .doc = "Threads that decode results and fetch those that come by block."},
      {.key = "tenon.cleaner.referenceTracking",
       .type = Type::boolean,
       .default_value = "true",
       .doc = "What executors keep for an Rdd is removed when the program holds it no more: its "
              "cached partitions and its shuffle outputs."},
      {.key = "tenon.redaction.regex",
       .default_value = "(?i)secret|password|token|access[.]?key",
       .doc = "A setting whose key or value matches is shown as (redacted).",
       .rule = regular_expression},
  };
}

std::vector<SettingSpec> executors() {
  return {
      {.key = "tenon.executor.cores",
       .type = Type::integer,
       .check = "1..2147483647",
       .doc = "Cores of one executor. Default: the plugin's own rule."},
      {.key = "tenon.executor.instances",
       .type = Type::integer,
       .check = "0..2147483647",
       .doc = "Executors to start with. Default: the plugin's own rule."},
      {.key = "tenon.executor.memory",
       .type = Type::size,
       .default_value = "1g",
       .check = "1m..",
       .doc = "Memory of one executor.",
       .bare_unit = "m"},
      {.key = "tenon.memory.fraction",
       .type = Type::number,
       .default_value = "0.6",
       .check = "0..1",
       .doc = "Part of an executor's memory for cached data and for what tasks gather."},
      {.key = "tenon.memory.storageLimit",
       .type = Type::size,
       .check = "0..",
       .doc = "Most bytes of cached data in one executor; the least recently used goes first. "
              "Default: tenon.memory.fraction of what tenon.executor.memory has beyond 300m.",
       .bare_unit = "b"},
      {.key = "tenon.executor.heartbeatInterval",
       .type = Type::duration,
       .default_value = "10s",
       .check = "1ms..",
       .doc = "An executor reports to the driver this often. Less than tenon.network.timeout.",
       .bare_unit = "ms"},
      {.key = "tenon.executor.heartbeat.maxFailures",
       .type = Type::integer,
       .default_value = "60",
       .check = "1..2147483647",
       .doc = "An executor ends itself (exit code 56) after this many heartbeats in a row failed."},
      {.key = "tenon.network.timeout",
       .type = Type::duration,
       .default_value = "120s",
       .check = "1ms..",
       .doc = "An executor that has been silent for longer is taken for lost; also the default of "
              "other network time-outs.",
       .bare_unit = "s"},
      {.key = "tenon.network.timeoutInterval",
       .type = Type::duration,
       .default_value = "60s",
       .check = "1ms..",
       .doc = "How often the driver looks for silent executors. At most tenon.network.timeout.",
       .bare_unit = "ms"},
      {.key = "tenon.rpc.askTimeout",
       .type = Type::duration,
       .check = "1ms..",
       .doc = "How long a request to another process waits for its answer. Default: "
              "tenon.network.timeout.",
       .bare_unit = "s"},
      {.key = "tenon.rpc.message.maxSize",
       .type = Type::size,
       .default_value = "128m",
       .check = "1m..2047m",
       .doc = "Largest message between driver and executors, a task with its data included.",
       .bare_unit = "m"},
  };
}

std::vector<SettingSpec> scheduling() {
  return {
      {.key = "tenon.task.cpus",
       .type = Type::integer,
       .default_value = "1",
       .check = "1..2147483647",
       .doc = "Cores that one task takes. At most tenon.executor.cores."},
      {.key = "tenon.task.resource.<name>.amount",
       .type = Type::number,
       .check = "0..",
       .doc = "How much of a resource such as gpu one task takes: whole addresses, or under 1 a "
              "part of one. 0: nothing.",
       .rule = resource_amount},
      {.key = "tenon.task.maxFailures",
       .type = Type::integer,
       .default_value = "4",
       .check = "1..2147483647",
       .doc = "A task that has failed this many times fails its job. A plugin may have its own "
              "default."},
      {.key = "tenon.stage.maxConsecutiveAttempts",
       .type = Type::integer,
       .default_value = "4",
       .check = "1..2147483647",
       .doc = "A stage is aborted after this many attempts in a row failed to fetch their input."},
      {.key = "tenon.stage.maxAttempts",
       .type = Type::integer,
       .default_value = "2147483647",
       .check = "1..2147483647",
       .doc = "Most attempts of a stage in all; tenon.stage.maxConsecutiveAttempts when less."},
      {.key = "tenon.scheduler.mode",
       .default_value = "FIFO",
       .check = "FIFO|FAIR",
       .doc = "Jobs get cores in the order of submission, or share them by pools."},
      {.key = "tenon.scheduler.allocation.file",
       .doc = "File of the pools of FAIR mode. Default: pools.toml in the settings folder."},
      {.key = "tenon.scheduler.maxWait",
       .type = Type::duration,
       .default_value = "10m",
       .check = "0..",
       .doc = "Jobs fail (exit code 5) when no executor has come for this long. 0: wait for ever.",
       .bare_unit = "ms"},
      {.key = "tenon.scheduler.revive.interval",
       .type = Type::duration,
       .default_value = "1s",
       .check = "1ms..",
       .doc = "How often free cores are offered again when nothing else happened.",
       .bare_unit = "ms"},
      {.key = "tenon.scheduler.launchAhead.maxTaskTime",
       .type = Type::duration,
       .default_value = "10ms",
       .check = "0..",
       .doc = "Tasks of a stage whose tasks have run no longer than this may wait on the executor "
              "for their cores. 0: never.",
       .bare_unit = "ms"},
      {.key = "tenon.scheduler.minRegisteredResourcesRatio",
       .type = Type::number,
       .default_value = "0",
       .check = "0..1",
       .doc = "The first job waits for this part of the executors that were asked for."},
      {.key = "tenon.scheduler.maxRegisteredResourcesWaitingTime",
       .type = Type::duration,
       .default_value = "30s",
       .check = "0..",
       .doc = "... but no longer than this.",
       .bare_unit = "ms"},
      {.key = "tenon.scheduler.seed",
       .type = Type::integer,
       .check = "0..",
       .doc = "Seed of the scheduler's random choices. Default: another one at each start."},
      {.key = "tenon.starvation.timeout",
       .type = Type::duration,
       .default_value = "15s",
       .check = "1ms..",
       .doc = "A warning comes each time this long no task could be launched.",
       .bare_unit = "ms"},
      {.key = "tenon.files.fetchFailure.unRegisterOutputOnHost",
       .type = Type::boolean,
       .default_value = "false",
       .doc = "A fetch failure takes away all map outputs of the host, not just the executor's."},
      {.key = "tenon.shuffle.reduceLocality.enabled",
       .type = Type::boolean,
       .default_value = "true",
       .doc = "Reduce tasks prefer the hosts that hold much of their input."},
  };
}

std::vector<SettingSpec> observing() {
  return {
      {.key = "tenon.log.level",
       .default_value = "warn",
       .doc = "What is logged: a level (trace, debug, info, warn, error, off), then others for "
              "single components, such as info,scheduler=debug.",
       .rule = log_levels},
      {.key = "tenon.log.format",
       .default_value = "text",
       .check = "text|json",
       .doc = "Form of a log line on stderr."},
      {.key = "tenon.logging.exceptionPrintInterval",
       .type = Type::duration,
       .default_value = "10s",
       .check = "0..",
       .doc = "The same error of tasks is logged in full at most this often, and short between.",
       .bare_unit = "ms"},
      {.key = "tenon.logLineage",
       .type = Type::boolean,
       .default_value = "false",
       .doc = "Log the lineage of a data set when a job on it starts."},
      {.key = "tenon.ui.showConsoleProgress",
       .type = Type::boolean,
       .default_value = "true",
       .doc = "A progress bar on stderr while a job runs. Only on a terminal."},
      {.key = "tenon.ui.retainedJobs",
       .type = Type::integer,
       .default_value = "1000",
       .check = "1..2147483647",
       .doc = "Finished jobs that the status store remembers."},
      {.key = "tenon.ui.retainedStages",
       .type = Type::integer,
       .default_value = "1000",
       .check = "1..2147483647",
       .doc = "Finished stages that the status store remembers."},
      {.key = "tenon.ui.retainedDeadExecutors",
       .type = Type::integer,
       .default_value = "100",
       .check = "1..2147483647",
       .doc = "Lost and removed executors that the status store remembers."},
      {.key = "tenon.scheduler.listenerbus.eventqueue.capacity",
       .type = Type::integer,
       .default_value = "10000",
       .check = "1..2147483647",
       .doc = "Events that wait for a listener; the newest are dropped, and counted, when full."},
  };
}

std::vector<SettingSpec> plugins() {
  return {
      {.key = "tenon.plugin.<scheme>.library",
       .doc = "The file to load for master URLs of this scheme, as an absolute path."},
      {.key = "tenon.plugin.stopTimeout",
       .type = Type::duration,
       .default_value = "10s",
       .check = "0..",
       .doc = "How long a plugin may take to stop; core goes on without it after that.",
       .bare_unit = "ms"},
  };
}

std::vector<SettingSpec> make_table() {
  std::vector<SettingSpec> all;
  for (std::vector<SettingSpec>& part :
       std::array{application(), executors(), scheduling(), observing(), plugins()}) {
    std::ranges::move(part, std::back_inserter(all));
  }
  std::ranges::sort(all, {}, &SettingSpec::key);
  return all;
}

}  // namespace

std::span<const SettingSpec> core_settings() {
  static const std::vector<SettingSpec> table = make_table();
  return table;
}

}  // namespace tenon::conf
