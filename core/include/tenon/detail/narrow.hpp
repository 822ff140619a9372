/// @file narrow.hpp Operators within a stage: a record goes from one to the next in batches, the
///   program's function inlined in the loop. Not for programs.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/codec.hpp"
#include "tenon/detail/batch.hpp"
#include "tenon/detail/owned.hpp"
#include "tenon/detail/registry.hpp"
#include "tenon/detail/runtime.hpp"
#include "tenon/function.hpp"
#include "tenon/records.hpp"

namespace tenon::detail {

template <class T>
Stream<T>& typed(const StreamPtr& stream) {
  return static_cast<Stream<T>&>(*stream);
}

template <class F>
F read_function(std::string_view bytes) {
  ByteReader in(bytes);
  return FunctionCodec<F>::read(in);
}

/// A function with a state of its own in each partition: for_partition(number) makes what is called
/// for the partition's records, in their order.
template <class F>
concept PartitionFunction = requires(const F& f, int32_t partition) { f.for_partition(partition); };

/// What an operator calls for the records of one partition: f itself, or what it makes for it.
template <class F>
class PartitionCall {
 public:
  PartitionCall(const F& f, int32_t) : f_(f) {}
  template <class... Args>
  decltype(auto) operator()(Args&&... args) {
    return std::invoke(f_, std::forward<Args>(args)...);
  }

 private:
  const F& f_;
};
template <PartitionFunction F>
class PartitionCall<F> {
 public:
  PartitionCall(const F& f, int32_t partition) : call_(f.for_partition(partition)) {}
  template <class... Args>
  decltype(auto) operator()(Args&&... args) {
    return call_(std::forward<Args>(args)...);
  }

 private:
  decltype(std::declval<const F&>().for_partition(0)) call_;
};

// ------------------------------------------------------------------------------- map

template <class F, class T>
using map_result_t = std::remove_cvref_t<std::invoke_result_t<PartitionCall<F>&, T>>;

template <class F, class T>
class MapOperator final : public RddOperator {
 public:
  using U = map_result_t<F, T>;
  explicit MapOperator(std::string_view bytes) : f_(read_function<F>(bytes)) {}
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<Mapped>(f_, context, partition);
  }

 private:
  class Mapped final : public Stream<U> {
   public:
    Mapped(const F& f, PartitionContext& context, int32_t partition)
        : f_(f, partition),
          input_(context.parent(0, partition)),
          context_(context),
          task_(context.task()) {}
    std::span<U> next() override {
      return noting_failure(context_, [this] { return read(); });
    }

   private:
    std::span<U> read() {
      batch_.clear();
      if (rest_.empty()) rest_ = typed<T>(input_).next();
      const size_t n = std::min(rest_.size(), kBatchSize);
      for (T& record : rest_.first(n)) {
        task_.throw_if_killed();
        batch_.emplace(f_(std::move(record)));
      }
      rest_ = rest_.subspan(n);
      return batch_.span();
    }

    PartitionCall<F> f_;
    StreamPtr input_;
    PartitionContext& context_;
    const TaskContext& task_;
    std::span<T> rest_;
    Batch<U> batch_;
  };

  F f_;
};

// ------------------------------------------------------------------------------- filter

/// The next batch of the records for which keep(record) is true: they move to the front of the
/// batch that they came in. Empty only at the end.
template <class T, class Keep>
std::span<T> next_where(Stream<T>& input, const TaskContext& task, Keep&& keep) {
  for (;;) {
    const std::span<T> batch = input.next();
    if (batch.empty()) return batch;
    size_t kept = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      task.throw_if_killed();
      if (!keep(std::as_const(batch[i]))) continue;
      if (kept != i) batch[kept] = std::move(batch[i]);
      ++kept;
    }
    if (kept != 0) return batch.first(kept);
  }
}

template <class F, class T>
class FilterOperator final : public RddOperator {
 public:
  explicit FilterOperator(std::string_view bytes) : f_(read_function<F>(bytes)) {}
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<Filtered>(f_, context, partition);
  }

 private:
  class Filtered final : public Stream<T> {
   public:
    Filtered(const F& f, PartitionContext& context, int32_t partition)
        : f_(f, partition),
          input_(context.parent(0, partition)),
          context_(context),
          task_(context.task()) {}
    std::span<T> next() override {
      return noting_failure(context_, [this] { return read(); });
    }

   private:
    std::span<T> read() { return next_where(typed<T>(input_), task_, f_); }

    PartitionCall<F> f_;
    StreamPtr input_;
    PartitionContext& context_;
    const TaskContext& task_;
  };

  F f_;
};

// ------------------------------------------------------------------------------- flat_map

template <class R>
concept RangeLike = requires(R& range) {
  std::begin(range);
  std::end(range);
  *std::begin(range);
};
template <class R>
using range_element_t = std::remove_cvref_t<decltype(*std::begin(std::declval<R&>()))>;

template <class F, class T>
using flat_result_t = range_element_t<map_result_t<F, T>>;

/// A range, held together with where it is read.
template <class R>
class OpenRange {
 public:
  template <class F, class... Args>
  explicit OpenRange(F&& f, Args&&... args)
      : range_(std::invoke(f, std::forward<Args>(args)...)),
        at_(std::begin(range_)),
        end_(std::end(range_)) {}
  OpenRange(const OpenRange&) = delete;
  OpenRange& operator=(const OpenRange&) = delete;

  /// Moves elements to the batch until it is full; true when the range has ended.
  template <class U>
  bool fill(Batch<U>& batch) {
    auto at = at_;
    while (!(at == end_)) {
      if (batch.full()) {
        at_ = at;
        return false;
      }
      if constexpr (std::is_lvalue_reference_v<decltype(*at)>) {
        batch.emplace(std::move(*at));
      } else {
        batch.emplace(*at);
      }
      ++at;
    }
    at_ = at;
    return true;
  }

 private:
  R range_;
  decltype(std::begin(std::declval<R&>())) at_;
  decltype(std::end(std::declval<R&>())) end_;
};

template <class F, class T>
class FlatMapOperator final : public RddOperator {
 public:
  using Range = map_result_t<F, T>;
  using U = flat_result_t<F, T>;
  explicit FlatMapOperator(std::string_view bytes) : f_(read_function<F>(bytes)) {}
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<Flat>(f_, context, partition);
  }

 private:
  class Flat final : public Stream<U> {
   public:
    Flat(const F& f, PartitionContext& context, int32_t partition)
        : f_(f, partition),
          input_(context.parent(0, partition)),
          context_(context),
          task_(context.task()) {}
    std::span<U> next() override {
      return noting_failure(context_, [this] { return read(); });
    }

   private:
    // What is handed on may look into the input's batch: the next one is asked for only when
    // nothing is held.
    std::span<U> read() {
      batch_.clear();
      for (;;) {
        if (range_) {
          if (!range_->fill(batch_)) return batch_.span();
          range_.reset();
        }
        if (rest_.empty()) {
          if (!batch_.empty()) return batch_.span();
          rest_ = typed<T>(input_).next();
          if (rest_.empty()) return {};
        }
        task_.throw_if_killed();
        range_.emplace(f_, std::move(rest_.front()));
        rest_ = rest_.subspan(1);
      }
    }

    PartitionCall<F> f_;
    StreamPtr input_;
    PartitionContext& context_;
    const TaskContext& task_;
    std::span<T> rest_;
    std::optional<OpenRange<Range>> range_;
    Batch<U> batch_;
  };

  F f_;
};

// ------------------------------------------------------------------------------- map_partitions

template <class F, class T>
using partition_range_t = std::remove_cvref_t<std::invoke_result_t<PartitionCall<F>&, Records<T>&>>;

template <class F, class T>
class MapPartitionsOperator final : public RddOperator {
 public:
  using Range = partition_range_t<F, T>;
  using U = range_element_t<Range>;
  explicit MapPartitionsOperator(std::string_view bytes) : f_(read_function<F>(bytes)) {}
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<Whole>(f_, context, partition);
  }

 private:
  class Whole final : public Stream<U> {
   public:
    Whole(const F& f, PartitionContext& context, int32_t partition)
        : f_(f, partition),
          input_(context.parent(0, partition)),
          context_(context),
          records_(typed<T>(input_)) {}
    std::span<U> next() override {
      return noting_failure(context_, [this] { return read(); });
    }

   private:
    std::span<U> read() {
      batch_.clear();
      if (!range_) range_.emplace(f_, records_);
      range_->fill(batch_);
      return batch_.span();
    }

    PartitionCall<F> f_;
    StreamPtr input_;
    PartitionContext& context_;
    Records<T> records_;
    std::optional<OpenRange<Range>> range_;
    Batch<U> batch_;
  };

  F f_;
};

// ------------------------------------------------------------------------------- sources

/// A slice of values; the partition's data holds them one after another.
template <class T>
class SliceOperator final : public RddOperator {
 public:
  explicit SliceOperator(std::string_view) {}
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<Slice>(context.data(partition), context);
  }

 private:
  class Slice final : public Stream<T> {
   public:
    Slice(std::string_view data, PartitionContext& context) : in_(data), context_(context) {
      if (!in_.at_end()) left_ = in_.size();
    }
    std::span<T> next() override {
      return noting_failure(context_, [this] { return read(); });
    }

   private:
    std::span<T> read() {
      context_.task().throw_if_killed();
      batch_.clear();
      for (; left_ != 0 && !batch_.full(); --left_) batch_.emplace(Codec<T>::read(in_));
      return batch_.span();
    }

    ByteReader in_;
    PartitionContext& context_;
    uint64_t left_ = 0;
    Batch<T> batch_;
  };
};

/// first, first + step, ...: computed where they are needed.
template <class T>
struct RangeSpec {
  T first{}, step{};
  uint64_t count = 0;
  int32_t partitions = 1;
  TENON_FIELDS(first, step, count, partitions)
};

template <class T>
class RangeOperator final : public RddOperator {
 public:
  explicit RangeOperator(std::string_view bytes) : spec_(decode<RangeSpec<T>>(bytes)) {}
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<Values>(spec_, static_cast<uint64_t>(partition), context.task());
  }

 private:
  class Values final : public Stream<T> {
   public:
    Values(const RangeSpec<T>& spec, uint64_t partition, const TaskContext& task)
        : spec_(spec), task_(task) {
      const auto n = static_cast<uint64_t>(spec.partitions);
      // count * partition / n without overflow
      const auto bound = [&](uint64_t p) { return spec.count / n * p + spec.count % n * p / n; };
      at_ = bound(partition);
      end_ = bound(partition + 1);
    }
    std::span<T> next() override {
      task_.throw_if_killed();
      batch_.clear();
      for (; at_ != end_ && !batch_.full(); ++at_) {
        // unsigned: the products wrap where the values do not
        batch_.emplace(static_cast<T>(static_cast<uint64_t>(spec_.first) +
                                      static_cast<uint64_t>(spec_.step) * at_));
      }
      return batch_.span();
    }

   private:
    const RangeSpec<T>& spec_;
    const TaskContext& task_;
    uint64_t at_ = 0, end_ = 0;
    Batch<T> batch_;
  };

  RangeSpec<T> spec_;
};

// ------------------------------------------------------------------------------- union and
// coalesce

/// Partition numbers of parents, in order, for each partition: what a union or a coalesce reads.
struct ParentPartition {
  uint32_t dependency = 0;
  int32_t partition = 0;
};

template <class T>
class GatherOperator final : public RddOperator {
 public:
  explicit GatherOperator(std::string_view bytes)
      : parents_(decode<std::vector<std::vector<ParentPartition>>>(bytes)) {}
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<Gathered>(context, parents_.at(static_cast<size_t>(partition)));
  }

 private:
  class Gathered final : public Stream<T> {
   public:
    Gathered(PartitionContext& context, const std::vector<ParentPartition>& parents)
        : context_(context), parents_(parents) {}
    std::span<T> next() override {
      for (;;) {
        if (current_) {
          const std::span<T> batch = typed<T>(current_).next();
          if (!batch.empty()) return batch;
          current_.reset();
        }
        if (at_ == parents_.size()) return {};
        const ParentPartition& parent = parents_[at_++];
        current_ = context_.parent(parent.dependency, parent.partition);
      }
    }

   private:
    PartitionContext& context_;
    const std::vector<ParentPartition>& parents_;
    size_t at_ = 0;
    StreamPtr current_;
  };

  std::vector<std::vector<ParentPartition>> parents_;
};

}  // namespace tenon::detail
