/// @file checkpoint.hpp
/// The code of checkpoints: writing an Rdd's partitions to files, and reading them instead of its
/// lineage. Not for programs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tenon/detail/driver.hpp"
#include "tenon/detail/kept.hpp"
#include "tenon/detail/object_file.hpp"
#include "tenon/detail/registry.hpp"

namespace tenon::detail {

/// What takes the place of a lineage, and the action of the job that makes it.
struct CheckpointCode {
  Operator make;
  Operator read;
  Operator keeper{};  ///< of a local one
};

/// The folder of the node's files. Throws Error (invalid_argument) without a checkpoint directory.
TENON_API std::string checkpoint_folder(Driver& driver, const rdd::NodePtr& node);
TENON_API void set_checkpoint_dir(Driver& driver, const std::string& directory);
/// folder: empty for a local checkpoint.
TENON_API void mark_checkpoint(Driver& driver, const rdd::NodePtr& node, std::string folder,
                               CheckpointCode code);
TENON_API bool is_checkpointed(const rdd::NodePtr& node);

/// The file of a partition.
TENON_API std::string checkpoint_part(const std::string& folder, int32_t partition);
/// In a task. Throws Error (input_output), which names the file.
TENON_API void write_checkpoint(const std::string& folder, int32_t partition,
                                const std::string& type,
                                const std::function<void(const ByteSink&)>& fill);
[[noreturn]] TENON_API void throw_lost_checkpoint(int32_t partition);

template <class T>
class CheckpointOperator final : public RddOperator {
 public:
  explicit CheckpointOperator(std::string_view bytes) : folder_(decode<std::string>(bytes)) {}
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<ObjectFileStream<T>>(checkpoint_part(folder_, partition), context);
  }

 private:
  std::string folder_;
};

/// Opens the partition, which the storage level makes the executor keep.
class LocalCheckpointAction final : public ActionOperator {
 public:
  explicit LocalCheckpointAction(std::string_view) {}
  std::string run(StreamBase&, const TaskContext&) const override { return {}; }
};

/// Asked for only when the kept partition is lost.
template <class T>
class LocalCheckpointOperator final : public RddOperator {
 public:
  explicit LocalCheckpointOperator(std::string_view) {}
  StreamPtr open(PartitionContext&, int32_t partition) const override {
    throw_lost_checkpoint(partition);
  }
};

template <class T>
CheckpointCode checkpoint_code(const std::string& folder) {
  if (folder.empty()) {
    return {operator_of<LocalCheckpointAction>(), operator_of<LocalCheckpointOperator<T>>(),
            keeper_of<T>()};
  }
  return {operator_of<WriteRecordsAction<T, &write_checkpoint>>(encode(folder)),
          operator_of<CheckpointOperator<T>>(encode(folder)),
          {}};
}

}  // namespace tenon::detail
