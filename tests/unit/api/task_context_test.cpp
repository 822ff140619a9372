// What a function learns of its task, and what it leaves to be called at the task's end.
#include <mutex>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using test::caught;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::mutex calls_mutex;
std::vector<std::string> calls;

void note(const std::string& text) {
  const std::lock_guard lock(calls_mutex);
  calls.push_back(text);
}
std::vector<std::string> take_calls() {
  const std::lock_guard lock(calls_mutex);
  return std::exchange(calls, {});
}
std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
}

class TaskContextTest : public test::ApiTest {
 protected:
  TaskContextTest() { take_calls(); }
};

TEST_F(TaskContextTest, WhatItSays) {
  EXPECT_EQ(TaskContext::current(), nullptr) << "in the driver";
  context().set_local_property("of.the.program", "value");
  const auto said = context()
                        .range(0, 2, 1, 2)
                        .map([](int) {
                          const TaskContext& task = *TaskContext::current();
                          return std::tuple(task.partition(), task.attempt(), task.stage_attempt(),
                                            task.app_id(), task.executor_id(),
                                            task.local_property("of.the.program").value_or("none"),
                                            task.local_property("unknown").value_or("none"));
                        })
                        .collect();
  const std::string app = context().application_id();
  EXPECT_THAT(said, ElementsAre(std::tuple(0, 0, 0, app, "driver", "value", "none"),
                                std::tuple(1, 0, 0, app, "driver", "value", "none")));
  const auto ids = context()
                       .range(0, 2, 1, 2)
                       .map([](int) {
                         const TaskContext& task = *TaskContext::current();
                         return std::pair(task.stage_id(), task.task_id());
                       })
                       .collect();
  EXPECT_EQ(ids.at(0).first, ids.at(1).first);
  EXPECT_NE(ids.at(0).second, ids.at(1).second);
}

TEST_F(TaskContextTest, CompletionsRunInReverseOrderAfterTheRecords) {
  const auto n =
      context()
          .range(0, 3, 1, 1)
          .map([](int i) {
            if (i == 0) {
              TaskContext::current()->on_completion([](const TaskContext& task) {
                note("first of partition " + std::to_string(task.partition()));
              });
              TaskContext::current()->on_completion([](const TaskContext&) { note("second"); });
              TaskContext::current()->on_failure(
                  [](const TaskContext&, const std::exception_ptr&) { note("failure"); });
            }
            note("record " + std::to_string(i));
            return i;
          })
          .count();
  EXPECT_EQ(n, 3U);
  EXPECT_THAT(take_calls(),
              ElementsAre("record 0", "record 1", "record 2", "second", "first of partition 0"));
}

TEST_F(TaskContextTest, FailuresGetTheErrorAndCompletionsFollow) {
  const auto error = caught([&] {
    context().range(0, 1).for_each([](int) {
      const TaskContext& task = *TaskContext::current();
      task.on_completion([](const TaskContext&) { note("completion"); });
      for (const char* name : {"a", "b"}) {
        task.on_failure([name](const TaskContext&, const std::exception_ptr& cause) {
          note(std::string(name) + ": " + text_of(cause));
        });
      }
      throw std::runtime_error("of the body");
    });
  });
  EXPECT_THAT(error.text, HasSubstr("of the body"));
  EXPECT_THAT(take_calls(), ElementsAre("b: of the body", "a: of the body", "completion"));
}

TEST_F(TaskContextTest, ACompletionThatThrowsFailsTheTaskAndTheOthersRun) {
  const auto sum = context().accumulator<int64_t>();
  const auto error = caught([&] {
    context()
        .range(0, 1, 1, 1)
        .for_each(
            [](int, const Accumulator<int64_t>& s) {
              s.add(1);
              const TaskContext& task = *TaskContext::current();
              task.on_failure([](const TaskContext&, const std::exception_ptr& cause) {
                note("failure: " + text_of(cause));
              });
              task.on_completion([](const TaskContext&) { note("first"); });
              task.on_completion(
                  [](const TaskContext&) { throw std::runtime_error("of the second"); });
              task.on_completion(
                  [](const TaskContext&) { throw std::runtime_error("of the third"); });
            },
            sum);
  });
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_THAT(error.text, HasSubstr("of the third"));
  EXPECT_THAT(take_calls(), ElementsAre("first", "failure: of the third"));
  EXPECT_EQ(sum.value(), 0) << "the attempt failed";
}

TEST_F(TaskContextTest, EachAttemptHasItsOwn) {
  start(conf("local[1,3]"));
  context().range(0, 1, 1, 1).for_each([](int) {
    const TaskContext& task = *TaskContext::current();
    task.on_completion(
        [](const TaskContext& t) { note("attempt " + std::to_string(t.attempt())); });
    if (task.attempt() < 2) throw std::runtime_error("once more");
  });
  EXPECT_THAT(take_calls(), ElementsAre("attempt 0", "attempt 1", "attempt 2"));
  expect_usable();
  EXPECT_THAT(take_calls(), IsEmpty()) << "nothing is left for the next task";
}

TEST_F(TaskContextTest, AKilledAttemptCallsThemToo) {
  static std::atomic<bool> started;
  started = false;
  auto job =
      context()
          .range(0, 1, 1, 1)
          .map([](int n) {
            const TaskContext& task = *TaskContext::current();
            task.on_completion([](const TaskContext&) { note("completion"); });
            task.on_failure([](const TaskContext&, const std::exception_ptr&) { note("failure"); });
            started = true;
            while (true) task.throw_if_killed();
            return n;
          })
          .count_async();
  ASSERT_TRUE(test::wait_until([] { return started.load(); }));
  job.cancel();
  EXPECT_EQ(caught([&] { static_cast<void>(job.get()); }).kind, ErrorKind::cancelled);
  std::vector<std::string> all;
  EXPECT_TRUE(test::wait_until([&] {
    for (auto& call : take_calls()) all.push_back(std::move(call));
    return all.size() >= 2;
  }));
  EXPECT_THAT(all, ElementsAre("failure", "completion"));
}

}  // namespace
}  // namespace tenon
