#include "task/task_set_manager.hpp"

#include <algorithm>
#include <charconv>

#include "tenon/error.hpp"

namespace tenon::task {
namespace {

constexpr size_t kLargeTaskKib = 1000;

template <class Number>
void append(std::string& text, std::string_view before, Number number) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), number);
  text.append(before).append(digits, end);
}

// "task 2.0 in stage 3.0 (TID 17)"; on the path of every launch, so without the many strings of
// operator+.
std::string attempt_name(const TaskSet& set, int32_t index, int32_t attempt, uint64_t task_id) {
  std::string text;
  text.reserve(48);
  append(text, "task ", index);
  append(text, ".", attempt);
  append(text, " in stage ", set.stage_id);
  append(text, ".", set.stage_attempt);
  append(text, " (TID ", task_id);
  text.push_back(')');
  return text;
}

bool interrupts(const Properties& properties) {
  const auto it = properties.find("tenon.job.interruptOnCancel");
  return it != properties.end() && it->second == "true";
}

}  // namespace

TaskSetManager::TaskSetManager(TaskSetPtr set, SchedulerState& state)
    : Schedulable(set->name()),
      set_(std::move(set)),
      state_(state),
      max_failures_(state.max_task_failures),
      tasks_(set_->tasks.size()),
      waiting_(*set_, state.cluster, [this](int32_t index) { return is_pending(index); }),
      pending_count_(tasks_.size()) {
  priority_ = set_->priority;
  stage_id_ = set_->stage_id;
  interrupt_on_cancel_ = set_->properties != nullptr && interrupts(*set_->properties);
  for (size_t left = tasks_.size(); left > 0; --left) waiting_.add(static_cast<int32_t>(left - 1));
  executors_changed();
}

std::string TaskSetManager::stage_text() const {
  return "stage " + std::to_string(set_->stage_id) + "." + std::to_string(set_->stage_attempt);
}

std::string TaskSetManager::name_of(const TaskInfo& info) const {
  return attempt_name(*set_, info.index, info.attempt, info.id);
}

bool TaskSetManager::may_launch_ahead() const {
  return run_count_ > 0 && !zombie_ && state_.settings.task_resources.empty() &&
         run_time_ < state_.settings.launch_ahead_max_task_time * static_cast<int64_t>(run_count_);
}

uint32_t TaskSetManager::launch_ahead_depth() const {
  const int64_t worth = 2 * state_.settings.launch_ahead_max_task_time.count();
  const int64_t depth =
      worth / std::max<int64_t>(
                  run_time_.count() / std::max<int64_t>(static_cast<int64_t>(run_count_), 1), 1);
  return static_cast<uint32_t>(std::clamp<int64_t>(depth, 1, UINT32_MAX));
}

std::optional<TaskChoice> TaskSetManager::choose(NameId executor, Locality max) {
  if (pending_count_ > 0) {
    if (auto choice = waiting_.take(executor, max)) return choice;
  }
  return copies_.empty() ? std::nullopt : choose_copy(executor, max);
}

std::optional<TaskChoice> TaskSetManager::choose_copy(NameId executor, Locality max) {
  const auto over = [this](int32_t index) {
    const Task& known = task(index);
    return known.successful || known.running == nullptr || known.running->next_of_task != nullptr;
  };
  std::erase_if(copies_, over);
  const NameId host = state_.cluster.state(executor).host;
  for (auto it = copies_.begin(); it != copies_.end(); ++it) {
    if (task(*it).running->info.host == state_.cluster.host_name(host)) continue;
    if (const auto level = waiting_.level_for(*it, executor, max)) {
      const TaskChoice choice{*it, *level};
      copies_.erase(it);
      return choice;
    }
  }
  return std::nullopt;
}

TaskSetManager::Offered TaskSetManager::offer(NameId executor, Locality max, bool queued,
                                              Launch& launch) {
  if (zombie_) return Offered::nothing;
  const auto choice = choose(executor, allowed_level(max));
  if (!choice) return Offered::nothing;
  const uint64_t task_id = state_.next_task_id++;
  const bool with_binary = take_binary_turn(executor);
  if (!encode(choice->index, task_id, with_binary, launch.payload)) return Offered::aborted;
  start(*choice, task_id, executor, queued, launch);
  return Offered::launched;
}

bool TaskSetManager::encode(int32_t index, uint64_t task_id, bool with_binary,
                            std::string& payload) {
  try {
    payload = state_.encode(*set_, spec(index), task_id, static_cast<int>(task(index).launched),
                            with_binary);
  } catch (const std::exception& error) {
    const auto* ours = dynamic_cast<const Error*>(&error);
    abort("Failed to serialize task " + std::to_string(task_id) +
              ", not attempting to retry it. Exception during serialization: " + error.what(),
          ours != nullptr ? std::make_shared<const Error>(*ours) : nullptr);
    return false;
  } catch (...) {
    abort("Failed to serialize task " + std::to_string(task_id) +
              ", not attempting to retry it. Exception during serialization: of unknown type",
          nullptr);
    return false;
  }
  if (payload.size() >= state_.max_payload_bytes) {
    abort("Serialized task " + std::to_string(task_id) + ":" + std::to_string(index) + " was " +
              std::to_string(payload.size()) +
              " bytes, which exceeds max allowed: tenon.rpc.message.maxSize (" +
              std::to_string(state_.max_payload_bytes) +
              " bytes). Consider increasing tenon.rpc.message.maxSize or using broadcast variables "
              "for large values.",
          nullptr);
    return false;
  }
  const size_t shared = with_binary && set_->binary ? set_->binary->bytes.size() : 0;
  if (!warned_large_ && payload.size() > kLargeTaskKib * 1024 + shared) {
    warned_large_ = true;
    state_.log.warn(
        "Stage " + std::to_string(set_->stage_id) + " contains a task of very large size (" +
        std::to_string((payload.size() - shared) / 1024) +
        " KiB). The maximum recommended task size is " + std::to_string(kLargeTaskKib) + " KiB");
  }
  return true;
}

void TaskSetManager::start(const TaskChoice& choice, uint64_t task_id, NameId executor, bool queued,
                           Launch& launch) {
  Task& known = task(choice.index);
  ExecutorState& where = state_.cluster.state(executor);
  Attempt& attempt = state_.attempts.add(task_id);
  attempt.set = this;
  attempt.executor = executor;
  attempt.waits_in_queue = queued;
  TaskInfo& info = attempt.info;
  info.index = choice.index;
  info.partition = spec(choice.index).partition;
  info.attempt = static_cast<int32_t>(known.launched++);
  info.launch_ms = state_.now_ms;
  info.executor_id = state_.cluster.executor_name(executor);
  info.host = state_.cluster.host_name(where.host);
  info.locality = choice.locality;
  info.speculative = known.running != nullptr;
  if (known.running == nullptr) --pending_count_;
  attempt.next_of_task = known.running;
  known.running = &attempt;
  attempts_.push_back(attempt);
  where.attempts.push_back(attempt);
  if (queued) {
    ++where.waiting;
    state_.queued.push_back(attempt);
  }
  add_running(1);

  launch.task_id = task_id;
  launch.executor_id = info.executor_id;
  launch.name = name_of(info);
  launch.cores = state_.settings.task_cpus;
  launch.attempt = static_cast<uint32_t>(info.attempt);
  launch.queued = queued;
  state_.log.write(LogLevel::debug, [&] {
    return "Launching " + launch.name + " on executor id: " + info.executor_id +
           " hostname: " + info.host;
  });
  state_.dag.task_started(set_, spec(choice.index), info);
}

bool TaskSetManager::take_binary_turn(NameId executor) {
  if (executor >= has_binary_.size()) has_binary_.resize(executor + 1);
  const bool first = !has_binary_[executor];
  has_binary_[executor] = true;
  return first;
}

void TaskSetManager::forget_binary(NameId executor) {
  if (executor < has_binary_.size()) has_binary_[executor] = false;
}

void TaskSetManager::request_copy(int32_t index) {
  if (std::ranges::find(copies_, index) == copies_.end()) copies_.push_back(index);
}

void TaskSetManager::check(std::vector<std::string>& violations) const {
  const auto fault = [&](const std::string& text) { violations.push_back(name() + ": " + text); };
  size_t pending_tasks = 0, running = 0, successful = 0;
  for (int32_t index = 0; index < static_cast<int32_t>(tasks_.size()); ++index) {
    const Task& known = task(index);
    pending_tasks += is_pending(index) ? 1 : 0;
    successful += known.successful ? 1 : 0;
    for (const Attempt* at = known.running; at != nullptr; at = at->next_of_task) {
      ++running;
      if (at->set != this || at->info.index != index) fault("an attempt hangs at the wrong task");
    }
  }
  if (pending_tasks != pending_count_) fault("wrong count of pending tasks");
  if (successful != successful_count_) fault("wrong count of successful tasks");
  if (running != attempts_.size()) fault("wrong list of running attempts");
  if (static_cast<size_t>(Schedulable::running()) != running) fault("wrong count of running tasks");
  if (!zombie_ && successful == tasks_.size()) fault("all tasks are done and it is still live");
}

}  // namespace tenon::task
