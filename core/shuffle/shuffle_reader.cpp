#include "shuffle/shuffle_reader.hpp"

#include <chrono>
#include <utility>

#include "common/task_metrics.hpp"

namespace tenon::shuffle {
namespace {

class ShuffleReader final : public detail::ShuffleInput {
 public:
  ShuffleReader(int32_t shuffle, int32_t reduce, MapOutputsPtr outputs,
                ReaderEnvironment environment)
      : shuffle_(shuffle),
        reduce_(reduce),
        outputs_(std::move(outputs)),
        environment_(std::move(environment)) {
    for (size_t map = 0; map < outputs_->statuses.size(); ++map) {
      if (!outputs_->statuses[map]) {
        fail(map, nullptr, "the output of map " + std::to_string(map) + " is not available");
      }
    }
  }

  std::optional<detail::ShuffleBlock> next() override {
    while (next_ < outputs_->statuses.size()) {
      const size_t map = next_++;
      const task::MapStatus& status = *outputs_->statuses[map];
      const auto reduce = static_cast<size_t>(reduce_);
      if (reduce >= status.sizes.size()) {
        fail(map, &status, "the map output has no such reduce partition");
      }
      if (status.sizes[reduce] == 0) continue;
      environment_.task.throw_if_killed();
      FetchedBlock fetched = fetch(map, status);
      add_metric(environment_.metrics.shuffle_read_bytes, uint64_t{fetched.block.bytes.size()});
      add_metric(environment_.metrics.shuffle_read_records, fetched.records);
      return std::move(fetched.block);
    }
    return std::nullopt;
  }

 private:
  FetchedBlock fetch(size_t map, const task::MapStatus& status) {
    const auto start = std::chrono::steady_clock::now();
    std::optional<FetchedBlock> fetched;
    try {
      fetched = status.location.executor_id == environment_.executor_id ? fetch_local(status)
                                                                        : fetch_remote(status);
    } catch (const std::exception& error) {
      fail(map, &status, error.what());
    }
    if (!fetched) fail(map, &status, "the block is not there");
    const auto waited = std::chrono::steady_clock::now() - start;
    add_metric(environment_.metrics.fetch_wait_ns,
               int64_t{std::chrono::duration_cast<std::chrono::nanoseconds>(waited).count()});
    return std::move(*fetched);
  }

  [[nodiscard]] std::optional<FetchedBlock> fetch_local(const task::MapStatus& status) const {
    storage::MapOutputPtr output = environment_.blocks.map_output(shuffle_, status.map_id);
    const auto reduce = static_cast<size_t>(reduce_);
    if (!output || reduce >= output->blocks.size()) return std::nullopt;
    FetchedBlock fetched;
    fetched.block.bytes = output->blocks[reduce];
    fetched.records = output->records[reduce];
    fetched.block.keep = std::move(output);
    return fetched;
  }

  [[nodiscard]] std::optional<FetchedBlock> fetch_remote(const task::MapStatus& status) const {
    if (environment_.transfer == nullptr) {
      throw Error(ErrorKind::internal, "this executor has no way to get blocks of another one");
    }
    return environment_.transfer->fetch(status.location, shuffle_, status.map_id, reduce_);
  }

  [[noreturn]] void fail(size_t map, const task::MapStatus* status, const std::string& why) const {
    task::FetchFailed failure;
    failure.shuffle_id = shuffle_;
    failure.map_index = static_cast<int32_t>(map);
    failure.reduce_id = reduce_;
    failure.message = "Cannot fetch the block of map " + std::to_string(map) + ", reduce " +
                      std::to_string(reduce_) + " of shuffle " + std::to_string(shuffle_);
    if (status != nullptr) {
      failure.address = status->location;
      failure.map_id = static_cast<int64_t>(status->map_id);
      failure.message +=
          " from executor " + status->location.executor_id + " on " + status->location.host;
    }
    failure.message += ": " + why;
    if (environment_.on_failure) environment_.on_failure(failure);
    throw FetchFailedError(std::move(failure));
  }

  const int32_t shuffle_, reduce_;
  const MapOutputsPtr outputs_;
  const ReaderEnvironment environment_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<detail::ShuffleInput> make_shuffle_reader(int32_t shuffle, int32_t reduce,
                                                          MapOutputsPtr outputs,
                                                          ReaderEnvironment environment) {
  return std::make_unique<ShuffleReader>(shuffle, reduce, std::move(outputs),
                                         std::move(environment));
}

}  // namespace tenon::shuffle
