/// @file kept.hpp
/// Partitions kept in memory, and what their records weigh. Not for programs.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/codec.hpp"
#include "tenon/detail/batch.hpp"
#include "tenon/detail/encoded_records.hpp"
#include "tenon/detail/fields.hpp"
#include "tenon/detail/owned.hpp"
#include "tenon/detail/registry.hpp"
#include "tenon/detail/runtime.hpp"

namespace tenon::detail {

template <class T>
struct IsVariant : std::false_type {};
template <class... Ts>
struct IsVariant<std::variant<Ts...>> : std::true_type {};

/// Bytes that a value points to, beyond sizeof. Exact for strings and vectors, a good guess for
/// nodes of maps and sets.
template <class T>
uint64_t heap_bytes(const T& value) {
  if constexpr (is_plain_v<T> || std::is_same_v<T, bool>) {
    return 0;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.capacity() > std::string().capacity() ? value.capacity() + 1 : 0;
  } else if constexpr (requires { value.heap_bytes(); }) {
    return value.heap_bytes();
  } else if constexpr (HasFields<T>) {
    return std::apply([](const auto&... field) { return (uint64_t{0} + ... + heap_bytes(field)); },
                      value.tenon_fields());
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return std::apply([](const auto&... part) { return (uint64_t{0} + ... + heap_bytes(part)); },
                      value);
  } else if constexpr (IsVariant<T>::value) {
    return std::visit([](const auto& held) { return heap_bytes(held); }, value);
  } else if constexpr (requires {
                         value.has_value();
                         *value;
                       }) {
    return value ? heap_bytes(*value) : 0;
  } else if constexpr (requires {
                         typename T::element_type;
                         typename T::deleter_type;
                         *value;
                       }) {
    return value ? sizeof(*value) + heap_bytes(*value) : 0;
  } else if constexpr (requires {
                         value.capacity();
                         value.begin();
                         typename T::value_type;
                       }) {
    uint64_t bytes = value.capacity() * sizeof(typename T::value_type);
    if constexpr (!is_plain_v<typename T::value_type> &&
                  !std::is_same_v<typename T::value_type, bool>) {
      for (const auto& element : value) bytes += heap_bytes(element);
    }
    return bytes;
  } else if constexpr (requires {
                         value.size();
                         value.begin();
                         typename T::value_type;
                       }) {
    uint64_t bytes = value.size() * (sizeof(typename T::value_type) + 4 * sizeof(void*));
    for (const auto& element : value) bytes += heap_bytes(element);
    return bytes;
  } else {
    return 0;
  }
}

template <class T>
class KeptRecords final : public CachedPartition {
 public:
  explicit KeptRecords(std::vector<owned_t<T>> records)
      : records_(std::move(records)),
        bytes_(sizeof *this + records_.capacity() * sizeof(owned_t<T>)) {
    for (const auto& record : records_) bytes_ += heap_bytes<owned_t<T>>(record);
  }
  [[nodiscard]] uint64_t bytes() const override { return bytes_; }
  void encode(const ByteSink& sink) const override {
    FrameWriter<owned_t<T>> out(sink);
    for (const auto& record : records_) out.add(record);
    out.finish();
  }
  [[nodiscard]] const std::vector<owned_t<T>>& records() const { return records_; }

 private:
  std::vector<owned_t<T>> records_;
  uint64_t bytes_;
};

template <class T>
class KeptStream final : public Stream<T> {
 public:
  explicit KeptStream(std::shared_ptr<const KeptRecords<T>> kept) : kept_(std::move(kept)) {}
  std::span<T> next() override {
    batch_.clear();
    const auto& records = kept_->records();
    while (at_ < records.size() && !batch_.full()) batch_.emplace(view_of<T>(records[at_++]));
    return batch_.span();
  }

 private:
  std::shared_ptr<const KeptRecords<T>> kept_;
  size_t at_ = 0;
  Batch<T> batch_;
};

/// What is kept is read by copy.
template <class T>
constexpr bool can_be_kept_v = std::is_copy_constructible_v<owned_t<T>>;

/// Keeps partitions of an Rdd<T>.
template <class T>
class Keeper final : public KeepOperator {
 public:
  explicit Keeper(std::string_view) {}
  CachedPtr keep(StreamBase& stream, const TaskContext& task) const override {
    std::vector<owned_t<T>> records;
    auto& input = static_cast<Stream<T>&>(stream);
    for (auto batch = input.next(); !batch.empty(); batch = input.next()) {
      task.throw_if_killed();
      for (T& record : batch) records.push_back(to_owned(std::move(record)));
    }
    records.shrink_to_fit();
    return std::make_shared<const KeptRecords<T>>(std::move(records));
  }
  void encode(StreamBase& stream, const TaskContext& task, const ByteSink& sink) const override {
    encode_stream<T>(static_cast<Stream<T>&>(stream), task, sink);
  }
  StreamPtr reopen(CachedPtr kept) const override {
    if (auto encoded = std::dynamic_pointer_cast<const EncodedPartition>(kept)) {
      return std::make_unique<EncodedStream<T>>(std::move(encoded));
    }
    return std::make_unique<KeptStream<T>>(std::static_pointer_cast<const KeptRecords<T>>(kept));
  }
};

/// The keeper of an Rdd<T>; the id 0, for no class, where T cannot be kept.
template <class T>
Operator keeper_of() {
  if constexpr (can_be_kept_v<T> && Encodable<owned_t<T>>) {
    return operator_of<Keeper<T>>();
  } else {
    return {};
  }
}

}  // namespace tenon::detail
