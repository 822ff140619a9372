// Offers: which task goes where (C7.3, C29.12).
#include <algorithm>

#include "task/task_scheduler.hpp"

namespace tenon::task {

void TaskScheduler::resource_offers(uint64_t offer, OfferScope scope,
                                    std::vector<WorkerOffer> offers) {
  const uint64_t first_task = state_.next_task_id;
  std::vector<Launch> tasks;
  state_.log.write(LogLevel::debug, [&] {
    return "Offer " + std::to_string(offer) + " of " + std::to_string(offers.size()) + " executors";
  });
  try {
    Launches by_offer = assign(scope, offers);
    if (by_offer.size() == 1) {
      tasks = std::move(by_offer.front());
    } else {
      for (std::vector<Launch>& some : by_offer) {
        tasks.insert(tasks.end(), std::make_move_iterator(some.begin()),
                     std::make_move_iterator(some.end()));
      }
    }
  } catch (const std::exception& error) {
    tasks.clear();
    give_back(first_task, std::string("an offer could not be handled: ") + error.what());
  }
  try {
    state_.backend.launch_tasks(offer, std::move(tasks));
  } catch (const std::exception& error) {
    give_back(first_task, std::string("the backend refused the launch: ") + error.what());
  }
  fail_if_never();
}

// Nothing of what was launched since that task id has reached an executor: all of it waits again,
// for the next revival.
void TaskScheduler::give_back(uint64_t first_task, const std::string& why) {
  state_.log.error("Tasks are queued again since " + why);
  for (uint64_t id = first_task; id < state_.next_task_id; ++id) {
    Attempt* attempt = state_.attempts.find(id);
    if (attempt == nullptr) continue;
    TaskSetManager& set = *attempt->set;
    set.returned(*attempt);
    remove_if_done(set);
  }
  if (revive_timer_ == 0) revive_later();
  update_watch();
}

std::vector<std::vector<Launch>> TaskScheduler::assign(OfferScope /*scope*/,
                                                       const std::vector<WorkerOffer>& offers) {
  state_.now_ms = state_.clock.wall_ms();
  const uint64_t first_task = state_.next_task_id;
  Launches launches(offers.size());
  std::vector<OpenOffer> open = admit(offers);
  if (state_.settings.shuffle_offers && open.size() > 1) {
    std::shuffle(open.begin(), open.end(), loop_.random());
  }
  pools_.sorted_sets(order_);
  fill_all(open, /*queued=*/false, launches);
  fill_all(open, /*queued=*/true, launches);
  const bool left = std::ranges::any_of(order_, [](auto* set) { return set->schedulable(); });
  if (!left && !state_.queued.empty()) take_back_queued(open);
  for (TaskSetManager* set : order_) remove_if_done(*set);  // those that were aborted
  if (state_.next_task_id != first_task) watch_.launched();
  update_watch();
  return launches;
}

// The offers of executors that may get tasks; executors that are new are noted (C7.3).
std::vector<OpenOffer> TaskScheduler::admit(const std::vector<WorkerOffer>& offers) {
  std::vector<OpenOffer> open;
  open.reserve(offers.size());
  for (size_t i = 0; i < offers.size(); ++i) {
    const WorkerOffer& offer = offers[i];
    const NameId executor = state_.cluster.executor_id(offer.executor_id);
    const ExecutorState& known = state_.cluster.state(executor);
    if (!known.alive && !known.removed) {
      Executor fresh;
      fresh.id = offer.executor_id;
      fresh.host = offer.host;
      fresh.address = offer.address;
      fresh.attributes = offer.attributes;
      add_executor(fresh);
    }
    if (!state_.cluster.usable(executor)) continue;
    largest_offer_ = std::max(largest_offer_, offer.free_cores);
    for (const Resource& resource : offer.resources) unseen_.erase(resource.name);
    open.emplace_back(executor, i, offer, state_.settings);
  }
  return open;
}

void TaskScheduler::fill_all(std::vector<OpenOffer>& open, bool queued, Launches& launches) {
  for (TaskSetManager* set : order_) {
    const bool room = std::ranges::any_of(
        open, [&](const OpenOffer& offer) { return offer.fits(state_.settings, queued); });
    if (!room) return;
    if (!queued || set->may_launch_ahead()) fill(*set, open, queued, launches);
  }
}

// At each level the offers are gone round, one task an offer a round, as long as something was
// launched.
void TaskScheduler::fill(TaskSetManager& set, std::vector<OpenOffer>& open, bool queued,
                         Launches& launches) {
  // No executor holds more tasks queued than its share of those that wait.
  size_t rounds = SIZE_MAX;
  if (queued) rounds = std::max<size_t>(1, set.pending() / state_.cluster.alive_count());
  Launch launch;
  for (const Locality level : kLocalities) {
    if (!set.levels().has(level)) continue;
    for (bool launched = true; launched && rounds > 0; rounds -= launched ? 1 : 0) {
      launched = false;
      for (OpenOffer& offer : open) {
        if (!set.schedulable()) return;
        if (!offer.fits(state_.settings, queued)) continue;
        if (queued && state_.cluster.state(offer.executor()).waiting >= set.launch_ahead_depth()) {
          continue;
        }
        const auto outcome = set.offer(offer.executor(), level, queued, launch);
        if (outcome == TaskSetManager::Offered::aborted) return;
        if (outcome == TaskSetManager::Offered::nothing) continue;
        offer.take(state_.settings, queued, launch);
        launches[offer.position()].push_back(std::move(launch));
        launch = Launch{};
        launched = true;
      }
    }
  }
}

// Cores are free and nothing waits for them: tasks that other executors hold in their queues may
// have them.
void TaskScheduler::take_back_queued(const std::vector<OpenOffer>& open) {
  size_t wanted = 0, own = 0;
  std::vector<NameId> idle;
  for (const OpenOffer& offer : open) {
    const uint32_t room = offer.cores() / state_.settings.task_cpus;
    if (room == 0) continue;
    wanted += room;
    idle.push_back(offer.executor());
    own += state_.cluster.state(offer.executor()).waiting;
  }
  // Its own queue moves up by itself.
  if (idle.empty() || state_.queued.size() <= own) return;
  std::ranges::sort(idle);
  for (Attempt* attempt = state_.queued.last(); attempt != nullptr && wanted > 0;) {
    Attempt& last = *attempt;
    attempt = QueuedAttempts::prev(last);
    if (std::ranges::binary_search(idle, last.executor)) continue;
    take_back(last);
    --wanted;
  }
}

void TaskScheduler::take_back(Attempt& attempt) {
  attempt.asked_back = true;
  state_.queued.erase(attempt);
  try {
    state_.backend.kill_task(attempt.info.id, attempt.info.executor_id, /*interrupt=*/false,
                             /*if_queued=*/true, "another executor is free");
  } catch (const std::exception& error) {
    state_.log.warn(std::string("Cannot take back a queued task: ") + error.what());
  }
}

}  // namespace tenon::task
