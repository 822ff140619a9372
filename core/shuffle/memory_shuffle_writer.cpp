#include <utility>

#include "common/task_metrics.hpp"
#include "shuffle/shuffle_writer.hpp"

namespace tenon::shuffle {
namespace {

class MemoryShuffleWriter final : public ShuffleWriter {
 public:
  MemoryShuffleWriter(const MapOutputId& id, task::BlockManagerId location,
                      storage::BlockManager& blocks, TaskMetrics& metrics)
      : id_(id), location_(std::move(location)), blocks_(blocks), metrics_(metrics) {
    output_->blocks.resize(static_cast<size_t>(id.reduces));
    output_->records.resize(static_cast<size_t>(id.reduces));
  }

  void append(int32_t reduce, std::string bytes, uint64_t records) override {
    if (reduce < 0 || reduce >= id_.reduces) {
      throw Error(ErrorKind::invalid_argument,
                  "A record goes to reduce partition " + std::to_string(reduce) + " of shuffle " +
                      std::to_string(id_.shuffle_id) + ", which has " +
                      std::to_string(id_.reduces) + "; correct the partitioner");
    }
    add_metric(metrics_.shuffle_write_bytes, uint64_t{bytes.size()});
    add_metric(metrics_.shuffle_write_records, records);
    std::string& block = output_->blocks[static_cast<size_t>(reduce)];
    if (block.empty()) {
      block = std::move(bytes);
    } else {
      block.append(bytes);
    }
    output_->records[static_cast<size_t>(reduce)] += records;
  }

  task::MapStatus commit() override {
    task::MapStatus status;
    status.location = std::move(location_);
    status.map_id = id_.map_id;
    status.sizes.reserve(output_->blocks.size());
    for (const std::string& block : output_->blocks) status.sizes.push_back(block.size());
    blocks_.put_map_output(id_.shuffle_id, id_.map_id, std::move(output_));
    return status;
  }

 private:
  const MapOutputId id_;
  task::BlockManagerId location_;
  storage::BlockManager& blocks_;
  TaskMetrics& metrics_;
  std::shared_ptr<storage::MapOutput> output_ = std::make_shared<storage::MapOutput>();
};

}  // namespace

std::unique_ptr<ShuffleWriter> make_memory_shuffle_writer(const MapOutputId& id,
                                                          task::BlockManagerId location,
                                                          storage::BlockManager& blocks,
                                                          TaskMetrics& metrics) {
  return std::make_unique<MemoryShuffleWriter>(id, std::move(location), blocks, metrics);
}

}  // namespace tenon::shuffle
