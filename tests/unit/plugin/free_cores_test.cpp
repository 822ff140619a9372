#include "tenon/plugin/free_cores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tenon/plugin/id_map.hpp"

namespace tenon::plugin {
namespace {

struct Wanted {
  uint64_t id;
  uint32_t cores = 1;
  bool queued = false;
};

void answer(FreeCores& free, uint64_t offer, const std::vector<Wanted>& wanted) {
  std::vector<tenon_task> rows;
  for (const Wanted& task : wanted) {
    tenon_task row{};
    row.id = task.id;
    row.cores = task.cores;
    row.flags = task.queued ? TENON_TASK_QUEUED : 0;
    rows.push_back(row);
  }
  free.answer(offer, Tasks(array<tenon_tasks>(std::span<tenon_task>(rows))));
}

void end(FreeCores& free, std::vector<uint64_t> ids) { free.give_back(ids); }

TEST(FreeCores, OneOfferIsOutAtATime) {
  FreeCores free(4);
  const auto first = free.offer();
  EXPECT_EQ(first.cores, 4u);
  EXPECT_FALSE(free.offer());
  EXPECT_FALSE(free.revive());  // it is remembered
  answer(free, first.number, {{1}, {2}});
  const auto second = free.offer_after_answer();
  EXPECT_EQ(second.cores, 2u);
  EXPECT_NE(second.number, first.number);
  answer(free, second.number, {});
  EXPECT_FALSE(free.offer_after_answer());  // declined, and nothing has changed: no endless round
  EXPECT_EQ(free.revive().cores, 2u);
}

TEST(FreeCores, WhatCameFreeWhileAnOfferWasOutIsOfferedAfterIt) {
  FreeCores free(2);
  answer(free, free.offer().number, {{1}});
  const auto out = free.revive();
  EXPECT_EQ(out.cores, 1u);
  end(free, {1});
  EXPECT_FALSE(free.offer());
  answer(free, out.number, {});
  EXPECT_EQ(free.offer_after_answer().cores, 2u);
}

TEST(FreeCores, QueuedTasksTakeCoresOldestFirst) {
  FreeCores free(1, 2);
  const auto first = free.offer();
  EXPECT_EQ(first.cores, 1u);
  EXPECT_EQ(first.slots, 2u);
  answer(free, first.number, {{1}, {2, 1, true}, {3, 1, true}});
  EXPECT_FALSE(free.offer_after_answer());
  EXPECT_FALSE(free.revive());  // nothing is free
  end(free, {1});               // 2 takes its core, and frees a slot
  const auto second = free.offer();
  EXPECT_EQ(second.cores, 0u);
  EXPECT_EQ(second.slots, 1u);
  end(free, {2});  // 3 takes the core while the offer is out
  answer(free, second.number, {});
  const auto third = free.offer_after_answer();
  EXPECT_EQ(third.cores, 0u);
  EXPECT_EQ(third.slots, 2u);
  EXPECT_EQ(free.in_flight(), 1u);
}

TEST(FreeCores, CoresOnOfferAreNotGivenToTheQueue) {
  FreeCores free(2, 4);
  answer(free, free.offer().number, {{1}, {2}, {3, 1, true}, {4, 2, true}});
  end(free, {1});  // 3 takes the core
  end(free, {3});  // 4 wants two cores: one is free
  const auto out = free.revive();
  EXPECT_EQ(out.cores, 1u);
  end(free, {2});  // the other one is on offer
  answer(free, out.number, {{5}});
  EXPECT_EQ(free.in_flight(), 2u);
  end(free, {5});  // now both are free: 4 runs
  EXPECT_EQ(free.offer().cores, 0u);
}

TEST(FreeCores, ReturnedFromTheQueueFreesASlot) {
  FreeCores free(1, 2);
  answer(free, free.offer().number, {{1}, {2, 1, true}, {3, 1, true}});
  end(free, {2});
  EXPECT_EQ(free.offer().slots, 1u);
  end(free, {1});
  EXPECT_EQ(free.in_flight(), 1u);  // 3 runs
}

TEST(FreeCores, SlotsAreOfferedInBatches) {
  FreeCores free(1, 4, 2);
  answer(free, free.offer().number, {{1}, {2, 1, true}, {3, 1, true}, {4, 1, true}, {5, 1, true}});
  end(free, {1});
  EXPECT_FALSE(free.offer());  // one slot
  end(free, {2});
  EXPECT_EQ(free.offer().slots, 2u);
}

TEST(FreeCores, C18_4_AnUnknownTaskMakesNoCores) {
  FreeCores free(1);
  answer(free, free.offer().number, {{1}});
  end(free, {7});
  EXPECT_FALSE(free.offer());
  end(free, {1, 1});
  EXPECT_EQ(free.offer().cores, 1u);
}

TEST(FreeCores, TasksThatDoNotFitAreRefused) {
  FreeCores free(2, 1);
  EXPECT_THROW(answer(free, 1, {}), Error);  // none is out
  const auto out = free.offer();
  EXPECT_THROW(answer(free, out.number + 1, {}), Error);
  EXPECT_THROW(answer(free, out.number, {{1, 3}}), Error);
  EXPECT_EQ(free.in_flight(), 0u);
  const auto again = free.offer();  // the refused answer was one
  EXPECT_EQ(again.cores, 2u);
  EXPECT_EQ(again.slots, 1u);
  EXPECT_THROW(answer(free, again.number, {{1, 1, true}, {2, 1, true}}), Error);
  answer(free, free.offer().number, {{1}, {2, 1, true}});
  EXPECT_EQ(free.forget_all(), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(free.in_flight(), 0u);
}

// Random rounds against a plain model: the sum of what runs, is free and is on offer stays the
// same.
TEST(FreeCores, RandomRoundsKeepTheBooks) {
  std::mt19937 random(7);
  FreeCores free(4, 8);
  std::vector<uint64_t> held;
  uint64_t next = 0;
  FreeCores::Offer out;
  for (int round = 0; round < 20000; ++round) {
    if (!out) out = random() % 2 == 0 ? free.offer() : free.revive();
    if (!held.empty() && random() % 3 != 0) {
      const size_t at = random() % held.size();
      end(free, {held[at]});
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (out && random() % 2 == 0) {
      std::vector<Wanted> tasks;
      uint32_t cores = out.cores, slots = out.slots;
      while (random() % 4 != 0) {
        const uint32_t takes = 1 + random() % 2;
        const bool queued = random() % 2 == 0;
        if (queued ? slots == 0 : cores < takes) break;
        (queued ? slots : cores) -= queued ? 1 : takes;
        tasks.push_back({++next, takes, queued});
        held.push_back(next);
      }
      answer(free, out.number, tasks);
      out = free.offer_after_answer();
    }
    ASSERT_EQ(free.in_flight(), held.size());
  }
  end(free, held);
  if (out) {
    answer(free, out.number, {});
    out = {};
  }
  const auto all = free.revive();
  EXPECT_EQ(all.cores, 4u);
  EXPECT_EQ(all.slots, 8u);
}

TEST(IdMap, SameAsStdMap) {
  std::mt19937 random(3);
  IdMap<uint32_t> map;
  std::map<uint64_t, uint32_t> model;
  for (int round = 0; round < 50000; ++round) {
    const uint64_t id = random() % 300;
    if (model.contains(id)) {
      ASSERT_EQ(*map.find(id), model[id]);
      ASSERT_TRUE(map.erase(id));
      model.erase(id);
    } else {
      ASSERT_EQ(map.find(id), nullptr);
      ASSERT_FALSE(map.erase(id));
      map.insert(id, static_cast<uint32_t>(round));
      model[id] = static_cast<uint32_t>(round);
    }
    ASSERT_EQ(map.size(), model.size());
  }
  std::map<uint64_t, uint32_t> seen;
  map.for_each([&](uint64_t id, uint32_t value) { seen[id] = value; });
  EXPECT_EQ(seen, model);
  map.clear();
  EXPECT_EQ(map.size(), 0u);
  EXPECT_EQ(map.find(seen.begin()->first), nullptr);
}

}  // namespace
}  // namespace tenon::plugin
