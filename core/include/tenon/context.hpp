/// @file context.hpp
/// The entry of a program: its connection to the executors.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "tenon/accumulator.hpp"
#include "tenon/broadcast.hpp"
#include "tenon/conf.hpp"
#include "tenon/csv.hpp"
#include "tenon/detail/binary.hpp"
#include "tenon/detail/object_file.hpp"
#include "tenon/json.hpp"
#include "tenon/listener.hpp"
#include "tenon/rdd.hpp"
#include "tenon/status_tracker.hpp"

namespace tenon {

/// What a program sets for itself; whatever its user asks for wins (command line, TENON_*
/// variables, tenon.conf).
struct Defaults {
  std::string app = {};     ///< tenon.app.name; empty: the program's file name
  std::string master = {};  ///< tenon.master; empty: the build's default, all cores of this machine
};

/// An application. One may be active in a process at a time; after stop() another can be made. The
/// first statement of main makes it:
/// @code tenon::Context ctx(argc, argv, {.app = "wordcount", .master = "local[4]"});
/// @endcode Its functions are safe to call from several threads; each thread has local properties
///   of its own. A terminate handler is installed: an error that leaves main is printed and ends
///   with its documented exit code.
class TENON_API Context {
 public:
  using Location = detail::Location;

  /// Starts the application: settings, plugin, scheduler. In an executor process it never returns.
  /// @throws Error usage (settings, master URL), plugin, unreachable, or invalid_argument when a
  ///   context is active: the text says where that one was made
  Context(int argc, char** argv, Defaults defaults = {}, Location location = Location::current());
  /// The same with settings from code, which win over all others.
  explicit Context(const Conf& conf, Defaults defaults = {},
                   Location location = Location::current());
  /// stop().
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// The active context, or a new one made from conf.
  static std::shared_ptr<Context> get_or_create(const Conf& conf = {},
                                                Location location = Location::current());

  /// Ends the application: running jobs fail, executors end, listeners get what is due. Idempotent.
  /// @throws Error (invalid_argument) from a listener or a task
  void stop();
  [[nodiscard]] bool stopped() const;

  // ----------------------------------------------------------------------------- sources

  /// The values in partitions of about equal size, in order.
  /// @param partitions 0: default_parallelism()
  template <class T>
  [[nodiscard]] Rdd<T> parallelize(const std::vector<T>& values, int32_t partitions = 0,
                                   Location location = Location::current());

  /// first, first + step, ... up to but without end. No record is sent.
  /// @throws Error (invalid_argument) when step is 0
  template <std::integral T>
  [[nodiscard]] Rdd<T> range(T first, T end, T step = 1, int32_t partitions = 0,
                             Location location = Location::current());

  /// The lines of text files: a file, a folder (with its sub-folders), a glob, or several with
  /// commas between. Names that begin with `.` or `_` are left out within folders and globs. A line
  /// ends at \n or \r\n, which are not part of it. Large files are cut in splits at line ends,
  /// small ones gathered. T: std::string, or std::string_view for records that live within their
  /// stage and cost nothing. Files whose names end in .gz, .zst or .lz4 are decompressed; each is
  /// one split.
  /// @param min_partitions 0: the smaller of default_parallelism() and 2
  /// @throws Error (input_output) at the first use when a path is missing or unreadable: the text
  ///   names it
  template <class T = std::string>
    requires(std::same_as<T, std::string> || std::same_as<T, std::string_view>)
  [[nodiscard]] Rdd<T> text_file(const std::string& paths, int32_t min_partitions = 0,
                                 Location location = Location::current()) {
    return Rdd<T>(driver_, add_text("text_file", {paths}, true, min_partitions,
                                    detail::call_site("text_file", location), line_form<T>()));
  }
  /// The same for several files, folders and globs, one an element: a comma is a character like any
  /// other.
  template <class T = std::string>
    requires(std::same_as<T, std::string> || std::same_as<T, std::string_view>)
  [[nodiscard]] Rdd<T> text_file(std::vector<std::string> paths, int32_t min_partitions = 0,
                                 Location location = Location::current()) {
    return Rdd<T>(driver_, add_text("text_file", std::move(paths), false, min_partitions,
                                    detail::call_site("text_file", location), line_form<T>()));
  }

  /// The lines of text files, each with the offset in its file at which it begins (in its text when
  /// it is compressed): (offset, line). Otherwise as text_file().
  [[nodiscard]] Rdd<std::pair<uint64_t, std::string>> text_file_with_offsets(
      const std::string& paths, int32_t min_partitions = 0,
      Location location = Location::current());

  /// (path, text) of each file, empty ones too; for many small files. Paths as for text_file().
  /// @param min_partitions 0: the smaller of default_parallelism() and 2
  [[nodiscard]] Rdd<std::pair<std::string, std::string>> whole_text_files(
      const std::string& paths, int32_t min_partitions = 0,
      Location location = Location::current());

  /// Records of record_bytes bytes each, one after another in the files. Paths as for text_file().
  /// @throws Error (invalid_argument) when record_bytes is 0; (input_output) at the first use when
  /// a
  ///   file's size is no multiple of it, or a file is compressed
  [[nodiscard]] Rdd<std::string> binary_records(const std::string& paths, uint64_t record_bytes,
                                                int32_t min_partitions = 0,
                                                Location location = Location::current());
  /// Values of T one after another in the files, as this machine holds them in memory: numbers, and
  /// aggregates of nothing but these. Otherwise as above.
  template <class T>
  [[nodiscard]] Rdd<T> binary_records(const std::string& paths, int32_t min_partitions = 0,
                                      Location location = Location::current()) {
    static_assert(detail::PlainCodec<T>,
                  "binary_records: the element type must be a number or an aggregate of numbers; "
                  "read records of bytes with binary_records(paths, record_bytes) instead");
    return Rdd<T>(
        driver_,
        add_records(paths, sizeof(T), min_partitions, detail::call_site("binary_records", location),
                    detail::operator_of<detail::BinaryOperator<T>>(encode<uint64_t>(sizeof(T)))));
  }

  /// The rows of CSV files (RFC 4180). Paths, compressed files and partitions as for text_file(). A
  /// quoted field that holds a line end is an error unless options say multi_line, so that large
  /// files can be cut at line ends; blank lines are no rows. All rows of a file have as many fields
  /// as its first one unless options say ragged.
  /// @throws Error (invalid_argument) for options that contradict each other; (input_output) at the
  ///   first use when a path is missing or unreadable. The job fails for what is no CSV, with an
  ///   error that names the file, the line and, where it can, the column
  [[nodiscard]] Rdd<CsvRow> csv_file(const std::string& paths, const CsvOptions& options = {},
                                     int32_t min_partitions = 0,
                                     Location location = Location::current());

  /// The JSON values of files that have one on each line. Paths, compressed files and partitions as
  /// for text_file(). Blank lines are none.
  /// @throws Error (input_output) at the first use when a path is missing or unreadable. The job
  ///   fails for a line that is no JSON value, or holds an integer beyond 64 bits, with an error
  ///   that names the file, the line and the cause
  [[nodiscard]] Rdd<JsonRecord> json_lines(const std::string& paths, int32_t min_partitions = 0,
                                           Location location = Location::current());

  /// What Rdd::save_as_object_file() wrote: the same records in the same partitions, one for each
  /// file (coalesce() makes fewer). Paths as for text_file(). A folder must have its file _SUCCESS,
  /// without which what wrote it did not come to its end; the files of one that has none can be
  /// read by their names, as "DIR/part-*".
  /// @tparam T the type that was saved, or one with the same fields of the same types
  /// @throws Error (input_output) at the first use when a path is missing or unreadable, or a
  ///   folder has no _SUCCESS. The job fails, with an error that names the file, for one that is
  ///   cut short, damaged, no object file, of another type of records, or of a later version
  template <class T>
  [[nodiscard]] Rdd<T> object_file(const std::string& paths,
                                   Location location = Location::current()) {
    static_assert(
        Encodable<detail::owned_t<T>>,
        "object_file: the element type needs a tenon::Codec: add TENON_FIELDS(members...) "
        "to the class, or specialise tenon::Codec");
    return Rdd<T>(driver_, add_object_files(paths, detail::call_site("object_file", location),
                                            detail::operator_of<detail::ObjectFileOperator<T>>()));
  }

  /// No record, no partition.
  template <class T>
  [[nodiscard]] Rdd<T> empty(Location location = Location::current()) {
    rdd::NodeSpec spec;
    spec.call_site = detail::call_site("empty", location);
    spec.op = detail::operator_of<detail::EmptyOperator<T>>();
    spec.partitions = [] { return rdd::Partitions(); };
    return Rdd<T>(driver_, detail::add_node(*driver_, std::move(spec)));
  }

  // ----------------------------------------------------------------------------- shared values

  /// Makes a value that every executor gets once.
  template <Encodable T>
  [[nodiscard]] Broadcast<T> broadcast(T value) {
    auto shared = std::make_shared<const T>(std::move(value));
    const uint64_t id = detail::add_broadcast(*driver_, encode(*shared));
    return Broadcast<T>(driver_, id, std::move(shared));
  }

  /// Makes a value that tasks add to: of a Gathering, as `ctx.accumulator<tenon::Max<int>>()`, or
  /// the sum of any type with operator+= and a Codec, as `ctx.accumulator<int64_t>()`.
  /// @param name shown with the stages whose tasks add to it; empty: not shown
  template <class A>
  [[nodiscard]] Accumulator<A> accumulator(const std::string& name = {}) {
    return Accumulator<A>(driver_, name);
  }

  /// Where Rdd::checkpoint() writes: in a new folder in this one, which is made when it is not
  /// there. All executors must see it under the same path. The files stay when the application
  /// ends.
  /// @throws Error (input_output) when the folder cannot be made
  void set_checkpoint_dir(const std::string& directory) {
    detail::set_checkpoint_dir(*driver_, directory);
  }

  // ----------------------------------------------------------------------------- jobs

  /// Runs f(Records<T>&) on partitions of an Rdd, any subset in any order, and calls
  /// handler(position, value) for each, one at a time, on this thread. Position is the index into
  /// `partitions`.
  /// @throws Error (invalid_argument) for a partition that does not exist; no job is made then
  template <class T, class F, class Handler>
  void run_job(const Rdd<T>& rdd, F f, std::vector<int32_t> partitions, Handler handler,
               Location location = Location::current());

  /// A property for the jobs that this thread submits from now on; nullopt removes it.
  void set_local_property(const std::string& key, std::optional<std::string> value);
  [[nodiscard]] std::optional<std::string> local_property(const std::string& key) const;
  /// All of this thread's: to hand over to a thread that it starts.
  [[nodiscard]] Properties local_properties() const;
  void set_local_properties(Properties properties);

  /// Puts the jobs that this thread submits from now on into a group that can be cancelled
  /// together.
  void set_job_group(const std::string& group, const std::string& description,
                     bool interrupt_on_cancel = false);
  void clear_job_group();
  /// Tags of the jobs that this thread submits from now on. @throws Error (invalid_argument) for an
  /// empty tag, or one with a comma
  void add_job_tag(const std::string& tag);
  void remove_job_tag(const std::string& tag);
  void clear_job_tags();
  [[nodiscard]] std::vector<std::string> job_tags() const;

  /// Each asks for the end of active jobs; jobs submitted later are not touched. Unknown ids:
  /// nothing.
  void cancel_job(int32_t job, const std::string& reason = {});
  void cancel_stage(int32_t stage, const std::string& reason = {});
  void cancel_job_group(const std::string& group);
  void cancel_jobs_with_tag(const std::string& tag);
  void cancel_all_jobs();
  /// Ends one running task attempt, which then runs again. False when it is unknown.
  bool kill_task_attempt(uint64_t task_id, const std::string& reason = "killed by the program");

  // ----------------------------------------------------------------------------- about the
  // application

  /// Gets all events from now on.
  void add_listener(std::shared_ptr<Listener> listener);
  [[nodiscard]] StatusTracker status() const;
  [[nodiscard]] int32_t default_parallelism() const;
  [[nodiscard]] std::string application_id() const;
  [[nodiscard]] std::optional<std::string> application_attempt_id() const;
  [[nodiscard]] std::string master() const;
  [[nodiscard]] std::string app_name() const;
  /// A setting as it was resolved; nothing for an unknown key.
  [[nodiscard]] std::optional<std::string> setting(const std::string& key) const;

  /// For the templates of this library.
  [[nodiscard]] const detail::DriverPtr& driver() const { return driver_; }

 private:
  template <class T>
  static constexpr detail::FileRecords line_form() {
    return std::same_as<T, std::string> ? detail::FileRecords::lines
                                        : detail::FileRecords::line_views;
  }
  rdd::NodePtr add_text(const char* operation, std::vector<std::string> paths, bool comma_lists,
                        int32_t min_partitions, CallSite site, detail::FileRecords records);
  rdd::NodePtr add_records(const std::string& paths, uint64_t record_bytes, int32_t min_partitions,
                           CallSite site, detail::Operator op);
  rdd::NodePtr add_parsed(const char* operation, const std::string& paths, bool cut,
                          int32_t min_partitions, Location location, detail::Operator op);
  rdd::NodePtr add_object_files(const std::string& paths, CallSite site, detail::Operator op);

  detail::DriverPtr driver_;
};

template <class T>
Rdd<T> Context::parallelize(const std::vector<T>& values, int32_t partitions, Location location) {
  static_assert(Encodable<T>,
                "parallelize: the element type needs a tenon::Codec: add TENON_FIELDS(members...) "
                "to the class, or specialise "
                "tenon::Codec");
  if (partitions < 0) detail::throw_bad_partitions("parallelize", partitions);
  const auto n = static_cast<size_t>(partitions == 0 ? default_parallelism() : partitions);
  auto slices = std::make_shared<rdd::Partitions>(n);
  for (size_t p = 0; p < n; ++p) {
    const size_t from = values.size() * p / n, to = values.size() * (p + 1) / n;
    ByteWriter out((*slices)[p].data);
    out.size(to - from);
    for (size_t i = from; i < to; ++i) Codec<T>::write(out, values[i]);
  }
  rdd::NodeSpec spec;
  spec.call_site = detail::call_site("parallelize", location);
  spec.op = detail::operator_of<detail::SliceOperator<T>>();
  spec.partitions = [slices] { return std::move(*slices); };
  return Rdd<T>(driver_, detail::add_node(*driver_, std::move(spec)));
}

template <std::integral T>
Rdd<T> Context::range(T first, T end, T step, int32_t partitions, Location location) {
  if (step == 0) detail::throw_zero_step();
  if (partitions < 0) detail::throw_bad_partitions("range", partitions);
  // Of 64 bits for all types, in which a difference wraps to what it should be.
  const auto from = static_cast<uint64_t>(first), to = static_cast<uint64_t>(end),
             by = static_cast<uint64_t>(step);
  uint64_t count = 0;
  if (step > 0 && first < end) {
    count = (to - from - 1) / by + 1;
  } else if (step < 0 && first > end) {
    count = (from - to - 1) / (0 - by) + 1;
  }
  const int32_t n = partitions == 0 ? default_parallelism() : partitions;
  rdd::NodeSpec spec;
  spec.call_site = detail::call_site("range", location);
  spec.op = detail::operator_of<detail::RangeOperator<T>>(
      encode(detail::RangeSpec<T>{first, step, count, n}));
  spec.partitions = [n] { return rdd::Partitions(static_cast<size_t>(n)); };
  return Rdd<T>(driver_, detail::add_node(*driver_, std::move(spec)));
}

template <class T, class F, class Handler>
void Context::run_job(const Rdd<T>& rdd, F f, std::vector<int32_t> partitions, Handler handler,
                      Location location) {
  TENON_CHECK_FUNCTION(F, "run_job");
  if constexpr (detail::is_shippable_v<F>) {
    static_assert(std::is_invocable_v<const F&, Records<T>&>,
                  "run_job: the function must take tenon::Records<T>& of the Rdd's element type T");
    if constexpr (std::is_invocable_v<const F&, Records<T>&>) {
      using Action = detail::PartitionAction<F, T>;
      using Result = typename Action::Result;
      if constexpr (detail::check_result<Result>()) {
        detail::JobSpec spec{rdd.node(), detail::operator_of<Action>(detail::encode_function(f)),
                             std::move(partitions), detail::call_site("run_job", location)};
        detail::run_job(*driver_, std::move(spec), [&](int32_t position, std::string_view value) {
          handler(position, decode<Result>(value));
        });
      }
    }
  }
}

}  // namespace tenon
