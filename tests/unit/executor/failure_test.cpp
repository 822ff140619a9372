// What is reported of a task that fails.
#include "executor/failure.hpp"

#include <stdexcept>

#include "harness.hpp"
#include "tenon/error.hpp"

namespace tenon::executor {
namespace {

using namespace testing;  // NOLINT: the harness of this folder
using task::TaskState;
using ::testing::HasSubstr;

struct Nested : std::logic_error {
  using std::logic_error::logic_error;
};

task::ExceptionFailure failure_of(const Hook& hook) {
  Harness h;
  h.add_stage(3, pass(1, numbers(), "fail"), sum_action());
  set_hook("fail", hook);
  const task::StatusUpdate end = h.run(h.task(1, 3));
  set_hook("fail", nullptr);
  EXPECT_EQ(end.state, TaskState::failed);
  const auto* failure = reason_of<task::ExceptionFailure>(end);
  EXPECT_NE(failure, nullptr);
  return failure == nullptr ? task::ExceptionFailure{} : *failure;
}

TEST(Executor, AnExceptionOfAnyKindIsReported) {
  struct Case {
    Hook hook;
    const char *type, *message;
    bool no_retry;
  };
  struct Own {};
  const Case cases[] = {
      {[](const TaskContext&) { throw std::runtime_error("boom"); }, "std::runtime_error", "boom",
       false},
      {[](const TaskContext&) { throw FatalError("give up"); }, "tenon::FatalError", "give up",
       true},
      {[](const TaskContext&) { throw 42; }, "int", "42", false},
      {[](const TaskContext&) { throw "text"; }, "char const*", "text", false},
      {[](const TaskContext&) { throw std::string("text"); }, "std::string", "text", false},
      {[](const TaskContext&) { throw Own(); }, "Own", "no std::exception", false},
      {[](const TaskContext&) { throw std::bad_alloc(); }, "std::bad_alloc", "bad_alloc", false},
  };
  for (const Case& c : cases) {
    const task::ExceptionFailure failure = failure_of(c.hook);
    if (std::string(c.type) == "std::string") {
      EXPECT_THAT(failure.type, HasSubstr("string"));
    } else {
      EXPECT_THAT(failure.type, HasSubstr(c.type));
    }
    EXPECT_THAT(failure.message, HasSubstr(c.message));
    EXPECT_EQ(failure.no_retry, c.no_retry) << c.type;
    EXPECT_EQ(failure.origin, "map at program.cpp:11") << c.type;
    EXPECT_TRUE(failure.causes.empty());
  }
}

TEST(Executor, T172_TheCauseChainIsReported) {
  const task::ExceptionFailure failure = failure_of([](const TaskContext&) {
    try {
      try {
        throw std::runtime_error("failed=2");
      } catch (...) {
        std::throw_with_nested(Nested("oops"));
      }
    } catch (...) {
      std::throw_with_nested(std::invalid_argument("outer"));
    }
  });
  EXPECT_EQ(failure.type, "std::invalid_argument");
  EXPECT_EQ(failure.message, "outer");
  ASSERT_EQ(failure.causes.size(), 2U);
  EXPECT_THAT(failure.causes[0].first, HasSubstr("Nested"));
  EXPECT_EQ(failure.causes[0].second, "oops");
  EXPECT_EQ(failure.causes[1],
            std::make_pair(std::string("std::runtime_error"), std::string("failed=2")));

  const task::ExceptionFailure ours = failure_of([](const TaskContext&) {
    const auto root = std::make_shared<const Error>(ErrorKind::codec, "root");
    const auto middle = std::make_shared<const Error>(ErrorKind::codec, "middle", root);
    throw Error(ErrorKind::user_function, "top", middle);
  });
  EXPECT_EQ(ours.message, "top");
  ASSERT_EQ(ours.causes.size(), 2U);
  EXPECT_EQ(ours.causes[0].second, "middle");
  EXPECT_EQ(ours.causes[1].second, "root");
}

TEST(Executor, AFailureOfTheActionHasNoRddsPlace) {
  Harness h;
  h.add_stage(3, numbers(), sum_action("fail"));
  set_hook("fail", [](const TaskContext&) { throw std::runtime_error("boom"); });
  const task::StatusUpdate end = h.run(h.task(1, 3));
  set_hook("fail", nullptr);
  EXPECT_EQ(reason_of<task::ExceptionFailure>(end)->origin, "");
  EXPECT_EQ(value_of(h.run(h.task(2, 3))), "6");
}

}  // namespace
}  // namespace tenon::executor
