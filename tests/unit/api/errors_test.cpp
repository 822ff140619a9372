// What a program is told when its functions fail, and that the context goes on (contract C2.11,
// C17.10, C26.5).
#include <stdexcept>

#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using test::caught;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ErrorsTest : public test::CountingTest {
 protected:
  ~ErrorsTest() override {
    if (!context().stopped()) expect_usable();
  }
  Rdd<int> numbers() { return context().range(0, 10, 1, 5); }
};

struct OwnError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct NoStandardError {};

int throw_own(int n) {
  if (n == 7) throw OwnError("seven is refused");
  return n;
}

TEST_F(ErrorsTest, SayWhatFailedWhereAndHowOften) {
  const auto error = caught([&] { static_cast<void>(numbers().map(fn<throw_own>).count()); });
  EXPECT_EQ(error.kind, ErrorKind::job_failed);
  EXPECT_THAT(error.text,
              StartsWith("Job aborted due to stage failure: Task 3 in stage 0.0 failed 1 times"));
  EXPECT_THAT(error.text, HasSubstr("Lost task 3.0 in stage 0.0 (TID 3)"));
  EXPECT_THAT(error.text, HasSubstr("executor " + context().status().executor_infos().at(0).id));
  EXPECT_THAT(error.text, HasSubstr("OwnError: seven is refused"));
  EXPECT_THAT(error.text, HasSubstr("at map at "));
  EXPECT_THAT(error.text, HasSubstr("errors_test.cpp:"));
  EXPECT_THAT(error.text, HasSubstr("job 0 was started by count at "));
  ASSERT_NE(error.cause, nullptr);
  EXPECT_EQ(error.cause->kind(), ErrorKind::user_function);
  EXPECT_THAT(error.cause->message(), HasSubstr("OwnError: seven is refused"));
}

TEST_F(ErrorsTest, NameTheOperationThatFailed) {
  const std::string path = folder().write("text", "a line\n");
  const auto pairs = numbers().map([](int n) { return std::pair(n % 2, n); });
  const auto fails = [&](const std::string& operation, const std::function<void()>& act) {
    const auto error = caught(act);
    EXPECT_EQ(error.kind, ErrorKind::job_failed);
    EXPECT_THAT(error.text, HasSubstr("boom"));
    EXPECT_THAT(error.text, HasSubstr("\n  at " + operation)) << error.text;
  };
  fails("filter at ", [&] {
    static_cast<void>(numbers()
                          .filter([](int) -> bool { throw std::runtime_error("boom"); })
                          .map([](int n) { return n; })
                          .count());
  });
  fails("flat_map at ", [&] {
    static_cast<void>(
        numbers()
            .flat_map([](int) -> std::vector<int> { throw std::runtime_error("boom"); })
            .count());
  });
  fails("map_partitions at ", [&] {
    static_cast<void>(numbers()
                          .map_partitions([](Records<int>&) -> std::vector<int> {
                            throw std::runtime_error("boom");
                          })
                          .count());
  });
  fails("map_values at ", [&] {
    static_cast<void>(
        pairs.map_values([](int) -> int { throw std::runtime_error("boom"); }).count());
  });
  fails("map", [&] {
    static_cast<void>(numbers()
                          .map([](int, int) -> int { throw std::runtime_error("boom"); }, 1)
                          .union_with(numbers())
                          .coalesce(2)
                          .count());
  });
  fails("map at ", [&] {
    static_cast<void>(
        numbers().map([](int) -> int { throw std::runtime_error("boom"); }).cache().count());
  });
  fails("map at ", [&] {
    static_cast<void>(context()
                          .text_file(path)
                          .map([](const std::string&) -> int { throw std::runtime_error("boom"); })
                          .count());
  });
  // On the reduce side: values of different partitions meet there only.
  fails("reduce_by_key at ", [&] {
    static_cast<void>(numbers()
                          .map([](int n) { return std::pair(0, n); })
                          .coalesce(10)
                          .reduce_by_key([](int a, int b) -> int {
                            if (TaskContext::current()->stage_id() % 2 == 1 || a + b < 0)
                              throw std::runtime_error("boom");
                            return a + b;
                          })
                          .count());
  });
}

TEST_F(ErrorsTest, MapSideOfAReduce) {
  const auto pairs = numbers().map([](int n) { return std::pair(0, n); });
  const auto error = caught([&] {
    static_cast<void>(
        pairs.reduce_by_key([](int, int) -> int { throw std::runtime_error("boom"); }).count());
  });
  EXPECT_THAT(error.text, AllOf(HasSubstr("boom"), HasSubstr("reduce_by_key at ")));
}

TEST_F(ErrorsTest, ActionsFunctions) {
  for (const auto& act : std::vector<std::function<void()>>{
           [&] { numbers().for_each([](int) { throw std::runtime_error("boom"); }); },
           [&] {
             static_cast<void>(
                 numbers().reduce([](int, int) -> int { throw std::runtime_error("boom"); }));
           },
           [&] {
             static_cast<void>(
                 numbers().fold(0, [](int, int) -> int { throw std::runtime_error("boom"); }));
           },
           [&] {
             static_cast<void>(numbers().aggregate(
                 0, [](int, int) -> int { throw std::runtime_error("boom"); }, std::plus<>{}));
           },
           [&] {
             context().run_job(
                 numbers(), [](Records<int>&) -> int { throw std::runtime_error("boom"); }, {1},
                 [](int32_t, int) {});
           },
       }) {
    const auto error = caught(act);
    EXPECT_EQ(error.kind, ErrorKind::job_failed);
    EXPECT_THAT(error.text, AllOf(HasSubstr("boom"), HasSubstr("errors_test.cpp:")));
    expect_usable();
  }
}

TEST_F(ErrorsTest, WhateverIsThrown) {
  const auto text_of = [&](auto f) {
    return caught([&] { static_cast<void>(numbers().map(f).count()); }).text;
  };
  EXPECT_THAT(text_of([](int) -> int { throw 42; }), HasSubstr("int: 42"));
  EXPECT_THAT(text_of([](int) -> int { throw "a literal"; }), HasSubstr("a literal"));
  EXPECT_THAT(text_of([](int) -> int { throw std::string("a string"); }), HasSubstr("a string"));
  EXPECT_THAT(text_of([](int) -> int { throw NoStandardError{}; }), HasSubstr("NoStandardError"));
  EXPECT_THAT(text_of([](int) -> int {
                throw Error(ErrorKind::codec, "own error",
                            std::make_shared<const Error>(ErrorKind::internal, "its cause"));
              }),
              AllOf(HasSubstr("own error"), HasSubstr("caused by: "), HasSubstr("its cause")));
  EXPECT_THAT(text_of([](int) -> int {
                try {
                  throw std::out_of_range("inner");
                } catch (...) {
                  std::throw_with_nested(OwnError("outer"));
                }
              }),
              AllOf(HasSubstr("outer"), HasSubstr("caused by: std::out_of_range: inner")));
  expect_usable();
}

TEST_F(ErrorsTest, FatalErrorIsNotTriedAgain) {
  start(conf("local[2,4]"));
  const auto error = caught([&] {
    static_cast<void>(numbers().map([](int) -> int { throw FatalError("no use"); }).count());
  });
  EXPECT_THAT(error.text, HasSubstr("no use"));
  context().stop();
  for (const auto& start : events<event::TaskStart>()) {
    EXPECT_EQ(start.task.attempt, 0);
  }
}

TEST_F(ErrorsTest, AttemptsUpToTheLimit) {
  start(conf("local[2,3]"));
  const auto error = caught([&] { static_cast<void>(numbers().map(fn<throw_own>).count()); });
  EXPECT_THAT(error.text, HasSubstr("Task 3 in stage 0.0 failed 3 times"));
  EXPECT_THAT(error.text, HasSubstr("Lost task 3.2 in stage 0.0"));
}

struct Picky {  // its Codec refuses one value
  int n = 0;
};

}  // namespace

template <>
struct Codec<Picky> {
  static void write(ByteWriter& out, const Picky& value) {
    if (value.n == 3) throw std::domain_error("3 cannot be written");
    out.fixed(value.n);
  }
  static Picky read(ByteReader& in) {
    const int n = in.fixed<int>();
    if (n == 4) throw std::domain_error("4 cannot be read");
    return {n};
  }
};

namespace {

TEST_F(ErrorsTest, ACodecThatThrows) {
  const auto picky = [&](int n) {
    return context().parallelize(std::vector{n}, 1).map([](int x) { return Picky{x}; });
  };
  EXPECT_EQ(picky(5).collect().at(0).n, 5);
  EXPECT_THAT(caught([&] { static_cast<void>(picky(3).collect()); }).text,
              HasSubstr("3 cannot be written"));
  expect_usable();
  const auto reading = caught([&] { static_cast<void>(picky(4).collect()); });
  EXPECT_EQ(reading.kind, ErrorKind::job_failed);
  EXPECT_THAT(reading.text, HasSubstr("4 cannot be read"));
  expect_usable();
  const auto keyed = [&](int n) {
    return picky(n).map([](const Picky& p) { return std::pair(1, p); });
  };
  EXPECT_THAT(caught([&] { static_cast<void>(keyed(3).group_by_key().count()); }).text,
              HasSubstr("3 cannot be written"));
  EXPECT_THAT(caught([&] { static_cast<void>(keyed(4).group_by_key().count()); }).text,
              HasSubstr("4 cannot be read"));
  EXPECT_THROW(static_cast<void>(context().parallelize(std::vector{Picky{3}})), std::domain_error);
  EXPECT_THAT(
      caught([&] {
        static_cast<void>(numbers().map([](int n, const Picky&) { return n; }, Picky{4}).count());
      }).text,
      HasSubstr("4 cannot be read"));
}

// ------------------------------------------------------------------------------- nested use

Context* the_context = nullptr;
const Rdd<int>* the_rdd = nullptr;

TEST_F(ErrorsTest, C17_10_T192_NestedUseIsAnError) {
  the_context = &context();
  const auto rdd = numbers();
  the_rdd = &rdd;
  const auto text_of = [&](auto f) {
    const auto error = caught([&] { static_cast<void>(numbers().map(f).count()); });
    EXPECT_EQ(error.kind, ErrorKind::job_failed);
    return error.text;
  };
  const auto rule = HasSubstr("cannot be used inside a task");
  EXPECT_THAT(text_of([](int) { return the_rdd->count(); }), rule);
  EXPECT_THAT(text_of([](int) { return the_rdd->map([](int n) { return n; }).partition_count(); }),
              rule);
  EXPECT_THAT(text_of([](int) { return the_context->range(0, 5).partition_count(); }), rule);
  EXPECT_THAT(
      text_of([](int) { return the_context->parallelize(std::vector{1}).partition_count(); }),
      rule);
  EXPECT_THAT(text_of([](int) { return the_context->text_file("x").partition_count(); }), rule);
  EXPECT_THAT(text_of([](int) { return the_context->broadcast(1).id(); }), rule);
  EXPECT_THAT(text_of([](int) { return the_context->accumulator<int>().id(); }), rule);
  EXPECT_THAT(text_of([](int) { return the_rdd->count_async().job_id(); }), rule);
  EXPECT_THAT(text_of([](int) { return the_rdd->cache().id(); }), rule);
  EXPECT_THAT(text_of([](int) {
                the_context->stop();
                return 1;
              }),
              rule);
  EXPECT_THAT(text_of([](int) {
                Context inner(Conf{});
                return 1;
              }),
              rule);
  EXPECT_FALSE(context().stopped());
}

TEST_F(ErrorsTest, AListenerThatThrowsHurtsNobody) {
  struct Throwing : Listener {
    void on_task_end(const event::TaskEnd&) override { throw std::runtime_error("listener broke"); }
    void on_job_end(const event::JobEnd&) override { throw 5; }
  };
  context().add_listener(std::make_shared<Throwing>());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(numbers().count(), 10u);
  }
  EXPECT_EQ(events<event::JobEnd>(3).size(), 3u);
}

TEST_F(ErrorsTest, AListenerMayNotStopTheContext) {
  struct Stopping : Listener {
    explicit Stopping(Context& c) : context(c) {}
    void on_job_end(const event::JobEnd&) override {
      const auto error = caught([&] { context.stop(); });
      kind = error.kind;
      refused = error.text.find("from a listener") != std::string::npos;
    }
    Context& context;
    std::atomic<bool> refused{false};
    std::atomic<ErrorKind> kind{};
  };
  const auto listener = std::make_shared<Stopping>(context());
  context().add_listener(listener);
  EXPECT_EQ(numbers().count(), 10u);
  EXPECT_TRUE(test::wait_until([&] { return listener->refused.load(); }));
  EXPECT_EQ(listener->kind, ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace tenon
