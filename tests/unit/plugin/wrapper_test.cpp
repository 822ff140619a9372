// The SDK's wrapper: exceptions, arrays of any element size, owned buffers, tables.
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>

#include "tenon/plugin/plugin.hpp"

namespace tenon::plugin {
namespace {

TEST(Guard, EveryExceptionBecomesAStatus) {
  ErrorSink error;
  EXPECT_EQ(guard(error.get(), [] {}), TENON_OK);
  EXPECT_EQ(guard(error.get(), [] { throw Error(TENON_UNAVAILABLE, "nobody"); }),
            TENON_UNAVAILABLE);
  EXPECT_EQ(error.message(), "nobody");
  EXPECT_EQ(error.get()->code, TENON_UNAVAILABLE);
  EXPECT_EQ(guard(error.get(), [] { throw std::runtime_error("broke"); }), TENON_INTERNAL);
  EXPECT_EQ(error.message(), "broke");
  EXPECT_EQ(guard(error.get(), [] { throw std::bad_alloc(); }), TENON_INTERNAL);
  EXPECT_EQ(error.message(), "out of memory");
  EXPECT_EQ(guard(error.get(), [] { throw 42; }), TENON_INTERNAL);
  EXPECT_EQ(error.message(), "threw something that is no std::exception");
  EXPECT_EQ(guard(nullptr, [] { throw 42; }), TENON_INTERNAL);
  EXPECT_EQ(Error(TENON_OK, "").status(), TENON_INTERNAL);  // a thrown error is never OK
}

TEST(Guard, ErrorStructOfAnOlderHostIsNotWrittenPastItsEnd) {
  tenon_error error = make<tenon_error>();
  error.struct_size = offsetof(tenon_error, set);
  error.set = [](void*, tenon_status, tenon_str) { FAIL() << "is not there"; };
  EXPECT_EQ(guard(&error, [] { throw 42; }), TENON_INTERNAL);
  EXPECT_EQ(error.code, TENON_INTERNAL);
}

TEST(Views, ElementsOfAnySize) {
  struct Longer {
    tenon_worker_offer known;
    uint64_t added_later;
  };
  Longer longer[2] = {};
  longer[0].known.free_cores = 3;
  longer[1].known.free_cores = 5;
  longer[0].added_later = longer[1].added_later = ~0ull;
  tenon_worker_offers offers{&longer[0].known, 2, sizeof(Longer)};
  uint32_t cores = 0;
  for (const tenon_worker_offer offer : View<tenon_worker_offers>(offers))
    cores += offer.free_cores;
  EXPECT_EQ(cores, 8u);

  // A writer that knows nothing of what stands behind free_cores.
  alignas(tenon_worker_offer) unsigned char shorter[2 * offsetof(tenon_worker_offer, queue_slots)];
  std::memset(shorter, 0xff, sizeof shorter);
  offers = {reinterpret_cast<tenon_worker_offer*>(shorter), 2,
            offsetof(tenon_worker_offer, queue_slots)};
  const tenon_worker_offer second = View<tenon_worker_offers>(offers)[1];
  EXPECT_EQ(second.free_cores, ~0u);
  EXPECT_EQ(second.queue_slots, 0u);
  EXPECT_EQ(second.attributes.count, 0u);
}

TEST(Text, Arguments) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(arguments(str("")), Parts{});
  EXPECT_EQ(arguments(str(" 4 ,\t2 ")), (Parts{"4", "2"}));
  EXPECT_EQ(arguments(str("4,")), (Parts{"4", ""}));
  EXPECT_EQ(view(tenon_str{nullptr, 7}), "");
  for (const char* bad : {"", "-1", "+1", "1 ", "1x", "4294967296"}) {
    EXPECT_FALSE(whole_number(bad)) << bad;
  }
  EXPECT_EQ(whole_number("4294967295"), 4294967295u);
}

// Counts how often each buffer was released.
struct Released {
  explicit Released(size_t count) : times(count) {}
  tenon_buffer buffer(size_t i) {
    return {&times[i], sizeof(int), [](void* data, void*) { ++*static_cast<int*>(data); }, nullptr};
  }
  std::vector<int> times;
};

TEST(OwnedArray, EachBufferIsReleasedOnce) {
  Released released(4);
  std::vector<tenon_task> rows(4);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].payload = released.buffer(i);
  {
    Tasks tasks(array<tenon_tasks>(std::span<tenon_task>(rows)));
    const Buffer taken = tasks.take(1);
    EXPECT_EQ(taken.bytes().size(), sizeof(int));
    Tasks moved(std::move(tasks));
    EXPECT_EQ(moved.size(), 4u);
    EXPECT_EQ(tasks.size(), 0u);  // NOLINT(bugprone-use-after-move): what is checked
    EXPECT_EQ(released.times, (std::vector<int>{0, 0, 0, 0}));
  }
  EXPECT_EQ(released.times, (std::vector<int>{1, 1, 1, 1}));

  for (size_t i = 0; i < rows.size(); ++i) rows[i].payload = released.buffer(i);
  Tasks handed_on(array<tenon_tasks>(std::span<tenon_task>(rows)));
  EXPECT_EQ(handed_on.release().count, 4u);
  EXPECT_EQ(released.times, (std::vector<int>{1, 1, 1, 1}));
}

TEST(OwnedArray, MovedTextKeepsItsBytes) {
  const std::string text(1 << 20, 'x');
  std::string moved = text;
  const char* const bytes = moved.data();
  Buffer buffer(std::move(moved));
  EXPECT_EQ(static_cast<const void*>(buffer.bytes().data()), bytes);
  Buffer other;
  other = std::move(buffer);
  EXPECT_EQ(other.bytes().size(), text.size());
  EXPECT_EQ(Buffer(std::string()).bytes().size(), 0u);
}

class Scheduler : public SchedulerBackend {
 public:
  Scheduler(const tenon_args& arguments, Core mailbox) : SchedulerBackend(arguments, mailbox) {
    if (view(args.master->args) == "42") throw 42;
  }
  void start() override {}
  void stop(int32_t) override {}
  void revive_offers() override { throw 42; }
  void launch_tasks(uint64_t, Tasks) override { throw std::runtime_error("cannot launch"); }
  void kill_task(uint64_t, std::string_view, uint32_t, std::string_view) override {}
};
class Resizable final : public Scheduler {
 public:
  using Scheduler::Scheduler;
  void request_total_executors(const tenon_executor_request& request) override {
    core.acknowledged(request.request, TENON_OK);
  }
};

TEST(SchedulerTable, OptionalFunctionsStandOnlyWhereTheyAreOverridden) {
  constexpr auto plain = SchedulerTable<Scheduler>::api;
  EXPECT_EQ(plain.struct_size, sizeof plain);
  EXPECT_NE(plain.kill_task, nullptr);
  EXPECT_EQ(plain.request_total_executors, nullptr);
  EXPECT_EQ(plain.kill_executors, nullptr);
  EXPECT_EQ(plain.decommission_executors, nullptr);
  EXPECT_EQ(plain.set_excluded_hosts, nullptr);
  EXPECT_EQ(plain.get_extension, nullptr);
  EXPECT_NE(SchedulerTable<Resizable>::api.request_total_executors, nullptr);
}

struct Instance {
  template <class Backend, Checks checks>
  tenon_status create(const char* url_args, SchedulerTable<Backend, checks>) {
    host.ctx = this;
    host.log = [](void* ctx, int32_t level, tenon_str, tenon_str message) {
      EXPECT_EQ(level, TENON_LOG_MISBEHAVING);
      static_cast<Instance*>(ctx)->log.emplace_back(view(message));
    };
    url.args = str(url_args);
    args.host = &host;
    args.master = &url;
    return SchedulerTable<Backend, checks>::api.create(&args, &events, &self, error.get());
  }
  tenon_host host = make<tenon_host>();
  tenon_master_url url = make<tenon_master_url>();
  tenon_args args = make<tenon_args>();
  tenon_scheduler_events events = make<tenon_scheduler_events>();
  tenon_scheduler_backend* self = nullptr;
  ErrorSink error;
  std::vector<std::string> log;
};

TEST(SchedulerTable, ExceptionsStopAtTheBoundary) {
  using Table = SchedulerTable<Scheduler, Checks::none>;
  Instance bad;
  EXPECT_EQ(bad.create("42", Table()), TENON_INTERNAL);
  EXPECT_EQ(bad.error.message(), "threw something that is no std::exception");
  EXPECT_EQ(bad.self, nullptr);

  Instance good;
  ASSERT_EQ(good.create("", Table()), TENON_OK);
  EXPECT_EQ(Table::api.revive_offers(good.self, nullptr), TENON_INTERNAL);
  Released released(2);
  tenon_task rows[2] = {};
  rows[0].payload = released.buffer(0);
  rows[1].payload = released.buffer(1);
  EXPECT_EQ(Table::api.launch_tasks(good.self, 1, {rows, 2, sizeof(tenon_task)}, good.error.get()),
            TENON_INTERNAL);
  EXPECT_EQ(good.error.message(), "cannot launch");
  EXPECT_EQ(released.times, (std::vector<int>{1, 1}));  // also on an error
  Table::api.destroy(good.self);
}

TEST(SchedulerTable, LifeCycleChecksTellTheHost) {
  using Table = SchedulerTable<Resizable, Checks::life_cycle>;
  Instance instance;
  ASSERT_EQ(instance.create("", Table()), TENON_OK);
  const auto& api = Table::api;
  api.revive_offers(instance.self, nullptr);
  EXPECT_EQ(instance.log.back(), "revive_offers comes before start");
  api.start(instance.self, nullptr);
  EXPECT_EQ(instance.log.size(), 1u);
  api.start(instance.self, nullptr);
  EXPECT_EQ(instance.log.back(), "start comes a second time");
  api.stop(instance.self, 0, nullptr);
  api.stop(instance.self, 0, nullptr);  // allowed
  EXPECT_EQ(instance.log.size(), 2u);
  api.kill_task(instance.self, 1, {}, 0, {}, nullptr);
  EXPECT_EQ(instance.log.back(), "kill_task comes after stop");
  api.destroy(instance.self);
}

TEST(Core, EventsThatAnOlderHostDoesNotHaveAreLeftOut) {
  tenon_scheduler_events events = make<tenon_scheduler_events>();
  events.struct_size = offsetof(tenon_scheduler_events, failed);
  events.failed = [](void*, tenon_status, tenon_str) { FAIL() << "is not there"; };
  const Core core(&events);
  core.failed(TENON_INTERNAL, "");
  core.ready();  // null
  Released released(1);
  tenon_task_status row{1, {}, TENON_TASK_FINISHED, 0, released.buffer(0)};
  core.status_update(Statuses({&row, 1, sizeof row}));
  EXPECT_EQ(released.times, std::vector<int>{1});
}

}  // namespace
}  // namespace tenon::plugin
