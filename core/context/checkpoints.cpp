#include "context/checkpoints.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "rdd/part_name.hpp"
#include "rdd/walk.hpp"
#include "storage/object_file.hpp"
#include "tenon/error.hpp"

namespace tenon::context {
namespace {

[[noreturn]] void fail_directory(const std::string& directory, const std::string& why) {
  throw Error(ErrorKind::input_output,
              "checkpoint directory " + directory + " cannot be made: " + why);
}

void check_part_count(const std::string& folder, int32_t expected) {
  std::error_code error;
  int32_t found = 0;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename().string().starts_with(rdd::kPartPrefix)) ++found;
  }
  // Rdds without partitions have no file, nor a folder.
  if (found == expected && (!error || expected == 0)) return;
  throw Error(ErrorKind::input_output, "checkpoint " + folder + " has " + std::to_string(found) +
                                           " parts, its Rdd has " + std::to_string(expected) +
                                           " partitions; do all executors see the same folder?");
}

}  // namespace

void Checkpoints::set_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) fail_directory(directory, error.message());
  std::string made = std::filesystem::absolute(directory) / "checkpoint-XXXXXX";
  if (::mkdtemp(made.data()) == nullptr) fail_directory(directory, std::strerror(errno));
  const std::lock_guard lock(mutex_);
  directory_ = std::move(made);
}

std::string Checkpoints::folder_of(const rdd::Node& node) const {
  const std::lock_guard lock(mutex_);
  if (directory_.empty()) {
    throw Error(ErrorKind::invalid_argument,
                "checkpoint: no directory was set; call Context::set_checkpoint_dir() first");
  }
  return directory_ + "/rdd-" + std::to_string(node.id());
}

void Checkpoints::mark(const rdd::NodePtr& node, std::string folder, detail::CheckpointCode code) {
  const std::lock_guard lock(mutex_);
  if (node->checkpointed()) return;
  std::erase_if(marks_, [&](const Mark& mark) {
    const rdd::NodePtr other = mark.node.lock();
    return other == nullptr || other == node;
  });
  marks_.push_back({node, std::move(folder), std::move(code)});
  any_ = true;
}

std::vector<Checkpoints::Mark> Checkpoints::take_within(const rdd::NodePtr& node) {
  std::unordered_map<const rdd::Node*, size_t> place;
  const auto lineage = rdd::parents_first(*node, rdd::Reach::lineage);
  for (size_t i = 0; i < lineage.size(); ++i) place.emplace(lineage[i], i);
  std::vector<std::pair<size_t, Mark>> found;
  const std::lock_guard lock(mutex_);
  std::erase_if(marks_, [&](Mark& mark) {
    const rdd::NodePtr marked = mark.node.lock();
    if (marked == nullptr) return true;
    const auto at = place.find(marked.get());
    if (at == place.end()) return false;
    found.emplace_back(at->second, std::move(mark));
    return true;
  });
  any_ = !marks_.empty();
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Mark> marks;
  marks.reserve(found.size());
  for (auto& [at, mark] : found) marks.push_back(std::move(mark));
  return marks;
}

void Checkpoints::put_back(std::vector<Mark> marks) {
  const std::lock_guard lock(mutex_);
  for (Mark& mark : marks) marks_.push_back(std::move(mark));
  any_ = !marks_.empty();
}

void Checkpoints::make(const rdd::NodePtr& node, const RunJob& run_job, const OnLoop& on_loop) {
  if (!any_) return;
  std::vector<Mark> marks;
  {
    const rdd::LineageReader reader;
    marks = take_within(node);
  }
  for (size_t i = 0; i < marks.size(); ++i) {
    const rdd::NodePtr marked = marks[i].node.lock();
    if (!marked) continue;
    try {
      run_job(marked, marks[i].code.make);
      if (!marks[i].folder.empty()) check_part_count(marks[i].folder, marked->partition_count());
    } catch (...) {
      put_back({std::make_move_iterator(marks.begin() + static_cast<std::ptrdiff_t>(i)),
                std::make_move_iterator(marks.end())});
      throw;
    }
    const rdd::Node::Lineage old = rdd::cut_lineage(*marked, marks[i].code.read, on_loop);
  }
}

}  // namespace tenon::context

namespace tenon::detail {

std::string checkpoint_part(const std::string& folder, int32_t partition) {
  return folder + "/" + rdd::part_name(partition);
}

void write_checkpoint(const std::string& folder, int32_t partition, const std::string& type,
                      const std::function<void(const ByteSink&)>& fill) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw Error(ErrorKind::input_output,
                "checkpoint folder " + folder + " cannot be made: " + error.message());
  }
  storage::write_object_file(checkpoint_part(folder, partition), type, fill);
}

void throw_lost_checkpoint(int32_t partition) {
  throw FatalError(ErrorKind::job_failed,
                   "Partition " + std::to_string(partition) +
                       " of a local checkpoint is lost: its executor ended, or unpersist() dropped "
                       "it. Its lineage is gone too; use checkpoint() with "
                       "Context::set_checkpoint_dir() for data that must survive executors");
}

}  // namespace tenon::detail
