// Accumulators of all kinds (contract C14), end to end.
#include "api/api_fixture.hpp"

namespace tenon {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// The program's own: the longest text, and how many there were.
struct Longest {
  struct Value {
    std::string text;
    int64_t seen = 0;
    TENON_FIELDS(text, seen)
  };
  static Value zero() { return {"", 0}; }
  static void add(Value& into, const std::string& text) {
    ++into.seen;
    if (text.size() > into.text.size()) into.text = text;
  }
  static void merge(Value& into, Value&& partial) {
    const int64_t seen = into.seen + partial.seen;
    if (partial.text.size() > into.text.size()) into = std::move(partial);
    into.seen = seen;
  }
};

// A sum whose merge in the driver always throws.
struct Broken : Sum<int> {
  static void merge(int&, int&&) { throw std::runtime_error("the merge of Broken"); }
};

class AccumulatorTest : public test::ApiTest {};

TEST_F(AccumulatorTest, C14_1_CountMinMaxListAndSet) {
  const auto count = context().accumulator<Count>();
  const auto least = context().accumulator<Min<int>>();
  const auto most = context().accumulator<Max<int>>();
  const auto list = context().accumulator<List<int>>();
  const auto set = context().accumulator<Set<std::string>>();
  EXPECT_EQ(least.value(), std::nullopt);
  context()
      .range(-5, 95, 1, 7)
      .for_each(
          [](int n, const Accumulator<Count>& c, const Accumulator<Min<int>>& lo,
             const Accumulator<Max<int>>& hi, const Accumulator<List<int>>& l,
             const Accumulator<Set<std::string>>& s) {
            c.add(n);
            lo.add(n);
            hi.add(n);
            if (n % 25 == 0) l.add(n);
            s.add(std::string(n % 2 == 0 ? "even" : "odd"));
          },
          count, least, most, list, set);
  EXPECT_EQ(count.value(), 100U);
  EXPECT_EQ(least.value(), -5);
  EXPECT_EQ(most.value(), 94);
  EXPECT_THAT(list.value(), UnorderedElementsAre(0, 25, 50, 75));
  EXPECT_THAT(set.value(), ElementsAre("even", "odd"));
}

TEST_F(AccumulatorTest, C14_1_TheProgramsOwn) {
  const auto longest = context().accumulator<Longest>();
  context()
      .range(0, 50, 1, 5)
      .for_each(
          [](int n, const Accumulator<Longest>& l) {
            l.add(std::string(static_cast<size_t>(n), 'x'));
          },
          longest);
  longest.add(std::string("in the driver"));
  const auto value = longest.value();
  EXPECT_EQ(value.text, std::string(49, 'x'));
  EXPECT_EQ(value.seen, 51);
}

TEST_F(AccumulatorTest, C14_3_NamedOnesAreShownWithTheirStage) {
  const auto most = context().accumulator<Max<int>>("largest");
  const auto list = context().accumulator<List<int>>("all");
  const auto hidden = context().accumulator<Count>();
  context()
      .range(0, 30, 1, 3)
      .for_each(
          [](int n, const Accumulator<Max<int>>& m, const Accumulator<List<int>>& l,
             const Accumulator<Count>& h) {
            m.add(n);
            l.add(7);
            h.add(n);
          },
          most, list, hidden);
  const auto stages = events<event::StageCompleted>(1);
  EXPECT_THAT(stages.at(0).stage->accumulables,
              UnorderedElementsAre(Pair("largest", "29"),
                                   Pair("all", "[7, 7, 7, 7, 7, 7, 7, 7, 7, 7, ... 30 in all]")));
}

TEST_F(AccumulatorTest, T034_C14_2_AMergeThatThrowsHurtsNothingElse) {
  const auto broken = context().accumulator<Broken>("broken");
  const auto good = context().accumulator<int64_t>("good");
  for (int job = 1; job <= 2; ++job) {
    context()
        .range(0, 10, 1, 2)
        .for_each(
            [](int n, const Accumulator<Broken>& b, const Accumulator<int64_t>& g) {
              b.add(n);
              g.add(n);
            },
            broken, good);
    EXPECT_EQ(good.value(), 45 * job);
    EXPECT_EQ(broken.value(), 0);
  }
  EXPECT_THAT(events<event::StageCompleted>(2).at(1).stage->accumulables,
              ElementsAre(Pair("good", "90")));
}

TEST_F(AccumulatorTest, T032_T033_C14_1_OnlyAttemptsThatSucceedCount) {
  start(conf("local[2,4]"));
  const auto list = context().accumulator<List<int>>();
  context()
      .range(0, 6, 1, 3)
      .for_each(
          [](int n, const Accumulator<List<int>>& l) {
            l.add(n);
            if (n == 3 && TaskContext::current()->attempt() < 2)
              throw std::runtime_error("once more");
          },
          list);
  EXPECT_THAT(list.value(), UnorderedElementsAre(0, 1, 2, 3, 4, 5));
}

}  // namespace
}  // namespace tenon
