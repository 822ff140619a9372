// Random lineages, orders of completion, fetch failures, executor losses, late and repeated
// completions: every run ends, with exact results, with empty bookkeeping, and never with two live
// attempts of a stage.
#include <algorithm>
#include <cstdlib>

#include "unit/dag/harness.hpp"
#include "unit/dag/random_cluster.hpp"

namespace tenon::dag::testing {
namespace {

// TENON_TEST_SEED moves the range of seeds, for longer hunts.
int seeds_from() {
  const char* text = std::getenv("TENON_TEST_SEED");
  return text == nullptr ? 0 : std::atoi(text);
}

class RandomRuns : public DagTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    random_.seed(static_cast<uint64_t>(GetParam()));
    cluster_ = std::make_unique<RandomCluster>(random_, 4);
    Settings settings;
    settings.max_consecutive_stage_attempts = 10000;
    sink_.events.clear();
    scheduler_ = std::make_unique<DagScheduler>(
        loop_, *cluster_, *tracker_, blocks_, sink_, settings,
        Hooks{{}, [this](const std::string& reason) { fatal_.push_back(reason); }, {}});
    cluster_->attach(*scheduler_, *tracker_);
    make_lineage();
  }
  void TearDown() override {
    DagTest::TearDown();
    EXPECT_TRUE(fatal_.empty()) << fatal_.front();
    EXPECT_TRUE(cluster_->faults.empty()) << cluster_->faults.front();
    scheduler_.reset();  // before the cluster
  }

  size_t pick(size_t count) { return static_cast<size_t>(random_() % count); }
  int32_t any_count() { return static_cast<int32_t>(1 + pick(4)); }

  // Each node has up to three parents among the earlier ones, narrow or behind a shuffle that
  // others may share.
  void make_lineage() {
    const size_t count = 4 + pick(12);
    for (size_t i = 0; i < count; ++i) {
      const int32_t partitions = any_count();
      std::vector<rdd::Dependency> dependencies;
      for (size_t d = i == 0 ? 0 : pick(4); d > 0; --d) {
        const rdd::NodePtr& parent = nodes_[pick(nodes_.size())];
        if (pick(2) == 0) {
          const int32_t parents = parent->partition_count();
          dependencies.emplace_back(rdd::NarrowDependency{
              parent, [parents](int32_t p) { return std::vector<int32_t>{p % parents}; }});
        } else if (!shuffles_.empty() && pick(3) == 0) {
          dependencies.emplace_back(shuffles_[pick(shuffles_.size())]);
        } else {
          shuffles_.push_back(shuffle(parent, partitions));
          dependencies.emplace_back(shuffles_.back());
        }
      }
      nodes_.push_back(node(partitions, std::move(dependencies)));
    }
  }

  void submit_any() {
    if (!shuffles_.empty() && pick(5) == 0) {
      auto listener = std::make_shared<RecordingListener>();
      MapStageRequest request;
      request.id = next_job_++;
      request.shuffle = shuffles_[pick(shuffles_.size())];
      request.listener = listener;
      wanted_.emplace_back(listener, std::vector<int32_t>{});
      scheduler_->post(MapStageSubmitted{Pending(std::move(request))});
      compute(wanted_.back().first);
      return;
    }
    const rdd::NodePtr& last = nodes_[nodes_.size() - 1 - pick(std::min<size_t>(4, nodes_.size()))];
    std::vector<int32_t> partitions;
    for (size_t i = 0; i < 1 + pick(6); ++i) {
      partitions.push_back(
          static_cast<int32_t>(pick(static_cast<size_t>(last->partition_count()))));
    }
    JobRequest request;
    request.id = next_job_++;
    request.node = last;
    request.action.id = 3;
    request.partitions = partitions;
    auto listener = std::make_shared<RecordingListener>();
    listener->handles = pick(2) == 0;
    request.listener = listener;
    wanted_.emplace_back(listener, partitions);
    scheduler_->post(JobSubmitted{Pending(std::move(request))});
    compute(listener);
  }
  void compute(const ListenerPtr& listener) { listeners_.push_back(listener); }

  // Says that results which a listener left open are handled.
  void handle_results() {
    for (size_t job = 0; job < wanted_.size(); ++job) {
      const ListenerPtr& listener = wanted_[job].first;
      if (listener->handles || listener->ends > 0) continue;
      for (const auto& [position, result] : listener->results) {
        scheduler_->post(ResultHandled{static_cast<int32_t>(job), position});
      }
    }
  }

  void one_step(bool calm) {
    switch (pick(calm ? 10 : 16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        cluster_->start_task();
        break;
      case 4:
      case 5:
      case 6:
      case 7:
        cluster_->finish_task();
        break;
      case 8:
        loop_.advance(std::chrono::milliseconds(pick(150)));
        break;
      case 9:
        cluster_->notice_loss();
        cluster_->add_executor();
        handle_results();
        break;
      case 10:
        cluster_->repeat_completion();
        break;
      case 11:
        if (pick(3) == 0) cluster_->kill_executor();
        break;
      case 12:
        cluster_->notice_loss();
        break;
      case 13:
        if (scheduler_->active_jobs().size() < 4) submit_any();
        break;
      case 14:
        if (pick(20) == 0) {
          scheduler_->post(JobCancelled{static_cast<int32_t>(pick(wanted_.size())), {}});
        }
        break;
      default:
        cluster_->add_executor();
        break;
    }
    if (pick(3) == 0) loop_.run();  // else several events come in one batch
  }

  std::mt19937_64 random_;
  std::unique_ptr<RandomCluster> cluster_;
  std::vector<rdd::NodePtr> nodes_;
  std::vector<rdd::ShufflePtr> shuffles_;
  std::vector<std::pair<ListenerPtr, std::vector<int32_t>>> wanted_;  // by job id
};

TEST_P(RandomRuns, EveryRunEndsWithExactResults) {
  submit_any();
  for (int step = 0; step < 1500; ++step) one_step(false);
  const auto all_ended = [this] {
    return std::all_of(wanted_.begin(), wanted_.end(),
                       [](const auto& job) { return job.first->ends > 0; });
  };
  int steps = 0;
  while (!all_ended() && steps < 200000) {
    one_step(true);
    ++steps;
  }
  ASSERT_TRUE(all_ended()) << "seed " << GetParam();
  for (const auto& [listener, partitions] : wanted_) {
    if (!listener->succeeded) {
      EXPECT_EQ(listener->failure->kind(), ErrorKind::cancelled) << listener->failure_text();
      continue;
    }
    ASSERT_EQ(listener->results.size(), partitions.size());
    for (size_t i = 0; i < partitions.size(); ++i) {
      EXPECT_EQ(listener->results.at(static_cast<int32_t>(i)),
                "partition " + std::to_string(partitions[i]));
    }
  }
  while (cluster_->finish_task()) loop_.run();  // what still runs changes nothing
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRuns, ::testing::Range(seeds_from(), seeds_from() + 200));

}  // namespace
}  // namespace tenon::dag::testing
