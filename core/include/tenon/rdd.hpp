/// @file rdd.hpp Rdd<T>: a data set in partitions, described by the steps that make it. Nothing
///   runs before an action.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "tenon/detail/action.hpp"
#include "tenon/detail/checkpoint.hpp"
#include "tenon/detail/driver.hpp"
#include "tenon/detail/kept.hpp"
#include "tenon/detail/narrow.hpp"
#include "tenon/detail/wide.hpp"
#include "tenon/error.hpp"
#include "tenon/pair_rdd.hpp"
#include "tenon/rdd_actions.hpp"
#include "tenon/storage_level.hpp"

namespace tenon {

/// A data set of records of type T in partitions: a cheap value, a handle on its lineage.
/// Operations return new ones and run nothing; an action runs a job. Functions given to it must be
/// able to travel (docs/closures.md): a stateless lambda, a named function (`tenon::fn<f>` or `f`),
/// a class with TENON_FIELDS; values follow the function instead of being captured: `map([](int x,
/// int k) { return x * k; }, k)`. A record is handed to a function as an rvalue, so `T`, `const T&`
/// and `T&&` parameters do.
///
/// Records of type std::string_view (text_file<std::string_view>) live within their stage; at a
/// shuffle, a collect or a cache they become std::string by themselves, alone or inside a pair or
/// tuple.
///
/// Errors: all operations throw tenon::Error with kind stopped after Context::stop(), and
/// invalid_argument when used inside a task. Actions throw the job's error: job_failed with the
/// task's failure as its cause, or cancelled. Safe to use from several threads.
template <class T>
class Rdd : public PairRdd<T>, public RddActions<T> {
 public:
  using value_type = T;
  using Location = detail::Location;

  /// For core and the templates of this library.
  Rdd(detail::DriverPtr driver, rdd::NodePtr node)
      : driver_(std::move(driver)), node_(std::move(node)) {}

  // ----------------------------------------------------------------------------- about itself

  /// Number in the application, from 0 up in the order of creation.
  [[nodiscard]] int32_t id() const { return detail::node_id(node_); }
  /// The name shown in stages and in to_debug_string(); the operation's until set_name().
  [[nodiscard]] std::string name() const { return detail::node_name(node_); }
  Rdd set_name(std::string name) const {
    detail::set_node_name(node_, std::move(name));
    return *this;
  }
  /// Number of partitions. Lists the input files when that is still to do.
  [[nodiscard]] int32_t partition_count() const { return detail::partition_count(node_); }
  /// The lineage as text, one line an Rdd, indented at shuffles.
  [[nodiscard]] std::string to_debug_string() const { return detail::debug_string(node_); }

  /// Keeps each partition in the executors' memory once it has been computed (Spark's MEMORY_ONLY):
  /// the next use reads it from there. What does not fit is computed again. Takes effect for jobs
  /// submitted from now on.
  /// @throws Error (invalid_argument) when it is kept at another level than memory
  Rdd cache() const { return persist(StorageLevel::memory); }
  /// Keeps each partition once it has been computed, as the level says. What is lost, or lies in a
  /// file that is missing or damaged, is computed again. Takes effect for jobs submitted from now
  /// on.
  /// @throws Error (invalid_argument) for the level none, and when it is kept at another level:
  ///   unpersist() first
  Rdd persist(StorageLevel level) const {
    static_assert(Encodable<detail::owned_t<T>>,
                  "cache: the element type needs a tenon::Codec: add TENON_FIELDS(members...) to "
                  "the class, or specialise tenon::Codec");
    static_assert(detail::can_be_kept_v<T>,
                  "cache: the element type cannot be copied, so it can be read once only");
    detail::persist_node(*driver_, node_, level, detail::keeper_of<T>());
    return *this;
  }
  /// Drops what cache() or persist() kept, in memory and in files.
  Rdd unpersist() const {
    detail::unpersist_node(*driver_, node_);
    return *this;
  }
  /// Writes the partitions to files in Context::set_checkpoint_dir() and forgets the lineage: tasks
  /// read the files from then on. Mark it before its first job. A job of its own writes the files
  /// after the next blocking action on this Rdd, or on one derived from it, so that keeping it with
  /// persist() as well saves computing it twice. Keeps the partitioner.
  /// @throws Error (invalid_argument) when no directory was set. When the files cannot be written,
  ///   or are not one a partition, the action throws
  Rdd checkpoint() const {
    static_assert(Encodable<detail::owned_t<T>>,
                  "checkpoint: the element type needs a tenon::Codec: add TENON_FIELDS(members...) "
                  "to the class, or specialise tenon::Codec");
    return marked_for_checkpoint(detail::checkpoint_folder(*driver_, node_));
  }
  /// The same with what executors keep in the place of files: faster, needs no directory, and makes
  /// the storage level one with disk. A partition that is lost with its executor, or by
  /// unpersist(), cannot be computed again: the job that wants it fails.
  Rdd local_checkpoint() const {
    static_assert(Encodable<detail::owned_t<T>>,
                  "local_checkpoint: the element type needs a tenon::Codec: add "
                  "TENON_FIELDS(members...) to the class, or specialise tenon::Codec");
    static_assert(detail::can_be_kept_v<T>,
                  "local_checkpoint: the element type cannot be copied, so it can be read once "
                  "only");
    return marked_for_checkpoint({});
  }
  /// Its lineage has been replaced by a checkpoint.
  [[nodiscard]] bool is_checkpointed() const { return detail::is_checkpointed(node_); }
  /// How it is kept; none until persist().
  [[nodiscard]] StorageLevel storage_level() const { return detail::storage_level(node_); }

  // ----------------------------------------------------------------------------- within a stage

  /// f of each record. Keeps order and partitions; drops the partitioner. @return Rdd of f's result
  /// type
  template <class F>
  [[nodiscard]] auto map(F f, Location location = Location::current()) const {
    return map_at(detail::call_site("map", location), std::move(f));
  }
  /// f(record, values...) of each record.
  template <class F, class Value, class... Values>
    requires(!std::is_same_v<Value, Location>)
  [[nodiscard]] auto map(F f, Value value, Values... values) const {
    return map_at(detail::call_site("map"),
                  detail::with_values(std::move(f), std::move(value), std::move(values)...));
  }

  /// The records for which f is true. Keeps order, partitions and partitioner.
  template <class F>
  [[nodiscard]] Rdd filter(F f, Location location = Location::current()) const {
    return filter_at(detail::call_site("filter", location), std::move(f));
  }
  /// The records for which f(record, values...) is true.
  template <class F, class Value, class... Values>
    requires(!std::is_same_v<Value, Location>)
  [[nodiscard]] Rdd filter(F f, Value value, Values... values) const {
    return filter_at(detail::call_site("filter"),
                     detail::with_values(std::move(f), std::move(value), std::move(values)...));
  }

  /// The elements of the ranges that f returns: containers, or lazy ranges such as tenon::words.
  /// Keeps order and partitions.
  template <class F>
  [[nodiscard]] auto flat_map(F f, Location location = Location::current()) const {
    return flat_map_at(detail::call_site("flat_map", location), std::move(f));
  }
  /// The elements of the ranges that f(record, values...) returns.
  template <class F, class Value, class... Values>
    requires(!std::is_same_v<Value, Location>)
  [[nodiscard]] auto flat_map(F f, Value value, Values... values) const {
    return flat_map_at(detail::call_site("flat_map"),
                       detail::with_values(std::move(f), std::move(value), std::move(values)...));
  }

  /// f(Records<T>&) once per partition returns a range with the partition's new records.
  template <class F>
  [[nodiscard]] auto map_partitions(F f, Location location = Location::current()) const {
    return map_partitions_at(detail::call_site("map_partitions", location), std::move(f));
  }
  /// f(Records<T>&, values...) once per partition.
  template <class F, class Value, class... Values>
    requires(!std::is_same_v<Value, Location>)
  [[nodiscard]] auto map_partitions(F f, Value value, Values... values) const {
    return map_partitions_at(
        detail::call_site("map_partitions"),
        detail::with_values(std::move(f), std::move(value), std::move(values)...));
  }

  /// f(partition, Records<T>&) once per partition returns a range with the partition's new records.
  template <class F>
  [[nodiscard]] auto map_partitions_with_index(F f, Location location = Location::current()) const {
    return map_indexed_at(detail::call_site("map_partitions_with_index", location), std::move(f));
  }
  /// f(partition, Records<T>&, values...) once per partition.
  template <class F, class Value, class... Values>
    requires(!std::is_same_v<Value, Location>)
  [[nodiscard]] auto map_partitions_with_index(F f, Value value, Values... values) const {
    return map_indexed_at(
        detail::call_site("map_partitions_with_index"),
        detail::with_values(std::move(f), std::move(value), std::move(values)...));
  }

  /// Each partition as one record. A partition must fit into memory.
  /// @return Rdd of std::vector
  [[nodiscard]] auto glom(Location location = Location::current()) const;

  /// (f(record), record). Keeps order and partitions. @return Rdd of pairs
  template <class F>
  [[nodiscard]] auto key_by(F f, Location location = Location::current()) const;

  /// A random choice of the records, the same for the same seed and partitions. Keeps order.
  /// @param with_replacement a record may come several times
  /// @param fraction without replacement the probability of each record, 0 to 1; with replacement
  ///   how often each comes on average, at least 0
  /// @throws Error (invalid_argument) for another fraction
  [[nodiscard]] Rdd sample(bool with_replacement, double fraction, uint64_t seed = 0,
                           Location location = Location::current()) const;

  /// Record i of this Rdd with record i of the other one. Keeps order and partitions.
  /// @throws Error (invalid_argument) when the numbers of partitions differ; the job fails when the
  ///   sizes of two partitions do
  template <class U>
  [[nodiscard]] auto zip(const Rdd<U>& other, Location location = Location::current()) const;

  /// f(Records<T>&, Records<U>&) once per pair of partitions returns a range with the new records.
  /// @throws Error (invalid_argument) when the numbers of partitions differ
  template <class U, class F>
  [[nodiscard]] auto zip_partitions(const Rdd<U>& other, F f,
                                    Location location = Location::current()) const;

  /// (record, its number from 0 up over all partitions). Keeps order and partitions. Runs a job
  /// that counts when there is more than one partition.
  [[nodiscard]] auto zip_with_index(Location location = Location::current()) const;

  /// Every record of this Rdd with every one of the other: a partition for each pair of partitions,
  /// in which the other's partition is held in memory. @return Rdd of pairs
  template <class U>
  [[nodiscard]] auto cartesian(const Rdd<U>& other, Location location = Location::current()) const;

  /// The lines that a shell command writes when it reads the partition's records as lines: one
  /// process a partition. Its errors go to the executor's stderr. Records must be text, numbers, or
  /// pairs and tuples of these. The job fails when the command ends with another code than 0.
  [[nodiscard]] Rdd<std::string> pipe(const std::string& command,
                                      Location location = Location::current()) const;

  /// Every n neighbouring records in order, over the borders of partitions: of m records there are
  /// m - n + 1. Runs a job that fetches the last n - 1 of each partition when there is more than
  /// one.
  /// @return Rdd of std::vector, each with its first record in the partition of its last one
  /// @throws Error (invalid_argument) when n is 0
  [[nodiscard]] auto window(uint64_t n, Location location = Location::current()) const;

  /// f over all records up to and with each one, in order: running totals. f must be associative.
  /// Runs a job over the partitions' totals when there is more than one.
  template <class F = std::plus<>>
  [[nodiscard]] auto prefix_sum(F f = {}, Location location = Location::current()) const;

  /// The partitions of this Rdd, then those of the other one. Keeps order.
  [[nodiscard]] Rdd union_with(const Rdd& other, Location location = Location::current()) const;

  /// n partitions of neighbouring ones, in order; never more than there are. No shuffle.
  /// @throws Error (invalid_argument) when n is below 1
  [[nodiscard]] Rdd coalesce(int32_t n, Location location = Location::current()) const;

  // ----------------------------------------------------------------------------- over a shuffle

  /// Each distinct record once. One shuffle.
  [[nodiscard]] auto distinct(int32_t partitions = 0,
                              Location location = Location::current()) const;

  /// The records dealt out evenly over n partitions, which may be more or fewer. One shuffle; the
  /// order is lost. @throws Error (invalid_argument) when n is below 1
  [[nodiscard]] auto repartition(int32_t n, Location location = Location::current()) const;

  /// Sorted by f(record) as sort_by_key does by the key; equal ones keep their order. One shuffle,
  /// and a job that samples.
  template <class F>
  [[nodiscard]] auto sort_by(F f, bool ascending = true, int32_t partitions = 0,
                             Location location = Location::current()) const;

  /// The distinct records that are in both. One shuffle a side.
  [[nodiscard]] auto intersection(const Rdd& other, int32_t partitions = 0,
                                  Location location = Location::current()) const;

  /// The records of which the other has no equal one. One shuffle a side.
  [[nodiscard]] auto subtract(const Rdd& other, int32_t partitions = 0,
                              Location location = Location::current()) const;

  // ----------------------------------------------------------------------------- for the templates
  // of this library

  [[nodiscard]] const detail::DriverPtr& driver() const { return driver_; }
  [[nodiscard]] const rdd::NodePtr& node() const { return node_; }

 private:
  template <class U>
  friend class Rdd;
  template <class U>
  friend class PairRdd;
  template <class U>
  friend class RddActions;

  Rdd marked_for_checkpoint(std::string folder) const {
    auto code = detail::checkpoint_code<T>(folder);
    detail::mark_checkpoint(*driver_, node_, std::move(folder), std::move(code));
    return *this;
  }

  template <class U>
  Rdd<U> narrow(CallSite site, detail::Operator op, bool keeps_partitioner) const;
  template <class F>
  auto map_at(CallSite site, F f) const;
  template <class F>
  Rdd filter_at(CallSite site, F f) const;
  template <class F>
  auto flat_map_at(CallSite site, F f) const;
  template <class F>
  auto map_partitions_at(CallSite site, F f) const;
  template <class F>
  auto map_indexed_at(CallSite site, F f) const;

  /// The values of f over these partitions, in their order.
  template <class F>
  auto values_of(const CallSite& site, const F& f, std::vector<int32_t> partitions) const;
  /// The values of f over all partitions.
  template <class F>
  auto values_of(const CallSite& site, const F& f) const {
    return values_of(site, f, detail::all_partitions(node_));
  }
  template <class F>
  [[nodiscard]] detail::JobSpec job(const CallSite& site, const F& f,
                                    std::vector<int32_t> partitions) const;
  template <class U>
  Rdd<U> wide(CallSite site, detail::Operator reader, std::vector<rdd::Dependency> dependencies,
              rdd::Partitioner partitioner) const;
  /// This Rdd as one side of a wide operation: narrow when it is partitioned that way already.
  template <class Format = TypeCodec>
  [[nodiscard]] rdd::Dependency side(const CallSite& site, const rdd::Partitioner& wanted) const;
  /// The given one, or the choice that C26.4 makes where none was given.
  [[nodiscard]] rdd::Partitioner choose(const char* operation, const rdd::Partitioner& given,
                                        std::initializer_list<rdd::NodePtr> parents) const;

  detail::DriverPtr driver_;
  rdd::NodePtr node_;
};

}  // namespace tenon

#include "tenon/detail/pair_aggregates.hpp"
#include "tenon/detail/pair_joins.hpp"
#include "tenon/detail/pair_rdd.hpp"
#include "tenon/detail/rdd_actions.hpp"
#include "tenon/detail/rdd_narrow.hpp"
#include "tenon/detail/rdd_ordered.hpp"
#include "tenon/detail/rdd_partitions.hpp"
#include "tenon/detail/rdd_reductions.hpp"
#include "tenon/detail/rdd_wide.hpp"
#include "tenon/detail/rdd_zip.hpp"
