/// @file driver.hpp
/// What the templates of the program API ask of the running context. Not for programs.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/detail/lineage.hpp"
#include "tenon/export.hpp"
#include "tenon/storage_level.hpp"

namespace tenon::detail {

class Driver;  // the inside of a Context; outlives it where an Rdd does
using DriverPtr = std::shared_ptr<Driver>;

using Location = std::source_location;
/// Without a place when that one lies in the standard library.
TENON_API CallSite call_site(const char* operation, const Location& location);
/// Without a place: an operation with values after its function.
TENON_API CallSite call_site(const char* operation);

/// A number of partitions that an operation cannot take (invalid_argument).
[[noreturn]] TENON_API void throw_bad_partitions(const char* operation, int32_t given);
/// An argument that an operation cannot take (invalid_argument): "operation: why".
[[noreturn]] TENON_API void throw_bad_argument(const char* operation, const std::string& why);
/// An Rdd without the record that an action needs (invalid_argument).
[[noreturn]] TENON_API void throw_empty(const char* operation);
/// A range whose step is 0 (invalid_argument).
[[noreturn]] TENON_API void throw_zero_step();

/// All of these throw tenon::Error: (stopped) after Context::stop(), (invalid_argument) within a
/// task.

/// Adds a node to the lineage; its id is given here.
TENON_API rdd::NodePtr add_node(Driver& driver, rdd::NodeSpec spec);
/// A shuffle dependency with an id of its own.
TENON_API rdd::ShufflePtr add_shuffle(Driver& driver, rdd::ShuffleDependency shuffle);

TENON_API int32_t partition_count(const rdd::NodePtr& node);
TENON_API int32_t node_id(const rdd::NodePtr& node);
TENON_API std::optional<rdd::Partitioner> partitioner_of(const rdd::NodePtr& node);
TENON_API std::string node_name(const rdd::NodePtr& node);
TENON_API void set_node_name(const rdd::NodePtr& node, std::string name);
/// Throws Error (invalid_argument) when the node is kept at another level.
/// keeper: a KeepOperator of the node's type.
TENON_API void persist_node(Driver& driver, const rdd::NodePtr& node, StorageLevel level,
                            const Operator& keeper);
TENON_API void unpersist_node(Driver& driver, const rdd::NodePtr& node);
TENON_API StorageLevel storage_level(const rdd::NodePtr& node);
TENON_API std::string debug_string(const rdd::NodePtr& node);

/// tenon.default.parallelism when it is set, else what the backend said.
TENON_API int32_t default_parallelism(Driver& driver);
/// How a shuffle over these parents spreads keys, where the program does not say (contract C26.4).
TENON_API rdd::Partitioner default_partitioner(Driver& driver,
                                               std::initializer_list<rdd::NodePtr> parents);

struct JobSpec {
  rdd::NodePtr node;
  Operator action;
  std::vector<int32_t> partitions;
  CallSite call_site;
};
/// Called once per position with the encoded value of its partition, one at a time, in the order of
/// arrival.
using ResultHandler = std::function<void(int32_t position, std::string_view value)>;

/// Runs a job and waits for it; the handler runs on the caller's thread. Throws the job's error.
TENON_API void run_job(Driver& driver, JobSpec spec, const ResultHandler& handler);

/// A job that runs while the caller goes on.
class TENON_API JobHandle {
 public:
  virtual ~JobHandle();
  virtual void cancel(const std::string& reason) = 0;
  [[nodiscard]] virtual bool completed() const = 0;
  /// Until it has ended; throws its error.
  virtual void wait() = 0;
  [[nodiscard]] virtual int32_t id() const = 0;
};
/// The handler runs on a thread of the driver's.
TENON_API std::shared_ptr<JobHandle> submit_job(Driver& driver, JobSpec spec,
                                                ResultHandler handler);

/// A job that runs the map side of the shuffle that the node reads, and nothing else; on_bytes is
/// called with the bytes of each reduce partition before the job ends. Throws Error
/// (invalid_argument) when the node reads no shuffle or several, or its parent has no partitions.
TENON_API std::shared_ptr<JobHandle> submit_map_stage(
    Driver& driver, const rdd::NodePtr& node, CallSite call_site,
    std::function<void(std::vector<uint64_t>)> on_bytes);

/// Calls run with the first partition, then with further ones, tenon.rdd.limit.scaleUpFactor times
/// as many as before, until there is none left or it returns false.
TENON_API void in_waves(Driver& driver, const rdd::NodePtr& node,
                        const std::function<bool(std::vector<int32_t> partitions)>& run);

/// All partitions of a node.
TENON_API std::vector<int32_t> all_partitions(const rdd::NodePtr& node);

/// What the records of text files are.
enum class FileRecords { lines, line_views, lines_with_offsets, whole_files };
TENON_API Operator file_operator(FileRecords records);

/// Input files as an Rdd: files, folders and globs, in splits.
struct FileSource {
  const char* operation;
  std::vector<std::string> paths;
  bool comma_lists = true;     ///< a path may be several with commas between
  int32_t min_partitions = 0;  ///< 0: the smaller of default_parallelism() and 2
  Operator op{};
  uint64_t record_bytes = 1;  ///< a file is cut at multiples only; 0: not at all
  bool keep_empty = false;    ///< files without a byte have a record, too
};
TENON_API rdd::NodePtr add_files(Driver& driver, FileSource source, CallSite call_site);

/// A folder of part files, in the driver: write_parts runs the job whose tasks write them, then
/// they get their names, and _SUCCESS comes last. A job that fails leaves nothing. Throws Error
/// (input_output) when the directory exists, before write_parts is called.
TENON_API void save_output(const std::string& directory, int32_t partitions,
                           const std::function<void()>& write_parts);

/// One part file of one attempt, in a task.
class TENON_API TextPart {
 public:
  TextPart(const std::string& directory, int32_t partition);
  ~TextPart();
  TextPart(const TextPart&) = delete;
  TextPart& operator=(const TextPart&) = delete;
  /// The text of the next line is appended here; then end_line().
  std::string& buffer() { return buffer_; }
  void end_line() {
    buffer_.push_back('\n');
    if (buffer_.size() >= kFlushBytes) flush();
  }
  /// The whole part becomes visible to save_output() at once.
  void commit();

 private:
  static constexpr size_t kFlushBytes = size_t{1} << 18;
  void flush();

  std::string temporary_, final_;
  std::string buffer_;
  int fd_ = -1;
};

}  // namespace tenon::detail
