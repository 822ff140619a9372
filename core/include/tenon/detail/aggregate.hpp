/// @file aggregate.hpp How the values of a key become one, and the operators that do it on both
///   sides of a shuffle. Not for programs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/detail/wide.hpp"

namespace tenon::detail {

/// How the values of a key become one combined value of type C: create makes it of the key's first
/// value, merge_value adds a further one, merge_combiners brings two together that were made apart.
template <class Create, class MergeValue, class MergeCombiners>
struct Aggregator {
  [[no_unique_address]] Create create;                   // C(V)
  [[no_unique_address]] MergeValue merge_value;          // C(C, V)
  [[no_unique_address]] MergeCombiners merge_combiners;  // C(C, C)

  template <class V>
  using Combiner = std::remove_cvref_t<std::invoke_result_t<const Create&, V>>;
};
template <class Create, class MergeValue, class MergeCombiners>
struct FunctionCodec<Aggregator<Create, MergeValue, MergeCombiners>> {
  using A = Aggregator<Create, MergeValue, MergeCombiners>;
  static void write(ByteWriter& out, const A& aggregator) {
    FunctionCodec<Create>::write(out, aggregator.create);
    FunctionCodec<MergeValue>::write(out, aggregator.merge_value);
    FunctionCodec<MergeCombiners>::write(out, aggregator.merge_combiners);
  }
  static A read(ByteReader& in) {
    return {FunctionCodec<Create>::read(in), FunctionCodec<MergeValue>::read(in),
            FunctionCodec<MergeCombiners>::read(in)};  // braces: left to right
  }
};

/// The first value as it is: reduce_by_key.
struct FirstValue {
  template <class V>
  V operator()(V&& value) const {
    return std::forward<V>(value);
  }
};

/// The first value added to zero, which each key has for itself: it is decoded anew, so that not
/// even what a copy of it would share is shared.
template <class U, class Add>
struct AddToZero {
  std::string zero;  // by Codec<U>
  Add add;

  template <class V>
  U operator()(V&& value) const {
    return std::invoke(add, decode<U>(zero), std::forward<V>(value));
  }
};
template <class U, class Add>
struct FunctionCodec<AddToZero<U, Add>> {
  static void write(ByteWriter& out, const AddToZero<U, Add>& add) {
    out.text(add.zero);
    FunctionCodec<Add>::write(out, add.add);
  }
  static AddToZero<U, Add> read(ByteReader& in) {
    std::string zero(in.text());
    return {std::move(zero), FunctionCodec<Add>::read(in)};
  }
};

template <class T, class A>
using combiner_t = typename A::template Combiner<value_t<T>>;

/// Brings a value into the table's one of the key: first() makes it, more(held) adds to it.
template <class K, class C, class Key, class First, class More>
void combine_into(FlatTable<K, C>& table, Key&& key, uint64_t hash, const First& first,
                  const More& more) {
  auto [held, fresh] = table.find_or_insert(std::forward<Key>(key), hash, first);
  if (!fresh) *held = more(std::move(*held));
}

/// Adds a record of T.
template <class T, class A>
void add_record(FlatTable<key_t<T>, combiner_t<T, A>>& table, T& record, uint64_t hash,
                const A& aggregator) {
  using C = combiner_t<T, A>;
  combine_into(
      table, lookup_key<key_t<T>>(record.first), hash,
      [&]() -> C { return std::invoke(aggregator.create, to_owned(std::move(record.second))); },
      [&](C&& held) -> C {
        return std::invoke(aggregator.merge_value, std::move(held),
                           to_owned(std::move(record.second)));
      });
}

/// The map side: one combined value a key leaves the task. Format: a shuffle codec.
template <class T, class A, class Format>
class CombineWriter final : public ShuffleWriteOperator {
 public:
  using K = key_t<T>;
  using C = combiner_t<T, A>;

  explicit CombineWriter(std::string_view bytes) : CombineWriter(ByteReader(bytes)) {}
  static Operator make(const A& aggregator, const rdd::Partitioner& partitioner) {
    std::string bytes;
    ByteWriter out(bytes);
    Spread<K>::write(out, partitioner);
    FunctionCodec<A>::write(out, aggregator);
    return operator_of<CombineWriter>(std::move(bytes));
  }

  void write(StreamBase& stream, ShuffleOutput& output, const TaskContext& task) const override {
    std::vector<FlatTable<K, C>> tables(spread_.partitions());
    auto& input = static_cast<Stream<T>&>(stream);
    for (auto batch = input.next(); !batch.empty(); batch = input.next()) {
      task.throw_if_killed();
      for (T& record : batch) {
        const uint64_t hash = Hash<K>::of(record.first);
        add_record(tables[spread_.of(record.first, hash)], record, hash, aggregator_);
      }
    }
    for (size_t reduce = 0; reduce < tables.size(); ++reduce) {
      write_table(tables[reduce], output, reduce);
      tables[reduce].clear();
    }
  }

 private:
  explicit CombineWriter(ByteReader in)
      : spread_(Spread<K>::read(in)), aggregator_(FunctionCodec<A>::read(in)) {}

  static void write_table(FlatTable<K, C>& table, ShuffleOutput& output, size_t reduce) {
    OutputBuffer buffer;
    for (size_t i = 0; i < table.chunk_count(); ++i) {
      ByteWriter out(buffer.bytes());
      for (const auto& [key, value] : table.chunk(i)) {
        Format::write(out, key);
        Format::write(out, value);
        buffer.count();
      }
      buffer.flush_if_large(output, reduce);
    }
    buffer.flush(output, reduce);
  }

  Spread<K> spread_;
  A aggregator_;
};

/// The reduce side: of combined values out of a shuffle, or of the records themselves where they
/// are partitioned as wanted.
template <class T, class A, class Format>
class CombineReader final : public RddOperator {
 public:
  using K = key_t<T>;
  using C = combiner_t<T, A>;

  explicit CombineReader(std::string_view bytes)
      : shuffled_(read_flag(bytes, 0)), aggregator_(read_function<A>(bytes.substr(1))) {}
  static Operator make(const A& aggregator, bool shuffled) {
    return operator_of<CombineReader>(flags_of({shuffled}) + encode_function(aggregator));
  }

  StreamPtr open(PartitionContext& context, int32_t partition) const override {
    return std::make_unique<TableStream<K, C>>(shuffled_ ? merge(context, partition)
                                                         : combine(context, partition));
  }

 private:
  FlatTable<K, C> merge(PartitionContext& context, int32_t partition) const {
    FlatTable<K, C> table;
    const auto input = context.shuffle(0, partition);
    while (const auto block = input->next()) {
      context.task().throw_if_killed();
      for (ByteReader in(block->bytes); !in.at_end();) {
        auto key = read_key<K, Format>(in);
        const uint64_t hash = Hash<K>::of(key);
        combine_into(
            table, std::move(key), hash, [&]() -> C { return Format::template read<C>(in); },
            [&](C&& held) -> C {
              return std::invoke(aggregator_.merge_combiners, std::move(held),
                                 Format::template read<C>(in));
            });
      }
    }
    return table;
  }
  FlatTable<K, C> combine(PartitionContext& context, int32_t partition) const {
    FlatTable<K, C> table;
    const StreamPtr input = context.parent(0, partition);
    for (auto batch = typed<T>(input).next(); !batch.empty(); batch = typed<T>(input).next()) {
      context.task().throw_if_killed();
      for (T& record : batch) add_record(table, record, Hash<K>::of(record.first), aggregator_);
    }
    return table;
  }

  bool shuffled_;
  A aggregator_;
};

}  // namespace tenon::detail
