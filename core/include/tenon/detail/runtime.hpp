/// @file runtime.hpp The seam between the typed operators of a program and core's executor, which
///   knows no types. Not for programs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tenon/detail/operator.hpp"
#include "tenon/export.hpp"
#include "tenon/task_context.hpp"

namespace tenon::detail {

/// A stream of records in batches, without its type.
class StreamBase {
 public:
  StreamBase() = default;
  virtual ~StreamBase() = default;
  StreamBase(const StreamBase&) = delete;
  StreamBase& operator=(const StreamBase&) = delete;
};
using StreamPtr = std::unique_ptr<StreamBase>;

/// Records of one partition. One thread.
template <class T>
class Stream : public StreamBase {
 public:
  /// The next batch, empty only at the end. The elements are the caller's to move from; they, and
  /// views into them, are valid until the next call.
  virtual std::span<T> next() = 0;
};

/// Takes bytes piece by piece.
using ByteSink = std::function<void(std::string_view bytes)>;

/// A partition that is kept, without its type. Immutable; shared by the tasks that read it.
class CachedPartition {
 public:
  CachedPartition() = default;
  virtual ~CachedPartition() = default;
  CachedPartition(const CachedPartition&) = delete;
  CachedPartition& operator=(const CachedPartition&) = delete;
  /// Bytes that it occupies, what its elements point to included.
  [[nodiscard]] virtual uint64_t bytes() const = 0;
  /// Its records as EncodedPartition::records() has them.
  virtual void encode(const ByteSink& sink) const = 0;
};
using CachedPtr = std::shared_ptr<const CachedPartition>;

/// A partition that is kept as bytes, in memory or in a file.
class EncodedPartition : public CachedPartition {
 public:
  /// What KeepOperator::encode() wrote.
  [[nodiscard]] virtual std::string_view records() const = 0;
  void encode(const ByteSink& sink) const final { sink(records()); }
};

/// Encoded records of one shuffle block; `keep` keeps them alive.
struct ShuffleBlock {
  std::string_view bytes;
  std::shared_ptr<const void> keep;
};

/// The blocks that one reduce partition reads, in the order of the map tasks whatever arrived
/// first.
class ShuffleInput {
 public:
  ShuffleInput() = default;
  virtual ~ShuffleInput() = default;
  ShuffleInput(const ShuffleInput&) = delete;
  ShuffleInput& operator=(const ShuffleInput&) = delete;
  /// The next non-empty block; nothing at the end. Throws what ends the task as FetchFailed when it
  /// cannot be got.
  virtual std::optional<ShuffleBlock> next() = 0;
};

/// Takes what a map task writes.
class ShuffleOutput {
 public:
  ShuffleOutput() = default;
  virtual ~ShuffleOutput() = default;
  ShuffleOutput(const ShuffleOutput&) = delete;
  ShuffleOutput& operator=(const ShuffleOutput&) = delete;
  /// Appends encoded records to a reduce partition's block; any number of calls, in the order in
  /// which a reader will see them.
  virtual void append(int32_t reduce, std::string bytes, uint64_t records) = 0;
};

/// What an operator sees while it makes one partition of one Rdd within a task. Lives as long as
/// the task.
class PartitionContext {
 public:
  PartitionContext() = default;
  virtual ~PartitionContext() = default;
  PartitionContext(const PartitionContext&) = delete;
  PartitionContext& operator=(const PartitionContext&) = delete;

  /// A partition of the Rdd behind a narrow dependency (counted from 0 over all dependencies).
  virtual StreamPtr parent(size_t dependency, int32_t partition) = 0;
  /// What the partition reads through a shuffle dependency.
  virtual std::unique_ptr<ShuffleInput> shuffle(size_t dependency, int32_t partition) = 0;
  /// The partition's own data (rdd::Partition::data).
  [[nodiscard]] virtual std::string_view data(int32_t partition) = 0;
  /// The attempt.
  [[nodiscard]] virtual const TaskContext& task() const = 0;
  /// Says that the code of this Rdd threw: a stream calls it in a catch block around the program's
  /// function and rethrows. The first call of an attempt names the operation and call site that the
  /// failure shows.
  virtual void note_failure() noexcept {}
};

/// Runs a step of a stream; an exception of it names the Rdd of the context as the place of the
/// failure, unless a step below has done so already.
template <class Step>
auto noting_failure(PartitionContext& context, const Step& step) {
  try {
    return step();
  } catch (...) {
    context.note_failure();
    throw;
  }
}

/// Base of everything that a registered factory makes. Used by several tasks at once, hence const.
class OperatorBase {
 public:
  OperatorBase() = default;
  virtual ~OperatorBase() = default;
  OperatorBase(const OperatorBase&) = delete;
  OperatorBase& operator=(const OperatorBase&) = delete;
};

/// Makes partitions of an Rdd.
class RddOperator : public OperatorBase {
 public:
  /// The records of one partition. context outlives the stream.
  virtual StreamPtr open(PartitionContext& context, int32_t partition) const = 0;
};

/// Keeps partitions of an Rdd. Apart from its operator, so that a program has the code for those
/// Rdds only that it keeps.
class KeepOperator : public OperatorBase {
 public:
  /// Reads a stream of the Rdd to its end into a form that can be kept.
  virtual CachedPtr keep(StreamBase& stream, const TaskContext& task) const = 0;
  /// Reads a stream of the Rdd to its end and encodes its records.
  virtual void encode(StreamBase& stream, const TaskContext& task, const ByteSink& sink) const = 0;
  /// Streams what keep() returned, or an EncodedPartition of what encode() wrote.
  virtual StreamPtr reopen(CachedPtr kept) const = 0;
};

/// The last step of a result task.
class ActionOperator : public OperatorBase {
 public:
  /// Consumes the partition; the encoded value goes to the driver.
  virtual std::string run(StreamBase& input, const TaskContext& task) const = 0;
};

/// The last step of a map task.
class ShuffleWriteOperator : public OperatorBase {
 public:
  /// Consumes the partition and spreads its records over the reduce partitions.
  virtual void write(StreamBase& input, ShuffleOutput& output, const TaskContext& task) const = 0;
};

/// Makes an operator from the bytes bound to it; throws tenon::Error (codec) when they do not fit.
using OperatorFactory = std::unique_ptr<OperatorBase> (*)(std::string_view bytes);

/// Registers an operator class by its mangled name; usable in static initialisers. Returns its id.
/// A name that is registered again with another factory gets an id of its own, by order.
/// [any-thread]
/// @param address anything inside the module that registers; its build-id identifies the code
TENON_API uint64_t register_operator(const char* mangled_name, OperatorFactory factory,
                                     const void* address);

/// The operator that an Operator stands for. Throws tenon::Error: (internal) when nobody registered
/// its id in this process, else what the class throws. [any-thread]
TENON_API std::unique_ptr<OperatorBase> make_registered(const Operator& op);

/// A pointer to a function as (build-id of its module, offset in it). Throws tenon::Error (codec)
/// when the address is no code of a loaded module, or the module has no build-id. [any-thread]
TENON_API std::string encode_function_pointer(const void* function);

/// The pointer in this process. Throws tenon::Error (codec) when no loaded module has the build-id,
/// or the offset lies outside of its code. [any-thread]
TENON_API const void* decode_function_pointer(std::string_view bytes);

/// An accumulator's partial value within one task attempt. One thread.
class AccumulatorState {
 public:
  AccumulatorState() = default;
  virtual ~AccumulatorState() = default;
  AccumulatorState(const AccumulatorState&) = delete;
  AccumulatorState& operator=(const AccumulatorState&) = delete;
  /// The partial value, by the accumulator's Codec; called once, when the attempt ends.
  [[nodiscard]] virtual std::string encode() const = 0;
};

/// The partial value of an accumulator in the attempt that runs on this thread; the attempt's first
/// use makes it by make(zero). Owned by the attempt, which sends it to the driver when it ends,
/// however it ends. nullptr outside of tasks: the caller then adds to the driver's own value.
TENON_API AccumulatorState* task_accumulator(
    uint64_t id, std::unique_ptr<AccumulatorState> (*make)(const void* zero), const void* zero);

/// Makes a broadcast value from its bytes.
using BroadcastDecoder = std::shared_ptr<const void> (*)(std::string_view bytes);

/// A broadcast's value as tasks of this process see it: fetched and decoded by the first that asks,
/// shared by all. For use within a task only. Throws tenon::Error when the driver has it no more.
TENON_API std::shared_ptr<const void> task_broadcast(uint64_t id, BroadcastDecoder decode);

}  // namespace tenon::detail
