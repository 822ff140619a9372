/// @file wide.hpp Operators at a shuffle: how records are spread over the reduce partitions, and
///   what is made of them there. Not for programs.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/detail/flat_table.hpp"
#include "tenon/detail/hash.hpp"
#include "tenon/detail/narrow.hpp"
#include "tenon/detail/spread.hpp"
#include "tenon/shuffle_codec.hpp"

namespace tenon::detail {

template <class T>
struct PairTypes {
  static constexpr bool is_pair = false;
  // For declarations, which every Rdd<T> has.
  using Key = std::monostate;
  using Value = std::monostate;
};
template <class K0, class V0>
struct PairTypes<std::pair<K0, V0>> {
  static constexpr bool is_pair = true;
  using Key = owned_t<K0>;
  using Value = owned_t<V0>;
};
template <class T>
concept Pair = PairTypes<T>::is_pair;
template <class T>
using key_t = typename PairTypes<T>::Key;
template <class T>
using value_t = typename PairTypes<T>::Value;
template <class T, class... Rs>
constexpr bool same_keys = (std::is_same_v<key_t<T>, key_t<Rs>> && ...);

// ------------------------------------------------------------------------------- writers

/// Encoded records on their way to one reduce partition; handed on in pieces of a bounded size.
class OutputBuffer {
 public:
  std::string& bytes() { return bytes_; }
  void count() { ++records_; }
  void flush_if_large(ShuffleOutput& output, size_t reduce) {
    if (bytes_.size() >= kFlushBytes) flush(output, reduce);
  }
  // Not inlined: g++ 12 takes the size from flush_if_large() for one that a short string could
  // have, and warns.
  [[gnu::noinline]] void flush(ShuffleOutput& output, size_t reduce) {
    if (records_ == 0) return;
    output.append(static_cast<int32_t>(reduce), std::move(bytes_), records_);
    bytes_ = {};
    records_ = 0;
  }

 private:
  static constexpr size_t kFlushBytes = size_t{1} << 20;
  std::string bytes_;
  uint64_t records_ = 0;
};

/// Pairs as they come, each to the partition of its key. Format: a shuffle codec.
template <class T, class Format = TypeCodec>
class SpreadWriter final : public ShuffleWriteOperator {
 public:
  using K = key_t<T>;
  using V = value_t<T>;

  explicit SpreadWriter(std::string_view bytes) : spread_(read_spread(bytes)) {}
  static Operator make(const rdd::Partitioner& partitioner) {
    std::string bytes;
    ByteWriter out(bytes);
    Spread<K>::write(out, partitioner);
    return operator_of<SpreadWriter>(std::move(bytes));
  }

  void write(StreamBase& stream, ShuffleOutput& output, const TaskContext& task) const override {
    std::vector<OutputBuffer> buffers(spread_.partitions());
    auto& input = static_cast<Stream<T>&>(stream);
    for (auto batch = input.next(); !batch.empty(); batch = input.next()) {
      for (T& record : batch) {
        task.throw_if_killed();
        const size_t reduce = spread_.of(record.first);
        OutputBuffer& buffer = buffers[reduce];
        ByteWriter out(buffer.bytes());
        write_key_value(out, record);
        buffer.count();
        buffer.flush_if_large(output, reduce);
      }
    }
    for (size_t reduce = 0; reduce < buffers.size(); ++reduce)
      buffers[reduce].flush(output, reduce);
  }

 private:
  static Spread<K> read_spread(std::string_view bytes) {
    ByteReader in(bytes);
    return Spread<K>::read(in);
  }
  static void write_key_value(ByteWriter& out, const T& record) {
    write_part<K>(out, record.first);
    write_part<V>(out, record.second);
  }
  template <class Part, class From>
  static void write_part(ByteWriter& out, const From& from) {
    if constexpr (std::is_same_v<Part, From>) {
      Format::write(out, from);
    } else {
      Format::write(out, Part(to_owned(from)));
    }
  }

  Spread<K> spread_;
};

/// Looks up with the key as it is where K compares with it, else with an owned copy.
template <class K, class From>
decltype(auto) lookup_key(From& key) {
  if constexpr (std::is_same_v<K, From>) {
    return std::move(key);
  } else if constexpr (std::is_same_v<K, std::string> && std::is_same_v<From, std::string_view>) {
    return key;
  } else {
    return to_owned(key);
  }
}

// ------------------------------------------------------------------------------- readers

/// Pairs out of a shuffle's blocks.
template <class K, class V, class Format = TypeCodec>
class ShuffledPairs final : public Stream<std::pair<K, V>> {
 public:
  ShuffledPairs(std::unique_ptr<ShuffleInput> input, PartitionContext& context)
      : input_(std::move(input)), context_(context) {}
  std::span<std::pair<K, V>> next() override {
    return noting_failure(context_, [this] { return read(); });
  }

 private:
  std::span<std::pair<K, V>> read() {
    context_.task().throw_if_killed();
    batch_.clear();
    while (!batch_.full()) {
      if (in_.at_end()) {
        block_ = input_->next();
        if (!block_) break;
        in_ = ByteReader(block_->bytes);
        continue;
      }
      K key = Format::template read<K>(in_);
      batch_.emplace(std::move(key), Format::template read<V>(in_));
    }
    return batch_.span();
  }

  std::unique_ptr<ShuffleInput> input_;
  PartitionContext& context_;
  std::optional<ShuffleBlock> block_;
  ByteReader in_{std::string_view{}};
  Batch<std::pair<K, V>> batch_;
};

/// A stream of T as one of owned records.
template <class T>
class OwnedStream final : public Stream<owned_t<T>> {
 public:
  explicit OwnedStream(StreamPtr input) : input_(std::move(input)) {}
  std::span<owned_t<T>> next() override {
    batch_.clear();
    if (rest_.empty()) rest_ = typed<T>(input_).next();
    const size_t n = std::min(rest_.size(), kBatchSize);
    for (T& record : rest_.first(n)) batch_.emplace(to_owned(std::move(record)));
    rest_ = rest_.subspan(n);
    return batch_.span();
  }

 private:
  StreamPtr input_;
  std::span<T> rest_;
  Batch<owned_t<T>> batch_;
};

/// The pairs of one side, out of a shuffle or, where the parent is partitioned as wanted, straight
/// from it.
template <Pair T, class Format = TypeCodec>
StreamPtr open_pairs(PartitionContext& context, size_t dependency, int32_t partition,
                     bool shuffled) {
  if (shuffled) {
    return std::make_unique<ShuffledPairs<key_t<T>, value_t<T>, Format>>(
        context.shuffle(dependency, partition), context);
  }
  if constexpr (is_owned_v<T>) {
    return context.parent(dependency, partition);
  } else {
    return std::make_unique<OwnedStream<T>>(context.parent(dependency, partition));
  }
}

/// Hands on a table's entries.
template <class K, class V>
class TableStream final : public Stream<std::pair<K, V>> {
 public:
  explicit TableStream(FlatTable<K, V> table) : table_(std::move(table)) {}
  std::span<std::pair<K, V>> next() override {
    if (at_ == table_.chunk_count()) return {};
    return table_.chunk(at_++);
  }

 private:
  FlatTable<K, V> table_;
  size_t at_ = 0;
};

/// A key as it is read to look it up: a view where the table need not copy it.
template <class K, class Format>
auto read_key(ByteReader& in) {
  if constexpr (std::is_same_v<K, std::string> && std::is_same_v<Format, TypeCodec>) {
    return in.text();
  } else {
    return Format::template read<K>(in);
  }
}

inline bool read_flag(std::string_view bytes, size_t i) { return bytes.at(i) != '\0'; }
inline std::string flags_of(std::initializer_list<bool> flags) {
  return {flags.begin(), flags.end()};
}

/// Reads the pairs of one side into a table by key: add(held, value) for each, where held begins as
/// Held().
template <class V, class K, class Held, class Add>
void add_pairs(FlatTable<K, Held>& table, StreamBase& stream, const TaskContext& task,
               const Add& add) {
  auto& input = static_cast<Stream<std::pair<K, V>>&>(stream);
  for (auto batch = input.next(); !batch.empty(); batch = input.next()) {
    task.throw_if_killed();
    for (auto& [key, value] : batch) {
      const uint64_t hash = Hash<K>::of(key);
      add(*table.find_or_insert(std::move(key), hash, [] { return Held(); }).first,
          std::move(value));
    }
  }
}

template <class T>
class GroupReader final : public RddOperator {
 public:
  using K = key_t<T>;
  using V = value_t<T>;

  explicit GroupReader(std::string_view bytes) : shuffled_(read_flag(bytes, 0)) {}
  static Operator make(bool shuffled) { return operator_of<GroupReader>(flags_of({shuffled})); }

  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    const StreamPtr input = open_pairs<T>(context, 0, partition, shuffled_);
    FlatTable<K, std::vector<V>> table;
    add_pairs<V>(table, *input, context.task(),
                 [](std::vector<V>& values, V&& value) { values.push_back(std::move(value)); });
    return std::make_unique<TableStream<K, std::vector<V>>>(std::move(table));
  }

 private:
  bool shuffled_;
};

/// partition_by's reduce side.
template <class T, class Format = TypeCodec>
class PairReader final : public RddOperator {
 public:
  explicit PairReader(std::string_view bytes) : shuffled_(read_flag(bytes, 0)) {}
  static Operator make(bool shuffled) { return operator_of<PairReader>(flags_of({shuffled})); }
  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return open_pairs<T, Format>(context, 0, partition, shuffled_);
  }

 private:
  bool shuffled_;
};

/// Hands on a vector.
template <class T>
class VectorStream final : public Stream<T> {
 public:
  explicit VectorStream(std::vector<T> records) : records_(std::move(records)) {}
  std::span<T> next() override {
    const std::span<T> rest = std::span<T>(records_).subspan(at_);
    const std::span<T> batch = rest.first(std::min(rest.size(), kBatchSize));
    at_ += batch.size();
    return batch;
  }

 private:
  std::vector<T> records_;
  size_t at_ = 0;
};

/// sort_by_key's reduce side: stable within a partition.
template <class T>
class SortReader final : public RddOperator {
 public:
  using K = key_t<T>;
  using Record = std::pair<K, value_t<T>>;

  explicit SortReader(std::string_view bytes)
      : ascending_(read_flag(bytes, 0)), shuffled_(read_flag(bytes, 1)) {}
  static Operator make(bool ascending, bool shuffled) {
    return operator_of<SortReader>(flags_of({ascending, shuffled}));
  }

  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    const StreamPtr input = open_pairs<T>(context, 0, partition, shuffled_);
    std::vector<Record> records;
    for (auto batch = typed<Record>(input).next(); !batch.empty();
         batch = typed<Record>(input).next()) {
      std::move(batch.begin(), batch.end(), std::back_inserter(records));
    }
    const auto less = [](const Record& a, const Record& b) { return a.first < b.first; };
    const auto greater = [](const Record& a, const Record& b) { return b.first < a.first; };
    if (ascending_) {
      std::stable_sort(records.begin(), records.end(), less);
    } else {
      std::stable_sort(records.begin(), records.end(), greater);
    }
    return std::make_unique<VectorStream<Record>>(std::move(records));
  }

 private:
  bool ascending_, shuffled_;
};

}  // namespace tenon::detail
