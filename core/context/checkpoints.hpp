// Which Rdds are to be checkpointed, and where (contract C15.11).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rdd/node.hpp"
#include "tenon/detail/checkpoint.hpp"

namespace tenon::context {

// [any-thread]
class Checkpoints {
 public:
  // Runs the job that makes one, over all partitions of the node; throws its error.
  using RunJob = std::function<void(const rdd::NodePtr& node, const detail::Operator& make)>;
  // Runs work on the scheduler loop's thread and waits for it.
  using OnLoop = std::function<void(const std::function<void()>& work)>;

  // Makes a new folder in this one. Throws Error (input_output).
  void set_directory(const std::string& directory);
  // Of the node, in the folder that was made. Throws Error (invalid_argument) when there is none.
  [[nodiscard]] std::string folder_of(const rdd::Node& node) const;

  // folder: empty for a local checkpoint. Once a node; the last mark before the job counts.
  void mark(const rdd::NodePtr& node, std::string folder, detail::CheckpointCode code);
  // A job on the node has succeeded: makes the checkpoints that are marked in its lineage, parents
  // first, and cuts it there. A node whose checkpoint fails stays marked.
  void make(const rdd::NodePtr& node, const RunJob& run_job, const OnLoop& on_loop);

 private:
  struct Mark {
    std::weak_ptr<const rdd::Node> node;
    std::string folder;
    detail::CheckpointCode code;
  };
  std::vector<Mark> take_within(const rdd::NodePtr& node);
  void put_back(std::vector<Mark> marks);

  mutable std::mutex mutex_;  // guards the two below
  std::string directory_;
  std::vector<Mark> marks_;
  std::atomic<bool> any_{false};  // marks_ is not empty
};

}  // namespace tenon::context
