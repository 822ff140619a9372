// Stages: how they are cut, named, submitted and finished (C3, C6).
#include "unit/dag/harness.hpp"

namespace tenon::dag::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;
using Stages = DagTest;

TEST_F(Stages, T005_TrivialShuffle) {
  const auto dependency = shuffle(node(2), 1);
  const auto listener = submit(node(1, {dependency}), {0});
  ASSERT_EQ(set(0).kind, task::TaskKind::shuffle_map);
  ASSERT_EQ(submitter_.sets.size(), 1u);
  complete_maps(0, {"A", "B"});
  ASSERT_EQ(submitter_.sets.size(), 2u);
  ASSERT_EQ(set(1).tasks.size(), 1u);
  EXPECT_EQ(set(1).kind, task::TaskKind::result);
  EXPECT_THAT(output_hosts(dependency), ElementsAre("A", "B"));
  end(1, 0, value("42"));
  EXPECT_THAT(listener->results, ElementsAre(Pair(0, "42")));
  EXPECT_TRUE(listener->succeeded);
  expect_all_empty();
}

TEST_F(Stages, S004_003_S004_094_S004_098_TaskSetsAreWhatTheStageNeeds) {
  const auto source = node(3, {}, {}, {"text_file", "/a/b.cpp", 3});
  const auto dependency = shuffle(source, 2);
  const auto final = node(2, {dependency}, {}, {"reduce_by_key", "/a/b.cpp", 4});
  submit(node(2, {one_to_one(final)}), {0, 1}, {{"k", "v"}});
  EXPECT_EQ(set(0).name(), "TaskSet_0.0");
  EXPECT_EQ(set(0).priority, 0);
  EXPECT_EQ(set(0).epoch, tracker_->epoch());
  EXPECT_THAT(partitions_of(0), ElementsAre(0, 1, 2));
  ASSERT_NE(set(0).binary, nullptr);
  EXPECT_EQ(set(0).binary->id, "stage 0.0");
  const rdd::StageGraph map = rdd::decode_stage_graph(set(0).binary->bytes);
  EXPECT_EQ(map.header.app_id, "app-1");
  EXPECT_EQ(map.header.app_attempt_id, "1");
  EXPECT_EQ(map.header.properties.at("k"), "v");
  ASSERT_EQ(map.nodes.size(), 1u);
  EXPECT_EQ(map.nodes[0].call_site, "text_file at b.cpp:3");
  EXPECT_EQ(std::get<rdd::ShuffleWriteStep>(map.last_step).shuffle_id, dependency->shuffle_id);
  complete_maps(0, {"A"});
  const rdd::StageGraph result = rdd::decode_stage_graph(set(1).binary->bytes);
  EXPECT_EQ(result.header.stage_id, 1);
  ASSERT_EQ(result.nodes.size(), 2u);
  EXPECT_EQ(std::get<rdd::ActionStep>(result.last_step).action.id, 3u);
  complete(1, {value("1"), value("2")});
}

TEST_F(Stages, C3_2_TwoShufflesOfOneRddAreTwoStages) {
  const auto a = node(2);
  const auto to_b = shuffle(a, 2);
  const auto b = node(2, {to_b});
  const auto a_to_c = shuffle(a, 2), b_to_c = shuffle(b, 2);
  const auto c = node(2, {a_to_c, b_to_c});
  const auto to_d = shuffle(c, 1);
  submit(node(1, {to_d}), {0});
  const auto start = sink_.of<event::JobStart>().at(0);
  std::map<int32_t, std::shared_ptr<const StageInfo>> by_shuffle;
  std::shared_ptr<const StageInfo> result;
  for (const auto& stage : start.stages) {
    if (stage->shuffle_id) {
      EXPECT_TRUE(by_shuffle.emplace(*stage->shuffle_id, stage).second);
    } else {
      result = stage;
    }
  }
  ASSERT_EQ(start.stages.size(), 5u);
  ASSERT_EQ(by_shuffle.size(), 4u);
  const auto id = [&](const rdd::ShufflePtr& each) { return by_shuffle.at(each->shuffle_id)->id; };
  EXPECT_THAT(by_shuffle.at(to_b->shuffle_id)->parents, IsEmpty());
  EXPECT_THAT(by_shuffle.at(b_to_c->shuffle_id)->parents, ElementsAre(id(to_b)));
  EXPECT_THAT(by_shuffle.at(to_d->shuffle_id)->parents, ElementsAre(id(a_to_c), id(b_to_c)));
  EXPECT_THAT(result->parents, ElementsAre(id(to_d)));
  for (const auto& stage : start.stages) {
    for (const int32_t parent : stage->parents) EXPECT_LT(parent, stage->id);
  }
  cancel(0);
}

TEST_F(Stages, T025_NoDuplicateStages) {
  const auto dep_a = shuffle(node(2), 2);
  const auto dep_b = shuffle(node(2, {dep_a}), 2);
  const auto dep_c = shuffle(node(2, {dep_a, dep_b}), 1);
  submit(node(1, {dep_c}), {0});
  const auto stages = sink_.of<event::JobStart>().at(0).stages;
  ASSERT_EQ(stages.size(), 4u);
  EXPECT_THAT(stages[0]->parents, IsEmpty());
  EXPECT_THAT(stages[1]->parents, ElementsAre(0));
  EXPECT_THAT(stages[2]->parents, ElementsAre(0, 1));
  EXPECT_THAT(stages[3]->parents, ElementsAre(2));
  EXPECT_EQ(stages[0]->shuffle_id, dep_a->shuffle_id);
  EXPECT_EQ(stages[1]->shuffle_id, dep_b->shuffle_id);
  EXPECT_EQ(stages[2]->shuffle_id, dep_c->shuffle_id);
  cancel(0);
}

TEST_F(Stages, T026_CachedAncestorHidesItsParents) {
  const auto dependency = shuffle(node(1), 1);
  const auto b = node(1, {dependency});
  const auto c = node(1, {one_to_one(b)});
  c->set_level(StorageLevel::memory);
  blocks_.cached[{c->id(), 0}] = {{"hostA", "hostA-exec"}};
  const auto listener = submit(node(1, {one_to_one(c)}), {0});
  ASSERT_EQ(submitter_.sets.size(), 1u);
  EXPECT_EQ(set(0).kind, task::TaskKind::result);
  EXPECT_THAT(preferred_hosts(0, 0), ElementsAre("hostA"));
  end(0, 0, value("42"));
  EXPECT_THAT(listener->results, ElementsAre(Pair(0, "42")));
  EXPECT_THAT(completed_stages(), ElementsAre(set(0).stage_id));
}

TEST_F(Stages, C3_4_PartlyCachedDoesNotHide) {
  const auto dependency = shuffle(node(2), 2);
  const auto c = node(2, {dependency});
  c->set_level(StorageLevel::memory);
  blocks_.cached[{c->id(), 0}] = {{"hostA", "hostA-exec"}};
  submit(node(2, {one_to_one(c)}), {0, 1});
  EXPECT_EQ(set(0).kind, task::TaskKind::shuffle_map);
  cancel(0);
}

TEST_F(Stages, T027_PreferredLocationsOfASelfZipThirtyTimes) {
  rdd::NodePtr zipped = node(1);
  for (int i = 0; i < 30; ++i) {
    const auto same = [](int32_t partition) { return std::vector<int32_t>{partition}; };
    zipped = node(1, {rdd::NarrowDependency{zipped, same}, rdd::NarrowDependency{zipped, same}});
  }
  EXPECT_THAT(scheduler_->preferred_locations(zipped, 0), IsEmpty());
  // With something to find at the far end the walk is really taken.
  rdd::NodePtr placed = node(1, {}, {{}});
  const auto source = node(1, {one_to_one(placed)}, {{"host9"}});
  placed = source;
  for (int i = 0; i < 30; ++i) placed = node(1, {one_to_one(placed), one_to_one(placed)});
  EXPECT_THAT(scheduler_->preferred_locations(placed, 0), ElementsAre(task::Location{"host9", ""}));
  submit(zipped, {0});
  EXPECT_EQ(rdd::decode_stage_graph(set(0).binary->bytes).nodes.size(), 31u);
  end(0, 0, value("42"));
}

TEST_F(Stages, T028_TaskThatCannotBeEncoded) {
  unknown_operators_.insert(1);
  const auto listener = submit(node(1), {0});
  EXPECT_THAT(listener->failure_text(),
              StartsWith("Job aborted due to stage failure: Task not serializable: "));
  EXPECT_THAT(submitted_stages(), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(failed_stages(), ElementsAre(0));
  EXPECT_THAT(submitter_.sets, IsEmpty());
  expect_all_empty();
  unknown_operators_.clear();
  const auto next = submit(node(1), {0});
  end(0, 0, value("42"));
  EXPECT_TRUE(next->succeeded);
}

TEST_F(Stages, T028_UnknownActionAndUnknownWriter) {
  for (const uint64_t unknown : {uint64_t{3}, uint64_t{2}}) {
    unknown_operators_ = {unknown};
    const auto dependency = shuffle(node(1), 1);
    const size_t before = submitter_.sets.size();
    const auto listener = submit(node(1, {dependency}), {0});
    if (unknown == 3) {
      ASSERT_EQ(submitter_.sets.size(), before + 1);
      complete_maps(before, {"A"});
    }
    EXPECT_THAT(listener->failure_text(), HasSubstr("Task not serializable"));
    EXPECT_THAT(listener->failure_text(), HasSubstr("(id " + std::to_string(unknown) + ")"));
    expect_all_empty();
  }
}

TEST_F(Stages, C3_7_OtherErrorsWhileEncoding) {
  Hooks hooks;
  hooks.operator_known = [](uint64_t) -> bool { throw std::runtime_error("registry broken"); };
  scheduler_ = std::make_unique<DagScheduler>(loop_, submitter_, *tracker_, blocks_, sink_,
                                              Settings{}, std::move(hooks));
  const auto listener = submit(node(1), {0});
  EXPECT_THAT(listener->failure_text(), HasSubstr("Task serialization failed: "));
  EXPECT_THAT(listener->failure_text(), HasSubstr("registry broken"));
  EXPECT_THAT(submitted_stages(), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(failed_stages(), ElementsAre(0));
}

TEST_F(Stages, T030_ThrowingPreferredLocations) {
  const auto malformed = submit(node(1, {}, {{"executor_nohost"}}), {0});
  EXPECT_THAT(malformed->failure_text(),
              StartsWith("Job aborted due to stage failure: Task creation failed: "));
  EXPECT_THAT(malformed->failure_text(), HasSubstr("Illegal executor location format"));
  const auto throwing = [](int32_t) -> std::vector<int32_t> {
    throw std::out_of_range("no parent for it");
  };
  const auto source = node(1, {}, {{"hostA"}});
  const auto listener = submit(node(1, {rdd::NarrowDependency{source, throwing}}), {0});
  EXPECT_THAT(listener->failure_text(), HasSubstr("std::out_of_range: no parent for it"));
  EXPECT_THAT(failed_stages(), ElementsAre(0, 1));
  EXPECT_EQ(sink_.of<event::StageSubmitted>().size(), 2u);
  expect_all_empty();
  const auto next = submit(node(1), {0});
  end(0, 0, value("42"));
  EXPECT_TRUE(next->succeeded);
}

TEST_F(Stages, T036_NarrowParentBeatsShuffleParent) {
  const auto dependency = shuffle(node(1), 1);
  const auto narrow = node(1, {}, {{"hostB"}});
  submit(node(1, {dependency, one_to_one(narrow)}), {0});
  complete_maps(0, {"hostA"});
  EXPECT_THAT(preferred_hosts(1, 0), ElementsAre("hostB"));
  end(1, 0, value("42"));
}

TEST_F(Stages, C6_2_BigMapOutputsArePreferred) {
  const auto dependency = shuffle(node(4), 1);
  submit(node(1, {dependency}), {0});
  complete(0, {map_output("hostA", 1, 10), map_output("hostB", 1, 100), map_output("hostB", 1, 100),
               map_output("hostC", 1, 90)});
  EXPECT_THAT(preferred_hosts(1, 0), ElementsAre("hostB", "hostC"));
  const auto info = sink_.of<event::StageSubmitted>().back().stage;
  ASSERT_EQ(info->task_locations.size(), 1u);
  EXPECT_THAT(info->task_locations[0], ElementsAre("hostB", "hostC"));
  end(1, 0, value("42"));
}

TEST_F(Stages, C6_2_ReduceLocalityCanBeSwitchedOff) {
  Settings settings;
  settings.reduce_locality = false;
  make_scheduler(settings);
  const auto dependency = shuffle(node(1), 1);
  submit(node(1, {dependency}), {0});
  complete_maps(0, {"hostA"});
  EXPECT_THAT(preferred_hosts(1, 0), IsEmpty());
  end(1, 0, value("42"));
}

TEST_F(Stages, T045_S004_081_ParentsHaveSmallerStageIds) {
  const auto dependency = shuffle(node(2), 2);
  submit(node(2, {dependency}), {0, 1});
  complete_maps(0, {"A"});
  complete(1, {value("1"), value("2")});
  EXPECT_THAT(submitted_stages(), ElementsAre(Pair(0, 0), Pair(1, 0)));
  EXPECT_THAT(completed_stages(), ElementsAre(0, 1));
}

TEST_F(Stages, C2_1_IdsRiseOverJobs) {
  submit(node(1, {shuffle(node(1), 1)}), {0});
  submit(node(1), {0});
  const auto starts = sink_.of<event::JobStart>();
  EXPECT_EQ(starts[0].job, 0);
  EXPECT_EQ(starts[1].job, 1);
  EXPECT_EQ(starts[1].stages[0]->id, 2);
  post(AllJobsCancelled{});
}

TEST_F(Stages, S004_085_HundredThousandNarrowSteps) {
  rdd::NodePtr last = node(2, {shuffle(node(2), 2)});
  for (int i = 0; i < 100000; ++i) last = node(2, {one_to_one(last)});
  const auto listener = submit(last, {0, 1});
  ASSERT_EQ(sink_.of<event::JobStart>().at(0).stages.size(), 2u);
  complete_maps(0, {"A"});
  EXPECT_EQ(rdd::decode_stage_graph(set(1).binary->bytes).nodes.size(), 100001u);
  complete(1, {value("1"), value("2")});
  EXPECT_TRUE(listener->succeeded);
}

TEST_F(Stages, C3_1_TenThousandShuffles) {
  rdd::NodePtr last = node(1);
  for (int i = 0; i < 10000; ++i) last = node(1, {shuffle(last, 1)});
  submit(last, {0});
  EXPECT_EQ(scheduler_->sizes().stages, 10001u);
  EXPECT_EQ(set(0).stage_id, 0);
  complete_maps(0, {"A"});
  EXPECT_EQ(set(1).stage_id, 1);
  cancel(0);
}

TEST_F(Stages, S004_090_SubmitOfARunningOrWaitingStageIsNothing) {
  const auto shared = shuffle(node(1), 1);
  submit(node(1, {shared}), {0});
  submit(node(1, {shared}), {0});
  ASSERT_EQ(submitter_.sets.size(), 1u);
  EXPECT_EQ(scheduler_->sizes().waiting, 2u);
  EXPECT_THAT(scheduler_->active_stages(), ElementsAre(0));  // S004-093
  complete_maps(0, {"A"});
  EXPECT_EQ(submitter_.sets.size(), 3u);
  EXPECT_EQ(set(1).priority, 0);
  EXPECT_EQ(set(2).priority, 1);
  end(1, 0, value("1"));
  end(2, 0, value("2"));
}

TEST_F(Stages, S004_091_IndependentParentsRunAtTheSameTime) {
  const auto left = shuffle(node(1), 1), right = shuffle(node(1), 1);
  submit(node(1, {left, right}), {0});
  ASSERT_EQ(submitter_.sets.size(), 2u);
  EXPECT_EQ(set(0).stage_id, 0);
  EXPECT_EQ(set(1).stage_id, 1);
  complete_maps(1, {"A"});
  EXPECT_EQ(submitter_.sets.size(), 2u);  // C3.13: the other one is missing
  complete_maps(0, {"A"});
  ASSERT_EQ(submitter_.sets.size(), 3u);
  end(2, 0, value("42"));
}

TEST_F(Stages, S004_092_NoActiveJobForAStage) {
  // Two waiting children of one job; the first cannot be encoded, which takes the second one away.
  const auto base = shuffle(node(1), 1);
  rdd::NodeSpec spec;
  spec.id = 500;
  spec.op.id = 99;
  spec.dependencies = {base};
  spec.partitions = [] { return rdd::Partitions(1); };
  const auto left = shuffle(std::make_shared<const rdd::Node>(std::move(spec)), 1);
  const auto right = shuffle(node(1, {base}), 1);
  const auto listener = submit(node(1, {left, right}), {0});
  unknown_operators_.insert(99);
  complete_maps(0, {"A"});
  EXPECT_THAT(listener->failure_text(), HasSubstr("Task not serializable"));
  EXPECT_TRUE(logged("No active job for stage"));
  EXPECT_EQ(submitter_.sets.size(), 1u);
}

TEST_F(Stages, C3_5_SkippedStageIsAnnouncedButNeverSubmitted) {
  const auto dependency = shuffle(node(2), 1);
  submit(node(1, {dependency}), {0});
  complete_maps(0, {"A"});
  end(1, 0, value("1"));
  const auto second = submit(node(1, {dependency}), {0});
  const auto stages = sink_.of<event::JobStart>().at(1).stages;
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0]->id, 2);
  EXPECT_EQ(stages[0]->shuffle_id, dependency->shuffle_id);
  EXPECT_THAT(submitted_stages(), ElementsAre(Pair(0, 0), Pair(1, 0), Pair(3, 0)));
  end(2, 0, value("2"));
  EXPECT_TRUE(second->succeeded);
}

TEST_F(Stages, C3_6_PriorityAndPropertiesOfTheEarliestActiveJob) {
  const auto shared = shuffle(node(1), 1);
  const auto first = submit(node(1, {shared}), {0}, {{"of", "first"}});
  const auto second = submit(node(1, {shared}), {0}, {{"of", "second"}});
  EXPECT_EQ(set(0).priority, 0);
  EXPECT_EQ(set(0).properties->at("of"), "first");
  cancel(0);
  EXPECT_THAT(submitter_.cancelled, IsEmpty());  // the second job needs the stage yet (C2.11)
  lose_executor("A");
  complete_maps(0, {"A"});  // bogus: the stage runs again, now for the second job
  ASSERT_EQ(submitter_.sets.size(), 2u);
  EXPECT_EQ(set(1).stage_id, 0);
  EXPECT_EQ(set(1).priority, 1);
  EXPECT_EQ(set(1).properties->at("of"), "second");
  complete_maps(1, {"B"});
  end(2, 0, value("42"));
  EXPECT_TRUE(second->succeeded);
  EXPECT_NE(first->failure, nullptr);
}

TEST_F(Stages, C3_8_AttemptWithNothingToComputeIsFinishedAtOnce) {
  // The result stage of a job of no positions is such an attempt (T001's event-level form).
  const auto listener = submit(node(1), {});
  const auto submitted = sink_.of<event::StageSubmitted>();
  const auto completed = sink_.of<event::StageCompleted>();
  ASSERT_EQ(submitted.size(), 1u);
  ASSERT_EQ(completed.size(), 1u);
  EXPECT_EQ(submitted[0].stage->submitted_ms, 0);
  EXPECT_EQ(submitted[0].stage->task_count, 0);
  EXPECT_TRUE(completed[0].stage->failure.empty());
  EXPECT_THAT(scheduler_->active_stages(), IsEmpty());
  cancel(0);
  EXPECT_EQ(listener->ends, 1);
}

TEST_F(Stages, C3_8_StageWhoseOutputsCameWhileItWaitedTriesItsChildren) {
  // Stage 1 waits for stage 0; a late success of an earlier attempt of stage 1 brings its last
  // output meanwhile.
  const auto first = shuffle(node(1), 1);
  const auto second = shuffle(node(2, {first}), 1);
  const auto listener = submit(node(1, {second}), {0});
  complete_maps(0, {"A"});
  end(1, 0, map_output("B", 1));
  end(1, 1, fetch_failure("A", first->shuffle_id, 0, 0));  // of a speculative copy
  resubmit();
  ASSERT_EQ(set(2).stage_id, 0);
  end(1, 1, map_output("C", 1));  // of the original
  complete_maps(2, {"D"});
  ASSERT_EQ(submitter_.sets.size(), 4u);
  EXPECT_EQ(set(3).kind, task::TaskKind::result);
  const auto empty = sink_.of<event::StageSubmitted>().at(3).stage;
  EXPECT_EQ(empty->id, 1);
  EXPECT_EQ(empty->task_count, 0);
  EXPECT_EQ(empty->submitted_ms, 0);
  end(3, 0, value("42"));
  EXPECT_TRUE(listener->succeeded);
}

TEST_F(Stages, C3_9_LargeTaskBinaryWarns) {
  rdd::NodeSpec spec;
  spec.id = 100;
  spec.op = {1, std::string(1100 * 1024, 'x')};
  spec.partitions = [] { return rdd::Partitions(1); };
  submit(std::make_shared<const rdd::Node>(std::move(spec)), {0});
  EXPECT_TRUE(logged("Broadcasting large task binary with size 1100 KiB"));
  end(0, 0, value("42"));
  log_.clear();
  submit(node(1), {0});
  EXPECT_FALSE(logged("large task binary"));
  end(1, 0, value("42"));
}

TEST_F(Stages, C3_12_FirstResultOfAPositionWins) {
  const auto listener = submit(node(2), {0, 1});
  end(0, 0, value("1"));
  end(0, 0, value("2"));
  EXPECT_EQ(listener->ends, 0);
  end(0, 1, value("3"));
  EXPECT_THAT(listener->results, ElementsAre(Pair(0, "1"), Pair(1, "3")));
}

TEST_F(Stages, T040_TaskEndIsAlwaysPosted) {
  submit(node(4), {0, 1, 2, 3});
  complete(0, {value("0"), value("1"), value("2"), value("3")});
  expect_all_empty();
  end(0, 0, value("0"));
  end(0, 1, task::UnknownReason{"lost"});
  const auto ends = sink_.of<event::TaskEnd>();
  ASSERT_EQ(ends.size(), 6u);
  EXPECT_EQ(ends[4].reason, "Success");
  EXPECT_EQ(ends[4].detail, "");
  EXPECT_EQ(ends[5].reason, "UnknownReason");
  EXPECT_THAT(ends[5].detail, HasSubstr("lost"));
}

TEST_F(Stages, C3_16_StageInfo) {
  const auto source = node(3, {}, {}, {"parallelize", "/x/y.cpp", 1});
  source->set_name("numbers");
  const auto mapped = node(3, {one_to_one(source)}, {}, {"map", "/x/y.cpp", 2});
  mapped->set_level(StorageLevel::memory);
  const auto dependency = shuffle(mapped, 2);
  submit(node(2, {dependency}), {0, 1}, {{"k", "v"}});
  loop_.advance(5ms);
  complete_maps(0, {"A"});
  const auto info = sink_.of<event::StageCompleted>().at(0).stage;
  EXPECT_EQ(info->id, 0);
  EXPECT_EQ(info->attempt, 0);
  EXPECT_EQ(info->name, "map at y.cpp:2");
  EXPECT_EQ(info->task_count, 3);
  EXPECT_EQ(info->shuffle_id, dependency->shuffle_id);
  ASSERT_EQ(info->rdds.size(), 2u);
  EXPECT_EQ(info->rdds[0].id, mapped->id());
  EXPECT_TRUE(info->rdds[0].cached);
  EXPECT_THAT(info->rdds[0].parents, ElementsAre(source->id()));
  EXPECT_EQ(info->rdds[1].name, "numbers");
  EXPECT_EQ(info->rdds[1].partitions, 3);
  EXPECT_EQ(info->submitted_ms, 1000);
  EXPECT_EQ(info->completed_ms, 1005);
  EXPECT_THAT(info->task_locations, IsEmpty());
  EXPECT_EQ(sink_.of<event::StageSubmitted>().at(1).stage->parents, std::vector<int32_t>{0});
  complete(1, {value("1"), value("2")});
}

TEST_F(Stages, MapTaskWithoutStatusFailsTheJobNotTheScheduler) {
  const auto listener = submit(node(1, {shuffle(node(1), 1)}), {0});
  end(0, 0, value("42"));
  EXPECT_THAT(listener->failure_text(), HasSubstr("without saying where its output lies"));
  const auto second = submit(node(1, {shuffle(node(1), 2)}), {0});
  end(1, 0, map_output("A", 3));
  EXPECT_THAT(second->failure_text(), HasSubstr("does not fit"));
  EXPECT_THAT(fatal_, IsEmpty());
}

}  // namespace
}  // namespace tenon::dag::testing
