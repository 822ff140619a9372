// Random offers, statuses, kills and losses against a model of the backend.
#include <gmock/gmock.h>

#include <random>
#include <set>

#include "unit/task/support.hpp"

namespace tenon::task::test {
namespace {

// A backend that owns the free cores of its executors, queues tasks, and lets a random source
// decide what happens next.
class Simulation : public TaskSchedulerTest {
 public:
  struct Host {
    uint32_t cores = 0, free = 0, queue = 4;
    std::vector<Launch> running, queued;
  };

  uint64_t pick(uint64_t below) { return random() % below; }

  void step() {
    switch (pick(12)) {
      case 0:
        submit_set();
        break;
      case 1:
      case 2:
      case 3:
        offer_all();
        break;
      case 4:
        add_executor();
        break;
      case 5:
        lose_executor();
        break;
      case 6:
        cancel_or_kill();
        break;
      case 7:
        late_status();
        break;
      default:
        end_one();
        break;
    }
    honour_kills();
    loop.advance(std::chrono::milliseconds(pick(20)));
    ASSERT_EQ(scheduler().check_invariants(), std::vector<std::string>{});
    ASSERT_EQ(scheduler().sizes().attempts, live.size());
  }

  void submit_set() {
    if (scheduler().sizes().stages > 6) return;
    const auto stage = static_cast<int32_t>(pick(5));
    auto set = make_set(static_cast<int32_t>(1 + pick(20)), stage, attempts_of[stage]++,
                        static_cast<int32_t>(pick(3)));
    for (TaskSpec& task : set->tasks) {
      if (pick(2) == 0) continue;
      const std::string number = std::to_string(pick(12));
      task.preferred = {{"host" + std::to_string(pick(4)), pick(2) == 0 ? "exec" + number : ""}};
    }
    submit(set);
  }

  void add_executor() {
    if (hosts.size() >= 6) return;
    const std::string id = "exec" + std::to_string(next_executor++);
    Host& host = hosts[id];
    host.cores = host.free = static_cast<uint32_t>(1 + pick(4));
    Executor executor;
    executor.id = id;
    executor.host = "host" + std::to_string(next_executor % 4);
    executor.cores = host.cores;
    if (pick(2) == 0) executor.attributes["rack"] = "rack" + std::to_string(next_executor % 2);
    scheduler().executor_added(executor);
  }

  void offer_all() {
    std::vector<WorkerOffer> offers;
    for (const auto& [id, host] : hosts) {
      if (pick(4) == 0) continue;
      const auto slots = static_cast<uint32_t>(host.queue - host.queued.size());
      offers.push_back(offer_of(id, "host" + std::to_string((std::stoi(id.substr(4)) + 1) % 4),
                                host.free, slots));
    }
    backend.throw_on_launch = pick(20) == 0;
    for (const Launch& task : offer(offers)) accept(task);
    backend.throw_on_launch = false;
  }

  void accept(const Launch& task) {
    Host& host = hosts.at(task.executor_id);
    EXPECT_TRUE(live.insert(task.task_id).second) << "a task id was used again";
    if (task.queued) {
      ++ahead;
      host.queued.push_back(task);
      ASSERT_LE(host.queued.size(), host.queue);
    } else {
      ASSERT_GE(host.free, task.cores) << "more than the free cores";
      host.free -= task.cores;
      host.running.push_back(task);
    }
  }

  // One running task of one executor ends in some way.
  void end_one() {
    if (hosts.empty()) return;
    auto it = hosts.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(pick(hosts.size())));
    Host& host = it->second;
    if (host.running.empty()) return;
    const size_t at = pick(host.running.size());
    const Launch task = host.running[at];
    if (pick(3) == 0) return running(task);
    host.running.erase(host.running.begin() + static_cast<std::ptrdiff_t>(at));
    host.free += task.cores;
    const std::vector<Launch> before = std::exchange(host.queued, {});
    report(task);
    for (const Launch& next : before) {  // the queue moves up
      if (host.free >= next.cores) {
        host.free -= next.cores;
        host.running.push_back(next);
        running(next);
      } else {
        host.queued.push_back(next);
      }
    }
  }

  void report(const Launch& task) {
    live.erase(task.task_id);
    over.push_back(task);
    switch (pick(10)) {
      case 0:
        return fail(task);
      case 1:
        return killed(task);
      case 2:
        return status(task, TaskState::failed, UnknownReason{});
      case 3:
        if (pick(4) == 0) {
          return status(task, TaskState::failed, FetchFailed{std::nullopt, 0, 0, 0, 0, "gone"});
        }
        return finish(task);
      case 4:
        return status(task, TaskState::finished, TaskResultLost{});
      case 5:
        return status(task, TaskState::failed, TaskCommitDenied{});
      default:
        return finish(task, static_cast<int64_t>(pick(15)) * 1'000'000);
    }
  }

  void lose_executor() {
    if (hosts.empty() || pick(3) != 0) return;
    auto it = hosts.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(pick(hosts.size())));
    const std::string id = it->first;
    std::vector<Launch> tasks = it->second.running;
    tasks.insert(tasks.end(), it->second.queued.begin(), it->second.queued.end());
    hosts.erase(it);
    for (const Launch& task : tasks) {
      live.erase(task.task_id);
      over.push_back(task);
    }
    const LossReason reason = loss(LossReason::Kind::exited, pick(2) == 0);
    const uint64_t order = pick(4);
    if (order == 0) scheduler().executor_loss_pending(id, "disconnected");
    if (order <= 1) {
      for (const Launch& task : tasks) status(task, TaskState::lost);
    }
    if (order == 0) loop.advance(std::chrono::milliseconds(pick(300)));
    scheduler().executor_removed(id, reason);
    if (order == 2) {
      for (const Launch& task : tasks) status(task, TaskState::lost);
    }
  }

  void cancel_or_kill() {
    const auto stage = static_cast<int32_t>(pick(5));
    if (pick(3) == 0) return scheduler().cancel_tasks(stage, "random");
    if (pick(3) == 0) return scheduler().kill_all_task_attempts(stage, "random");
    if (pick(2) == 0) return scheduler().partition_completed(stage, static_cast<int32_t>(pick(20)));
    if (!live.empty()) (void)scheduler().kill_task_attempt(*live.begin(), "random");
  }

  // As the backend would: at the next chance, if the task is there.
  void honour_kills() {
    for (const Kill& kill : std::exchange(backend.kills, {})) {
      const auto it = hosts.find(kill.executor_id);
      if (it == hosts.end()) continue;
      Host& host = it->second;
      const auto is_it = [&](const Launch& task) { return task.task_id == kill.task_id; };
      if (const auto queued = std::ranges::find_if(host.queued, is_it);
          queued != host.queued.end()) {
        const Launch task = *queued;
        host.queued.erase(queued);
        live.erase(task.task_id);
        status(task, kill.if_queued ? TaskState::returned : TaskState::killed, TaskKilled{});
      } else if (const auto run = std::ranges::find_if(host.running, is_it);
                 run != host.running.end() && !kill.if_queued && pick(3) != 0) {
        const Launch task = *run;
        host.running.erase(run);
        host.free += task.cores;
        live.erase(task.task_id);
        killed(task);
      }
    }
  }

  // UR-11: what has ended reports once more.
  void late_status() {
    if (over.empty()) return;
    const Launch task = over[pick(over.size())];
    pick(2) == 0 ? finish(task) : fail(task);
  }

  std::mt19937_64 random;
  std::map<std::string, Host> hosts;
  std::map<int32_t, int32_t> attempts_of;
  std::set<uint64_t> live;
  std::vector<Launch> over;
  int next_executor = 0;
  int ahead = 0;
};

class RandomTest : public Simulation, public testing::WithParamInterface<int> {};

TEST_P(RandomTest, EveryLaunchedTaskEndsOnceAndNothingIsKept) {
  random.seed(static_cast<uint64_t>(GetParam()));
  settings.shuffle_offers = true;
  if (GetParam() % 2 == 0) settings.mode = "FAIR";
  for (int i = 0; i < 6000 && !HasFatalFailure(); ++i) step();
  for (int32_t stage = 0; stage < 5; ++stage) scheduler().cancel_tasks(stage, "the end");
  honour_kills();
  while (!hosts.empty()) lose_executor();
  std::map<uint64_t, int> ends;
  for (const auto& end : dag.ended) ++ends[end.info.id];
  std::map<uint64_t, int> starts;
  for (const TaskInfo& start : dag.started) ++starts[start.id];
  EXPECT_EQ(starts, ends);
  for (const auto& [id, count] : ends) ASSERT_EQ(count, 1) << "task " << id;
  EXPECT_GT(ends.size(), 1000U);
  EXPECT_GT(ahead, 50);
  expect_nothing_kept();
  EXPECT_EQ(scheduler().sizes().executors, 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTest, testing::Range(1, 21));

}  // namespace
}  // namespace tenon::task::test
