#include <atomic>
#include <future>
#include <mutex>

#include "service/driver_service.hpp"
#include "service/executor_service.hpp"
#include "service/messages.hpp"
#include "tenon/error.hpp"

namespace tenon::service {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr auto kDeadline = 30s;

template <class Done>
bool eventually(Done done) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// What a test does not look at.
DriverSources quiet() {
  return {
      [](const Heartbeat&, const std::function<void(bool)>& answer) { answer(false); },
      [](int32_t, uint64_t, const std::function<void(std::optional<shuffle::MapOutputs>)>& answer) {
        answer(std::nullopt);
      },
      [](const std::string&, const storage::BlockUpdate&) {}};
}

Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorKind::internal, "");
}

const std::vector<rdd::Module> kModules{{"abc", "/bin/program"}, {"def", "/lib/libtenon.so"}};

// A driver and executors, in one process or over TCP.
class Service : public testing::TestWithParam<bool> {
 protected:
  std::string address(const std::string& role) const {
    return GetParam() ? unique_inproc_address(role) : "tcp://127.0.0.1:*";
  }
  void start_driver(DriverSources sources = quiet(), std::chrono::milliseconds timeout = 30s) {
    driver = std::make_unique<DriverService>(
        DriverServiceOptions{
            .address = address("driver"), .ask_timeout = timeout, .modules = kModules},
        binaries, broadcasts, std::move(sources));
  }
  struct Executor {
    Executor(const std::string& driver, const std::string& id, const std::string& listen,
             std::chrono::milliseconds timeout)
        : service({.driver_address = driver,
                   .executor_id = id,
                   .host = "host-" + id,
                   .address = listen,
                   .ask_timeout = timeout,
                   .heartbeat_timeout = timeout}),
          blocks(1000,
                 [this](const storage::BlockUpdate& update) { service.block_update(update); }),
          outputs([this](int32_t shuffle, uint64_t epoch) {
            return service.map_outputs(shuffle, epoch);
          }) {
      service.serve(blocks, outputs);
    }
    ~Executor() { service.stop(); }
    task::BlockManagerId location() const { return {"x", "h", service.address()}; }
    ExecutorService service;
    storage::BlockManager blocks;
    shuffle::MapOutputCache outputs;
  };
  std::unique_ptr<Executor> start_executor(const std::string& id,
                                           std::chrono::milliseconds timeout = 30s) {
    auto executor = std::make_unique<Executor>(driver->address(), id, address("executor"), timeout);
    executor->service.register_with_driver(kModules);
    return executor;
  }

  BlobStore binaries, broadcasts;
  std::unique_ptr<DriverService> driver;
};

TEST_P(Service, BinariesAndBroadcastsAreFetchedById) {
  start_driver();
  const auto executor = start_executor("1");
  binaries.put("stage 3.0", std::make_shared<const std::string>("code\0", 5));
  broadcasts.put("7", std::make_shared<const std::string>(1 << 20, 'b'));
  EXPECT_EQ(*executor->service.stage_binary("stage 3.0"), std::string("code\0", 5));
  EXPECT_EQ(executor->service.broadcast(7)->size(), 1U << 20);
  const Error gone =
      error_of([&] { static_cast<void>(executor->service.stage_binary("stage 4.0")); });
  EXPECT_THAT(gone.what(), HasSubstr("stage 4.0"));
  broadcasts.remove("7");
  const Error destroyed = error_of([&] { static_cast<void>(executor->service.broadcast(7)); });
  EXPECT_THAT(destroyed.what(), HasSubstr("Broadcast 7 was destroyed"));
}

TEST_P(Service, MapOutputsAreAskedForWithTheEpochAndAnsweredLater) {
  std::promise<std::pair<int32_t, uint64_t>> asked;
  std::function<void(std::optional<shuffle::MapOutputs>)> answer;
  DriverSources sources = quiet();
  sources.map_outputs = [&](int32_t shuffle, uint64_t epoch, auto later) {
    answer = std::move(later);
    asked.set_value({shuffle, epoch});
  };
  start_driver(std::move(sources));
  const auto executor = start_executor("1");
  auto outputs =
      std::async(std::launch::async, [&] { return executor->service.map_outputs(5, 9); });
  EXPECT_EQ(asked.get_future().get(), std::make_pair(5, uint64_t{9}));
  shuffle::MapOutputs given{11, {}};
  given.statuses.push_back(task::MapStatus{
      {"2", "host-b", "tcp://b"}, {0, 1, 127, 128, 300, uint64_t{1} << 40, UINT64_MAX}, 17});
  given.statuses.emplace_back();
  answer(given);
  const shuffle::MapOutputsPtr got = outputs.get();
  EXPECT_EQ(got->epoch, 11U);
  ASSERT_EQ(got->statuses.size(), 2U);
  EXPECT_EQ(got->statuses[0]->location, given.statuses[0]->location);
  EXPECT_EQ(got->statuses[0]->sizes, given.statuses[0]->sizes);
  EXPECT_EQ(got->statuses[0]->map_id, 17U);
  EXPECT_FALSE(got->statuses[1]);
}

TEST_P(Service, AnUnknownShuffleIsAnError) {
  start_driver();
  const auto executor = start_executor("1");
  EXPECT_THAT(error_of([&] { static_cast<void>(executor->service.map_outputs(5, 0)); }).what(),
              HasSubstr("Shuffle 5"));
}

TEST_P(Service, C18_11_HeartbeatsReachTheLoopAndItsAnswerComesBack) {
  std::mutex mutex;
  std::vector<Heartbeat> seen;
  DriverSources sources = quiet();
  sources.heartbeat = [&](Heartbeat heartbeat, const std::function<void(bool)>& answer) {
    const std::lock_guard lock(mutex);
    const bool reregister = heartbeat.executor_id == "2";
    seen.push_back(std::move(heartbeat));
    answer(reregister);
  };
  start_driver(std::move(sources));
  for (const char* id : {"1", "2"}) {
    const auto executor = start_executor(id);
    TaskMetrics metrics;
    metrics.run_ns = 1;
    metrics.deserialize_ns = 2;
    metrics.serialize_ns = 3;
    metrics.result_bytes = 4;
    metrics.shuffle_read_bytes = 5;
    metrics.shuffle_read_records = 6;
    metrics.shuffle_write_bytes = 7;
    metrics.shuffle_write_records = 8;
    metrics.fetch_wait_ns = 9;
    metrics.spill_bytes = 10;
    metrics.peak_memory_bytes = 11;
    std::promise<std::pair<bool, bool>> answered;
    executor->service.heartbeat({id, {{33, metrics}, {34, {}}}}, [&](bool ok, bool reregister) {
      answered.set_value({ok, reregister});
    });
    EXPECT_EQ(answered.get_future().get(), std::make_pair(true, std::string(id) == "2"));
    const std::lock_guard lock(mutex);
    ASSERT_EQ(seen.back().running.size(), 2U);
    EXPECT_EQ(seen.back().running[0].first, 33U);
    const TaskMetrics& back = seen.back().running[0].second;
    EXPECT_EQ(std::make_tuple(back.run_ns, back.deserialize_ns, back.serialize_ns,
                              back.result_bytes, back.shuffle_read_bytes, back.shuffle_read_records,
                              back.shuffle_write_bytes, back.shuffle_write_records,
                              back.fetch_wait_ns, back.spill_bytes, back.peak_memory_bytes),
              std::make_tuple(1, 2, 3, 4U, 5U, 6U, 7U, 8U, 9, 10U, 11U));
  }
}

TEST_P(Service, AHeartbeatThatNobodyAnswersSaysSo) {
  std::vector<std::function<void(bool)>> kept;  // the loop does not answer
  DriverSources sources = quiet();
  sources.heartbeat = [&](const Heartbeat&, std::function<void(bool)> answer) {
    kept.push_back(std::move(answer));
  };
  start_driver(std::move(sources));
  const auto executor = start_executor("1");
  executor->service.stop();
  std::promise<bool> answered;
  executor->service.heartbeat({"1", {}}, [&](bool ok, bool) { answered.set_value(ok); });
  EXPECT_FALSE(answered.get_future().get());
  Executor slow(driver->address(), "2", address("executor"), 20ms);
  std::promise<bool> timed_out;
  slow.service.heartbeat({"2", {}}, [&](bool ok, bool) { timed_out.set_value(ok); });
  EXPECT_FALSE(timed_out.get_future().get());
  driver->stop();
}

TEST_P(Service, BlockUpdatesComeInOrder) {
  std::mutex mutex;
  std::vector<std::string> news;
  DriverSources sources = quiet();
  sources.block_update = [&](const std::string& executor, const storage::BlockUpdate& update) {
    const std::lock_guard lock(mutex);
    news.push_back(executor + (update.stored ? "+" : "-") + std::to_string(update.id.rdd) + "_" +
                   std::to_string(update.id.partition) + ":" + std::to_string(update.bytes));
  };
  start_driver(std::move(sources));
  const auto executor = start_executor("1");
  struct Empty final : detail::CachedPartition {
    [[nodiscard]] uint64_t bytes() const override { return 600; }
    void encode(const detail::ByteSink&) const override {}
  };
  executor->blocks.memory().put({1, 2}, std::make_shared<const Empty>());
  executor->blocks.memory().put({3, 4}, std::make_shared<const Empty>());
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return news.size() == 3;
  }));
  EXPECT_EQ(news, (std::vector<std::string>{"1+1_2:600", "1-1_2:600", "1+3_4:600"}));
}

TEST_P(Service, ExecutorsGetShuffleBlocksFromEachOther) {
  start_driver();
  const auto one = start_executor("1");
  const auto two = start_executor("2");
  auto output = std::make_shared<storage::MapOutput>();
  output->blocks = {"first", ""};
  output->records = {3, 0};
  one->blocks.put_map_output(5, 44, std::move(output));
  const auto block = two->service.fetch(one->location(), 5, 44, 0);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->block.bytes, "first");
  EXPECT_EQ(block->records, 3U);
  EXPECT_EQ(two->service.fetch(one->location(), 5, 44, 1)->block.bytes, "");
  EXPECT_FALSE(two->service.fetch(one->location(), 5, 44, 2));
  EXPECT_FALSE(two->service.fetch(one->location(), 5, 44, -1));
  EXPECT_FALSE(two->service.fetch(one->location(), 5, 45, 0));
  EXPECT_FALSE(two->service.fetch(one->location(), 6, 44, 0));
}

TEST_P(Service, AnExecutorThatIsGoneIsAnErrorThatNamesTheSetting) {
  start_driver();
  const auto one = start_executor("1");
  const auto two = start_executor("2", 50ms);
  const task::BlockManagerId gone = one->location();
  one->service.stop();
  const Error error = error_of([&] { static_cast<void>(two->service.fetch(gone, 5, 44, 0)); });
  EXPECT_EQ(error.kind(), ErrorKind::unreachable);
  // In one process a socket that is about to close may refuse the message at once.
  const bool refused = std::string_view(error.what()).find("it is gone") != std::string_view::npos;
  if (!GetParam() || !refused) {
    EXPECT_THAT(error.what(), HasSubstr("tenon.rpc.askTimeout"));
  }
}

TEST_P(Service, C11_3_AResultIsTakenFromItsExecutorOnce) {
  start_driver(quiet(), 100ms);
  const auto executor = start_executor("1");
  executor->blocks.put_result(8, "large");
  const auto take = [&](uint64_t task_id) {
    std::promise<std::optional<std::string>> taken;
    driver->take_result(executor->location(), task_id, [&](std::optional<std::string> bytes) {
      taken.set_value(std::move(bytes));
    });
    return taken.get_future().get();
  };
  EXPECT_EQ(take(8), "large");
  EXPECT_EQ(take(8), std::nullopt);
  EXPECT_EQ(executor->blocks.usage().results, 0U);
  executor->service.stop();
  EXPECT_EQ(take(9), std::nullopt);
  driver->stop();
  EXPECT_EQ(take(9), std::nullopt);
}

TEST_P(Service, OrdersReachAllExecutorsThatAreNotForgotten) {
  start_driver();
  std::vector<std::unique_ptr<Executor>> executors;
  struct Empty final : detail::CachedPartition {
    [[nodiscard]] uint64_t bytes() const override { return 10; }
    void encode(const detail::ByteSink&) const override {}
  };
  for (const char* id : {"1", "2", "3"}) {
    executors.push_back(start_executor(id));
    storage::BlockManager& blocks = executors.back()->blocks;
    blocks.memory().put({7, 0}, std::make_shared<const Empty>());
    auto output = std::make_shared<storage::MapOutput>();
    output->blocks = {"x"};
    output->records = {1};
    blocks.put_map_output(5, 1, std::move(output));
    static_cast<void>(blocks.broadcast(
        4, [] { return storage::BroadcastValue{std::make_shared<const int>(1), 4}; }));
  }
  driver->forget_executor("3");
  driver->remove_rdd(7);
  driver->remove_shuffle(5);
  driver->remove_broadcast(4);
  const auto kept = [](Executor& executor) {
    const auto usage = executor.blocks.usage();
    return executor.blocks.memory().used_bytes() + usage.map_outputs + usage.broadcasts;
  };
  EXPECT_TRUE(eventually([&] { return kept(*executors[0]) == 0; }));
  EXPECT_TRUE(eventually([&] { return kept(*executors[1]) == 0; }));
  EXPECT_EQ(kept(*executors[2]), 15U);
}

TEST_P(Service, S004_036_AnExecutorOfAnotherBuildIsRefusedWithBothLists) {
  start_driver();
  Executor executor(driver->address(), "1", address("executor"), 30s);
  const std::vector<std::vector<rdd::Module>> others = {
      {{"abc", "/bin/program"}},
      {{"def", "/lib/libtenon.so"}, {"abc", "/bin/program"}},
      {{"abc", "/bin/program"}, {"xyz", "/lib/libtenon.so"}},
      {{"abc", "/bin/program"}, {"", "/lib/libtenon.so"}},
      {},
  };
  for (const auto& modules : others) {
    const Error error = error_of([&] { executor.service.register_with_driver(modules); });
    EXPECT_THAT(error.what(), HasSubstr("the same build"));
    EXPECT_THAT(error.what(), HasSubstr("/bin/program (abc), /lib/libtenon.so (def)"));
    EXPECT_THAT(error.what(), HasSubstr(modules.empty() ? "none" : modules.back().path));
  }
  // Another place of the same files is fine.
  EXPECT_NO_THROW(executor.service.register_with_driver({{"abc", "/x/p"}, {"def", "/x/l"}}));
}

TEST(CompareModules, AModuleWithoutABuildIdIsRefusedThoughBothHaveNone) {
  const std::vector<rdd::Module> none{{"", "/bin/program"}};
  EXPECT_THAT(compare_modules(none, none), HasSubstr("no build-id"));
}

TEST_P(Service, StopIsIdempotentAndEndsCallsThatWait) {
  std::promise<void> asked;
  std::vector<std::function<void(std::optional<shuffle::MapOutputs>)>> kept;
  DriverSources sources = quiet();
  sources.map_outputs = [&](int32_t, uint64_t, auto answer) {
    kept.push_back(std::move(answer));
    asked.set_value();
  };
  start_driver(std::move(sources));
  const auto executor = start_executor("1");
  auto waiting = std::async(std::launch::async, [&] {
    return error_of([&] { static_cast<void>(executor->service.map_outputs(1, 0)); }).kind();
  });
  asked.get_future().wait();
  executor->service.stop();
  executor->service.stop();
  EXPECT_EQ(waiting.get(), ErrorKind::internal);
  driver->stop();
  driver->stop();
  kept[0](std::nullopt);  // too late, and harmless
}

TEST_P(Service, ManyTasksAskAtOnce) {
  DriverSources sources = quiet();
  sources.map_outputs = [](int32_t shuffle, uint64_t, const auto& answer) {
    answer(shuffle::MapOutputs{static_cast<uint64_t>(shuffle), {}});
  };
  start_driver(std::move(sources));
  const auto executor = start_executor("1");
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const int32_t shuffle = t * 100 + i;
        if (executor->service.map_outputs(shuffle, 0)->epoch == static_cast<uint64_t>(shuffle))
          ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 400);
}

INSTANTIATE_TEST_SUITE_P(Sockets, Service, testing::Bool(),
                         [](const auto& mode) { return mode.param ? "InProcess" : "Tcp"; });

}  // namespace
}  // namespace tenon::service
