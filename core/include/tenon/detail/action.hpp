/// @file action.hpp The end of a pipeline: a function over the records of a partition, whose value
///   goes to the driver. Not for programs.
#pragma once

#include <charconv>
#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/detail/driver.hpp"
#include "tenon/detail/narrow.hpp"
#include "tenon/detail/random.hpp"

namespace tenon::detail {

template <class R>
using action_result_t =
    std::conditional_t<std::is_void_v<R>, std::monostate, owned_t<std::remove_cvref_t<R>>>;

/// In a handler: throws a FatalError about what cannot be encoded, around the exception that is
/// being handled; rethrows that one when it is a want of memory.
[[noreturn]] TENON_API void throw_not_encodable(const char* what);

/// The bytes of a task's result. Another attempt cannot help when its Codec throws (contract C9.5).
template <class Result>
std::string encode_result(const Result& result) {
  try {
    return encode<Result>(result);
  } catch (...) {
    throw_not_encodable("the result of the task");
  }
}

/// Applies F to Records<T>& and encodes what it returns.
template <class F, class T>
class PartitionAction final : public ActionOperator {
 public:
  using Raw = std::invoke_result_t<const F&, Records<T>&>;
  using Result = action_result_t<Raw>;
  explicit PartitionAction(std::string_view bytes) : f_(read_function<F>(bytes)) {}
  std::string run(StreamBase& input, const TaskContext&) const override {
    Records<T> records(static_cast<Stream<T>&>(input));
    if constexpr (std::is_void_v<Raw>) {
      std::invoke(f_, records);
      return {};
    } else {
      return encode_result<Result>(to_owned(std::invoke(f_, records)));
    }
  }

 private:
  F f_;
};

template <class T>
struct CollectAll {
  std::vector<owned_t<T>> operator()(Records<T>& records) const {
    std::vector<owned_t<T>> all;
    for (T& record : records) all.push_back(to_owned(std::move(record)));
    return all;
  }
};

template <class T>
struct TakeFirst {
  std::vector<owned_t<T>> operator()(Records<T>& records, uint64_t n) const {
    std::vector<owned_t<T>> taken;
    if (n == 0) return taken;
    for (T& record : records) {
      taken.push_back(to_owned(std::move(record)));
      if (taken.size() == n) break;
    }
    return taken;
  }
};

template <class T>
struct CountAll {
  uint64_t operator()(Records<T>& records) const {
    uint64_t n = 0;
    for ([[maybe_unused]] T& record : records) ++n;
    return n;
  }
};

/// One value of a partition's records; nothing for an empty one.
template <class T, class F>
struct ReduceAll {
  using Inner = F;
  F f;
  std::optional<owned_t<T>> operator()(Records<T>& records) const {
    std::optional<owned_t<T>> total;
    for (T& record : records) {
      if (total) {
        total = std::invoke(f, std::move(*total), to_owned(std::move(record)));
      } else {
        total = to_owned(std::move(record));
      }
    }
    return total;
  }
};
/// zero, with f over the records.
template <class T, class U, class F>
struct AggregateAll {
  F f;
  U zero;
  U operator()(Records<T>& records) const {
    U total = zero;
    for (T& record : records) total = std::invoke(f, std::move(total), std::move(record));
    return total;
  }
};
template <class T, class U, class F>
struct FunctionCodec<AggregateAll<T, U, F>> {
  static void write(ByteWriter& out, const AggregateAll<T, U, F>& aggregate) {
    FunctionCodec<F>::write(out, aggregate.f);
    Codec<U>::write(out, aggregate.zero);
  }
  static AggregateAll<T, U, F> read(ByteReader& in) {
    F f = FunctionCodec<F>::read(in);
    return {std::move(f), Codec<U>::read(in)};
  }
};

/// f on an owned copy of the record: the type of fold's function is that of the result.
template <class F>
struct OnOwned {
  using Inner = F;
  F f;
  template <class U, class T>
  auto operator()(U&& total, T&& record) const {
    return std::invoke(f, std::forward<U>(total), to_owned(std::forward<T>(record)));
  }
};
template <class T, class F>
struct VisitAll {
  using Inner = F;
  F f;
  void operator()(Records<T>& records) const {
    for (T& record : records) std::invoke(f, record);
  }
};
/// f on the value of a pair; the key stays.
template <class F>
struct OnValue {
  using Inner = F;
  F f;
  template <class K, class V>
  auto operator()(std::pair<K, V>&& record) const {
    using U = std::remove_cvref_t<std::invoke_result_t<const F&, V>>;
    return std::pair<K, U>(std::move(record.first), std::invoke(f, std::move(record.second)));
  }
};
/// A key with each element of a range.
template <class K, class Range>
struct KeyWithEach {
  K key;
  Range range;

  using At = decltype(std::begin(std::declval<Range&>()));
  using End = decltype(std::end(std::declval<Range&>()));
  struct iterator {
    const K* key;
    At at;
    auto operator*() const { return std::pair<K, range_element_t<Range>>(*key, *at); }
    iterator& operator++() {
      ++at;
      return *this;
    }
    friend bool operator==(const iterator& it, const End& end) { return it.at == end; }
  };
  iterator begin() { return {&key, std::begin(range)}; }
  End end() { return std::end(range); }
};

/// The elements of the range that f makes of a pair's value, each with the key.
template <class F>
struct OnValues {
  using Inner = F;
  F f;
  template <class K, class V>
  auto operator()(std::pair<K, V>&& record) const {
    using Range = std::remove_cvref_t<std::invoke_result_t<const F&, V>>;
    return KeyWithEach<K, Range>{std::move(record.first), std::invoke(f, std::move(record.second))};
  }
};
struct First {
  template <class K, class V>
  K operator()(std::pair<K, V>&& record) const {
    return std::move(record.first);
  }
};
struct Second {
  template <class K, class V>
  V operator()(std::pair<K, V>&& record) const {
    return std::move(record.second);
  }
};

template <class T>
std::vector<T> concatenate(std::vector<std::vector<T>> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  size_t n = 0;
  for (const auto& part : parts) n += part.size();
  std::vector<T> all;
  all.reserve(n);
  for (auto& part : parts) {
    if constexpr (std::is_same_v<T, bool>) {
      all.insert(all.end(), part.begin(), part.end());
    } else {
      all.insert(all.end(), std::make_move_iterator(part.begin()),
                 std::make_move_iterator(part.end()));
    }
    part = {};
  }
  return all;
}

/// The values of a job that runs while the caller goes on, by position.
template <class Result>
std::function<void(int32_t, std::string_view)> store_into(
    const std::shared_ptr<std::vector<Result>>& values) {
  return [values](int32_t position, std::string_view value) {
    (*values)[static_cast<size_t>(position)] = decode<Result>(value);
  };
}

// ------------------------------------------------------------------------------- text

/// A record as a line of save_as_text_file has it: text as it is, numbers in decimal, pairs and
/// tuples as "(a,b)".
template <class T>
struct IsText : std::bool_constant<std::convertible_to<const T&, std::string_view> ||
                                   std::is_arithmetic_v<T>> {};
template <class A, class B>
struct IsText<std::pair<A, B>> : std::bool_constant<IsText<A>::value && IsText<B>::value> {};
template <class A, class... Rest>
struct IsText<std::tuple<A, Rest...>>
    : std::bool_constant<IsText<A>::value && (IsText<Rest>::value && ...)> {};
template <class T>
concept TextLike = IsText<T>::value;

template <class T>
void append_text(std::string& out, const T& value) {
  if constexpr (std::convertible_to<const T&, std::string_view>) {
    out.append(std::string_view(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    out.append(value ? "true" : "false");
  } else if constexpr (std::is_same_v<T, char>) {
    out.push_back(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, value);
    out.append(digits, end.ptr);
  } else {
    out.push_back('(');
    std::apply(
        [&](const auto& first, const auto&... rest) {
          append_text(out, first);
          ((out.push_back(','), append_text(out, rest)), ...);
        },
        value);
    out.push_back(')');
  }
}

template <class T>
struct SaveText {
  void operator()(Records<T>& records, const std::string& directory) const {
    TextPart part(directory, TaskContext::current()->partition());
    for (T& record : records) {
      append_text(part.buffer(), record);
      part.end_line();
    }
    part.commit();
  }
};

// ------------------------------------------------------------------------------- sampling

/// Up to n records of a partition, each as likely as another (Vitter's algorithm R), and how many
/// there were.
template <class K>
struct Sample {
  uint64_t count = 0;
  std::vector<K> keys;
  TENON_FIELDS(count, keys)
};
template <class T>
struct SampleKeys {
  using K = owned_t<typename T::first_type>;
  Sample<K> operator()(Records<T>& records, uint64_t n) const {
    Sample<K> sample;
    Random random(static_cast<uint64_t>(TaskContext::current()->partition()) + 1);
    for (T& record : records) {
      ++sample.count;
      if (sample.keys.size() < n) {
        sample.keys.push_back(to_owned(std::move(record.first)));
        continue;
      }
      const uint64_t at = random() % sample.count;
      if (at < n) sample.keys[at] = to_owned(std::move(record.first));
    }
    return sample;
  }
};

/// Bounds that cut the sampled keys into ranges of about equal weight (Spark's
/// RangePartitioner.determineBounds): the last key of each range but the last one, in the order
/// asked for.
template <class K, class Less>
std::vector<K> range_bounds(std::vector<Sample<K>> samples, int32_t partitions, Less less) {
  std::vector<std::pair<K, double>> weighted;
  double total = 0;
  for (auto& sample : samples) {
    if (sample.keys.empty()) continue;
    const double weight =
        static_cast<double>(sample.count) / static_cast<double>(sample.keys.size());
    total += static_cast<double>(sample.count);
    for (K& key : sample.keys) weighted.emplace_back(std::move(key), weight);
  }
  std::stable_sort(weighted.begin(), weighted.end(),
                   [&](const auto& a, const auto& b) { return less(a.first, b.first); });
  const double step = total / partitions;
  std::vector<K> bounds;
  double sum = 0, target = step;
  for (auto& [key, weight] : weighted) {
    if (static_cast<int32_t>(bounds.size()) + 1 >= partitions) break;
    sum += weight;
    if (sum < target || (!bounds.empty() && !less(bounds.back(), key))) continue;
    bounds.push_back(std::move(key));
    target += step;
  }
  return bounds;
}

}  // namespace tenon::detail
