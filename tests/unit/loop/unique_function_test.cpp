#include "loop/unique_function.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace tenon::loop {
namespace {

// Counts the objects that are alive.
struct Counted {
  explicit Counted(int& the_alive) : alive(&the_alive) { ++*alive; }
  Counted(const Counted& other) : alive(other.alive) { ++*alive; }
  Counted(Counted&& other) noexcept : alive(other.alive) { ++*alive; }
  Counted& operator=(const Counted&) = delete;
  Counted& operator=(Counted&&) = delete;
  ~Counted() { --*alive; }
  int* alive;
};

template <size_t Padding>
void check_life(bool expect_same_address) {
  int alive = 0;
  const void* first = nullptr;
  const void* second = nullptr;
  const void** seen = &first;
  {
    auto callable = [counted = Counted(alive), &seen, padding = std::array<char, Padding>{}] {
      *seen = padding.data();
    };
    UniqueFunction<void()> one = std::move(callable);
    one();
    UniqueFunction<void()> two = std::move(one);
    EXPECT_FALSE(one);  // NOLINT(bugprone-use-after-move): that is the promise
    seen = &second;
    two();
    EXPECT_EQ(first == second, expect_same_address);
    UniqueFunction<void()> three;
    three = std::move(two);
    EXPECT_TRUE(three);
    EXPECT_EQ(alive, 2);  // the lambda above and the one inside
    three.reset();
    EXPECT_FALSE(three);
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST(UniqueFunction, SmallCallableMovesWithTheObject) { check_life<8>(false); }
TEST(UniqueFunction, LargeCallableStaysOnTheHeap) { check_life<200>(true); }

TEST(UniqueFunction, TakesMoveOnlyCallablesArgumentsAndResults) {
  UniqueFunction<std::unique_ptr<int>(std::unique_ptr<int>, int&)> add =
      [extra = std::make_unique<int>(3)](std::unique_ptr<int> value, int& calls) {
        ++calls;
        *value += *extra;
        return value;
      };
  int calls = 0;
  EXPECT_EQ(*add(std::make_unique<int>(4), calls), 7);
  EXPECT_EQ(*add(std::make_unique<int>(5), calls), 8);
  EXPECT_EQ(calls, 2);
}

TEST(UniqueFunction, AssignmentDestroysWhatWasThere) {
  int alive = 0;
  UniqueFunction<void()> function = [counted = Counted(alive)] {};
  EXPECT_EQ(alive, 1);
  function = [] {};
  EXPECT_EQ(alive, 0);
}

int twice(int x) { return 2 * x; }

TEST(UniqueFunction, FunctionPointersAndEmptiness) {
  UniqueFunction<int(int)> empty;
  UniqueFunction<int(int)> null = nullptr;
  int (*none)(int) = nullptr;
  UniqueFunction<int(int)> from_null_pointer = none;
  EXPECT_FALSE(empty);
  EXPECT_FALSE(null);
  EXPECT_FALSE(from_null_pointer);
  UniqueFunction<int(int)> function = twice;
  EXPECT_EQ(function(21), 42);
}

}  // namespace
}  // namespace tenon::loop
