// Groups, tags and local properties of jobs, and several threads that submit (contract C2, C24).
#include <set>
#include <thread>

#include "api/gate_fixture.hpp"

namespace tenon {
namespace {

using test::caught;
using test::open_gate;
using test::started;
using test::wait_until;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class GroupsTest : public test::GateTest {};

TEST_F(GroupsTest, T199_Groups) {
  context().set_job_group("A", "long jobs");
  auto long_job = gated(1).count_async();
  // A thread that is started gets the properties by hand-over.
  std::optional<Future<uint64_t>> child;
  std::thread([&, properties = context().local_properties()] {
    EXPECT_EQ(context().local_property("tenon.jobGroup.id"), std::nullopt)
        << "each thread has its own";
    context().set_local_properties(properties);
    child = gated(1).count_async();
  }).join();
  ASSERT_TRUE(wait_for_started(2));
  context().set_job_group("B", "short jobs");
  auto short_job = context().range(0, 5).count_async();
  context().cancel_job_group("A");
  for (auto* job : {&long_job, &*child}) {
    const auto error = caught([&] { static_cast<void>(job->get()); });
    EXPECT_EQ(error.kind, ErrorKind::cancelled);
    EXPECT_THAT(error.text, HasSubstr("part of cancelled job group A"));
  }
  EXPECT_EQ(short_job.get(), 5u);
  context().set_job_group("A", "later");
  expect_usable();
  context().clear_job_group();
  EXPECT_EQ(context().local_properties(), Properties());
  context().stop();
  EXPECT_EQ(events<event::JobStart>()[0].properties.at("tenon.job.description"), "long jobs");
}

TEST_F(GroupsTest, T199_Tags) {
  const auto submit = [&](std::vector<std::string> tags) {
    context().clear_job_tags();
    for (const auto& tag : tags) context().add_job_tag(tag);
    return gated(1).count_async();
  };
  start(conf("local[4]"));
  auto one = submit({"one"}), two = submit({"two"}), both = submit({"two", "one", "two"}),
       none = submit({});
  ASSERT_TRUE(wait_for_started(4));
  const StatusTracker status = context().status();
  EXPECT_THAT(status.job_ids_for_tag("one"), ElementsAre(one.job_id(), both.job_id()));
  EXPECT_THAT(status.job_ids_for_tag("two"), ElementsAre(two.job_id(), both.job_id()));
  EXPECT_THAT(status.job_ids_for_tag("on"), IsEmpty());
  context().cancel_jobs_with_tag("two");
  for (auto* job : {&two, &both}) {
    EXPECT_THAT(caught([&] { static_cast<void>(job->get()); }).text,
                HasSubstr("part of cancelled job tag two"));
  }
  EXPECT_FALSE(one.completed());
  EXPECT_FALSE(none.completed());
  open_gate = true;
  EXPECT_EQ(one.get(), 1u);
  EXPECT_EQ(none.get(), 1u);

  context().add_job_tag("one");
  context().add_job_tag("two");
  context().add_job_tag("one");
  EXPECT_THAT(context().job_tags(), UnorderedElementsAre("one", "two")) << "a set";
  context().remove_job_tag("one");
  EXPECT_THAT(context().job_tags(), ElementsAre("two"));
  for (const char* bad : {"", "a,b", ","}) {
    EXPECT_EQ(caught([&] { context().add_job_tag(bad); }).kind, ErrorKind::invalid_argument);
    EXPECT_EQ(caught([&] { context().remove_job_tag(bad); }).kind, ErrorKind::invalid_argument);
    EXPECT_EQ(caught([&] { context().cancel_jobs_with_tag(bad); }).kind,
              ErrorKind::invalid_argument);
  }
  EXPECT_THAT(context().job_tags(), ElementsAre("two"));
  expect_usable();
}

TEST_F(GroupsTest, T218_StatusOfGroupsAndTags) {
  const StatusTracker status = context().status();
  const int32_t plain = context().range(0, 3).count_async().job_id();
  context().set_job_group("group", "two jobs");
  auto first = gated(1).count_async(), second = gated(1).count_async();
  EXPECT_THAT(status.job_ids_for_group("group"),
              UnorderedElementsAre(first.job_id(), second.job_id()));
  EXPECT_THAT(status.job_ids_for_group(std::nullopt), ElementsAre(plain));
  EXPECT_THAT(status.job_ids_for_group("other"), IsEmpty());
  EXPECT_THAT(status.job_ids_for_tag("tag"), IsEmpty());
  ASSERT_TRUE(wait_for_started(2));
  EXPECT_THAT(status.active_job_ids(), ::testing::IsSupersetOf({first.job_id(), second.job_id()}));
  const auto info = status.job_info(first.job_id());
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->status, JobStatus::running);
  ASSERT_THAT(info->stages, SizeIs(1));
  const auto stage = status.stage_info(info->stages[0]);
  ASSERT_TRUE(stage.has_value());
  EXPECT_EQ(stage->tasks, 1);
  EXPECT_EQ(stage->active, 1);
  EXPECT_EQ(status.job_info(777), std::nullopt);
  EXPECT_EQ(status.stage_info(777), std::nullopt);
  open_gate = true;
  static_cast<void>(first.get());
  static_cast<void>(second.get());
  EXPECT_THAT(status.job_ids_for_group("group"),
              UnorderedElementsAre(first.job_id(), second.job_id()))
      << "ended ones too";
  EXPECT_EQ(status.job_info(first.job_id())->status, JobStatus::succeeded);
  EXPECT_THAT(status.executor_infos(), SizeIs(1));
}

TEST_F(GroupsTest, LocalPropertiesAreSeenByTasks) {
  context().set_local_property("program.colour", "blue");
  const auto colour = context().range(0, 1, 1, 1).map([](int) {
    return std::pair(TaskContext::current()->local_property("program.colour").value_or("none"),
                     TaskContext::current()->local_property("program.other").has_value());
  });
  EXPECT_THAT(colour.collect(), ElementsAre(::testing::Pair("blue", false)));
  context().set_local_property("program.colour", std::nullopt);
  EXPECT_EQ(colour.first().first, "none");
}

TEST_F(GroupsTest, TasksKnowWhereTheyRun) {
  using Seen = std::tuple<int32_t, int32_t, int32_t, int32_t, std::string, std::string>;
  const auto seen = context()
                        .range(0, 2, 1, 2)
                        .map([](int) {
                          const TaskContext& task = *TaskContext::current();
                          return Seen(task.stage_id(), task.stage_attempt(), task.partition(),
                                      task.attempt(), task.executor_id(), task.app_id());
                        })
                        .collect();
  const std::string executor = context().status().executor_infos().at(0).id;
  EXPECT_THAT(seen, ElementsAre(Seen(0, 0, 0, 0, executor, context().application_id()),
                                Seen(0, 0, 1, 0, executor, context().application_id())));
  EXPECT_EQ(TaskContext::current(), nullptr);
}

TEST_F(GroupsTest, SeveralThreadsSubmitAtOnce) {
  static_cast<void>(context());
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      context().set_local_property("program.thread", std::to_string(t));
      for (int i = 0; i < 20; ++i) {
        const auto rdd =
            context().range(0, 100 + t, 1, 3).map([](int n) { return std::pair(n % 7, n); });
        const auto thread = rdd.reduce_by_key(std::plus<>{}, 2).map([](const auto&) {
          return TaskContext::current()->local_property("program.thread").value();
        });
        if (rdd.count() == static_cast<uint64_t>(100 + t) &&
            thread.distinct().collect() == std::vector{std::to_string(t)})
          ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 80);
}

}  // namespace
}  // namespace tenon
