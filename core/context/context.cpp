#include "tenon/context.hpp"

#include <algorithm>
#include <mutex>
#include <sstream>
#include <utility>

#include "context/driver.hpp"
#include "context/process_guard.hpp"
#include "events/status_store.hpp"
#include "tenon/error.hpp"

namespace tenon {
namespace {

constexpr const char* kGroupDescriptionKey = "tenon.job.description";
constexpr const char* kInterruptKey = "tenon.job.interruptOnCancel";

std::vector<std::string> split_tags(const Properties& properties) {
  std::vector<std::string> tags;
  const auto at = properties.find(events::kJobTagsKey);
  if (at == properties.end()) return tags;
  std::istringstream in(at->second);
  for (std::string tag; std::getline(in, tag, ',');) tags.push_back(tag);
  return tags;
}

void store_tags(Properties& properties, const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : ",") + tag;
  if (text.empty()) {
    properties.erase(events::kJobTagsKey);
  } else {
    properties[events::kJobTagsKey] = text;
  }
}

void check_tag(const std::string& tag) {
  if (!tag.empty() && tag.find(',') == std::string::npos) return;
  throw Error(ErrorKind::invalid_argument,
              "job tag '" + tag + "': a tag must not be empty and must not hold a comma");
}

std::optional<std::string> given(const std::string& reason) {
  return reason.empty() ? std::nullopt : std::optional(reason);
}

std::mutex shared_mutex;  // guards shared_context
std::weak_ptr<Context> shared_context;

}  // namespace

Context::Context(int, char**, Defaults defaults, Location location)
    : Context(Conf(), std::move(defaults), location) {}

Context::Context(const Conf& conf, Defaults defaults, Location location)
    : driver_(detail::Driver::start(conf, defaults, detail::call_site("Context", location))) {}

Context::~Context() {
  try {
    driver_->stop();
  } catch (const Error&) {
    // on a listener's or a task's thread, which stop() refuses: the process's end cleans up
  }
}

std::shared_ptr<Context> Context::get_or_create(const Conf& conf, Location location) {
  const std::lock_guard lock(shared_mutex);
  if (auto context = shared_context.lock(); context && !context->stopped()) return context;
  auto context = std::make_shared<Context>(conf, Defaults{}, location);
  shared_context = context;
  return context;
}

void Context::stop() { driver_->stop(); }
bool Context::stopped() const { return driver_->stopped(); }

void Context::set_local_property(const std::string& key, std::optional<std::string> value) {
  Properties& properties = driver_->local_properties();
  if (value) {
    properties[key] = *value;
  } else {
    properties.erase(key);
  }
}

std::optional<std::string> Context::local_property(const std::string& key) const {
  const Properties& properties = driver_->local_properties();
  const auto at = properties.find(key);
  return at == properties.end() ? std::nullopt : std::optional(at->second);
}

Properties Context::local_properties() const { return driver_->local_properties(); }
void Context::set_local_properties(Properties properties) {
  driver_->local_properties() = std::move(properties);
}

void Context::set_job_group(const std::string& group, const std::string& description,
                            bool interrupt_on_cancel) {
  set_local_property(events::kJobGroupKey, group);
  set_local_property(kGroupDescriptionKey, description);
  set_local_property(kInterruptKey, interrupt_on_cancel ? "true" : "false");
}

void Context::clear_job_group() {
  for (const char* key : {events::kJobGroupKey, kGroupDescriptionKey, kInterruptKey}) {
    set_local_property(key, std::nullopt);
  }
}

void Context::add_job_tag(const std::string& tag) {
  check_tag(tag);
  auto tags = job_tags();
  if (std::find(tags.begin(), tags.end(), tag) == tags.end()) tags.push_back(tag);
  store_tags(driver_->local_properties(), tags);
}

void Context::remove_job_tag(const std::string& tag) {
  check_tag(tag);
  auto tags = job_tags();
  std::erase(tags, tag);
  store_tags(driver_->local_properties(), tags);
}

void Context::clear_job_tags() { store_tags(driver_->local_properties(), {}); }
std::vector<std::string> Context::job_tags() const {
  return split_tags(driver_->local_properties());
}

void Context::cancel_job(int32_t job, const std::string& reason) {
  driver_->post(dag::JobCancelled{job, given(reason)});
}
void Context::cancel_stage(int32_t stage, const std::string& reason) {
  driver_->post(dag::StageCancelled{stage, given(reason)});
}
void Context::cancel_job_group(const std::string& group) {
  driver_->post(dag::JobGroupCancelled{group});
}
void Context::cancel_jobs_with_tag(const std::string& tag) {
  check_tag(tag);
  driver_->post(dag::JobTagCancelled{tag});
}
void Context::cancel_all_jobs() { driver_->post(dag::AllJobsCancelled{}); }

bool Context::kill_task_attempt(uint64_t task_id, const std::string& reason) {
  bool known = false;
  driver_->on_loop([&] { known = driver_->scheduling().kill_task_attempt(task_id, reason); });
  return known;
}

void Context::add_listener(std::shared_ptr<Listener> listener) {
  driver_->bus().add(std::move(listener), events::Group::shared);
}
StatusTracker Context::status() const { return driver_->status(); }
int32_t Context::default_parallelism() const { return driver_->default_parallelism(); }
std::string Context::application_id() const { return driver_->application_id(); }
std::optional<std::string> Context::application_attempt_id() const {
  const std::string id = driver_->attempt_id();
  return id.empty() ? std::nullopt : std::optional(id);
}
std::string Context::master() const { return driver_->settings().get_string("tenon.master"); }
std::string Context::app_name() const { return driver_->settings().get_string("tenon.app.name"); }
std::optional<std::string> Context::setting(const std::string& key) const {
  const conf::Value* value = driver_->settings().find(key);
  return value == nullptr ? std::nullopt : std::optional(value->text);
}

}  // namespace tenon
