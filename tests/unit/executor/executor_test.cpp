#include "executor/executor.hpp"

#include "harness.hpp"

namespace tenon::executor {
namespace {

using namespace testing;  // NOLINT: the harness of this folder

rdd::NodePtr numbers(int32_t id = 0, const std::string& hook = "") {
  return make_node(id, source_operator(hook), {}, {"1 2 3", "4 5"}, "parallelize");
}

TEST(Executor, RunsAResultTaskOverItsPartitionsData) {
  Harness h;
  h.add_stage(3, make_node(1, pass_operator(), {rdd::NarrowDependency{numbers(), {}}}, {"", ""}),
              sum_action());
  const task::StatusUpdate first = h.run(h.task(1, 3, 0));
  const task::StatusUpdate second = h.run(h.task(2, 3, 1));
  ASSERT_EQ(first.state, task::TaskState::finished);
  EXPECT_EQ(reason_of<task::Success>(first)->result->value, "6");
  EXPECT_EQ(reason_of<task::Success>(second)->result->value, "9");
  EXPECT_FALSE(reason_of<task::Success>(first)->result->map_status);
  EXPECT_EQ(reason_of<task::Success>(first)->result->metrics.result_bytes, 1U);
}

}  // namespace
}  // namespace tenon::executor
